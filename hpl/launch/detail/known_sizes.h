// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/launch/detail/kernel_entry.h"
#include "hpl/launch/options.h"
#include "hpl/layout/argument.h"

namespace hpl::launch {

/// The kernel for the sizes that scalars of the launch are (KernelEntry::forSizes): `entry` itself
/// where none is one, where the kernel asks for none, and where devices have domains of their own.
/// Allocates nothing for launches of the last kinds.
KernelEntry& entryForSizes(KernelEntry& entry, const LaunchOptions& options, Arguments arguments);

/// The same for a kernel that may have to be captured first.
KernelEntry& entryCapturedFor(KernelEntry& entry, const LaunchOptions& options,
                              Arguments arguments);

}  // namespace hpl::launch
