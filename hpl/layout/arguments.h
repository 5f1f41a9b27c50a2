// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "hpl/layout/argument.h"
#include "hpl/layout/kernel_version.h"

/// Whether the arguments of a launch are what its kernel takes.
namespace hpl::layout {

/// Throws ArgumentError unless the arguments fit the kernel's parameters.
void checkArguments(const KernelVersion& version, Arguments arguments);
/// Throws ArgumentError unless `count` is what the kernel takes.
void checkCount(const std::string& kernelName, std::size_t parameters, std::size_t count);
/// Writes the scalar `argument` as a value of type `to` to `out`. Throws ArgumentError.
void convertScalar(const Argument& argument, const ir::Type& to, std::byte* out,
                   const std::string& kernelName, std::size_t position);

/// Throws LaunchError unless groups of `local` work-items (along the kernel's axes) are what the
/// kernel's statements expect.
void checkGroupDemands(const KernelVersion& version, const std::size_t* local, Arguments arguments);

}  // namespace hpl::layout
