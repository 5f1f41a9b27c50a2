// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "hpl/memory/detail/coherence.h"

/// The cells that this process has written, or may still write, into the host's storage, and that
/// one of its devices owns and has to get.
namespace hpl::memory::detail {

/// Guarded by the coherence lock.
void noteLocalWrite(RootState& state, SpaceId space, const Box& cells);

/// Whether there are any.
inline constinit std::atomic<bool> hasLocalWrites{false};

/// Gives all of them, or those of one array, to their devices. Throws AllocationError and
/// DeviceError.
void sendLocalWrites();
void sendLocalWrites(Lock& lock, RootState& state);
/// The array ends; these writes will never be seen.
void forgetLocalWrites(const RootState& state) noexcept;

/// Throws LaunchError where the program is inside of LocalWork.
void refuseInLocalWork(const char* what);

}  // namespace hpl::memory::detail
