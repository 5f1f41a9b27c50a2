// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "hpl/codegen/detail/writer.h"
#include "hpl/codegen/emit.h"

namespace hpl::codegen::detail {

/// Throws KernelError for types and DeviceError for atomics that the device does not support.
void checkDevice(const ir::Kernel& kernel, const Usage& usage, const EmitOptions& options);

/// The text before the functions: pragmas, structs and the helpers that the kernel uses.
std::string preamble(const Session& session);

}  // namespace hpl::codegen::detail
