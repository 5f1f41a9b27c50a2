// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>

/// Processes that are forked from one that has looked for devices. No driver survives fork(): its
/// threads are not there in the child, and its locks may be held. There the runtime is shut down
/// from the beginning, and every way to a device throws DeviceError before it takes a lock of ours.
namespace hpl::runtime {

/// Set in the process that is forked.
inline std::atomic<bool> isForkedProcess{false};

/// Whether this process was forked from one that had looked for devices.
inline bool isForked() noexcept { return isForkedProcess.load(std::memory_order_relaxed); }

/// Throws the DeviceError of such a process. `subject`: what is out of reach, e.g. `array "height"
/// was in use on a device`; may be empty.
[[noreturn]] void throwForked(const std::string& subject = {});

/// Throws DeviceError in such a process; costs a load elsewhere.
inline void requireOwnProcess() {
  if (isForked()) [[unlikely]]
    throwForked();
}

}  // namespace hpl::runtime
