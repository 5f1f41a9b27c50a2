// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "hpl/launch/detail/kernel_entry.h"
#include "hpl/launch/options.h"
#include "hpl/layout/argument.h"

/// Kernels of which a launch knows more than their text says, from the values of its scalars. The
/// values are looked at for each launch, which allocates nothing. Where devices have domains of
/// their own, nothing is known.
namespace hpl::launch {

/// The kernel for the sizes that scalars of the launch are (KernelEntry::forSizes), and, on several
/// devices, for the levels that they choose (KernelEntry::forLevels): `entry` itself where none
/// does, or the kernel asks for none.
KernelEntry& entryForScalars(KernelEntry& entry, const LaunchOptions& options, Arguments arguments);

/// The rows and columns over which a launch of one dimension may run instead, of the kernel
/// `entry.unfolded()`; nothing: it runs as it is.
std::optional<Domain> rowsAndColumns(const KernelEntry& entry, const LaunchOptions& options,
                                     Arguments arguments);

/// Makes of a launch whose kernel may have to be captured first what these two make of it.
void specialise(KernelEntry*& entry, LaunchOptions& options, Arguments arguments);

}  // namespace hpl::launch
