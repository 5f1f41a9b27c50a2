// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <mutex>

#include "hpl/memory/view.h"

namespace hpl::memory::detail {

enum class HostUse : std::uint8_t { Read, Write, Overwrite };

/// Makes the view's cells current on the host and sets its hostState; blocks until nothing that is
/// in flight conflicts with the use.
void openOnHost(View& view, HostUse use);

/// View::openAround() where there are ranks; `cell` in the coordinates of the root.
void openBlockOnHost(View& view, const geometry::Point& cell);

struct RootState;

/// Whether the root has anything that belongs to a driver.
bool isKnownToDevices(const RootState& state) noexcept;
/// Throws DeviceError in a process that was forked after a device had used the root: where its
/// cells are, and whether commands still use those of the host, only the other process can find
/// out.
void requireReachable(Root& root);

/// The end of a root: user memory becomes current, what still touches the host's storage finishes,
/// the replicas go. They go also when it throws (a device failed; values may be lost).
void retire(RootState& state);

/// The root's last operation: makes user memory current and waits for what uses the host's storage.
void bringHome(std::unique_lock<std::mutex>& lock, RootState& state);
/// The same with a second attempt, for arrays that end: a failure could not be reported.
void bringHomeForGood(std::unique_lock<std::mutex>& lock, RootState& state);
/// Gives the devices' memory back, whatever is in it.
void dropReplicas(RootState& state) noexcept;

}  // namespace hpl::memory::detail
