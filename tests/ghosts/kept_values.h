// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <utility>

#include "hpl/memory/root.h"
#include "hpl/runtime/device_state.h"

namespace ghosts_tests {

/// The values of the cells that a device keeps for its part alone, in its buffer or on its shelf,
/// by position (y, x); vectors have y = 0. Waits for the device. For arrays of ints.
std::map<std::pair<int, int>, int> keptValuesOn(hpl::memory::Root& root,
                                                hpl::runtime::DeviceState& device);

}  // namespace ghosts_tests
