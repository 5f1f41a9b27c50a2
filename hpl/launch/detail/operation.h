// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hpl/launch/detail/launchable.h"
#include "hpl/memory/operations.h"

/// Launches as operations of several ranks: what tells them apart, the same in every process.
namespace hpl::launch {

/// The ranks that take part in the launch. Throws LaunchError where some of its arrays are this
/// rank's alone and others belong to all ranks.
memory::detail::Party partyOf(KernelEntry& entry, Arguments arguments);

/// Names a launch.
void nameLaunch(memory::detail::OperationName& name, KernelEntry& entry,
                const LaunchOptions& options, Arguments arguments);
/// The same for a launch that is repeated with the arguments of before.
void nameRepetition(memory::detail::OperationName& name, const Launchable& plan);

/// Identifies a kernel by its code, the same in every process.
std::uint64_t contentOf(const KernelVersion& version);

/// Identifies a launch, except for the arrays that it uses: launches of one signature succeed or
/// fail alike.
std::uint64_t signatureOf(const LaunchOptions& options, Arguments arguments);

}  // namespace hpl::launch
