// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "hpl/runtime/cl.h"

namespace hpl::runtime {

/// Domain, bus, device and function as "0000:3b:00.0", from whichever of the vendors' extensions
/// the driver knows; empty: from none. A part of a device has the device's address.
std::string pciAddressOf(const cl::Device& device);

/// The same of numbers.
std::string pciAddress(unsigned domain, unsigned bus, unsigned device, unsigned function);

}  // namespace hpl::runtime
