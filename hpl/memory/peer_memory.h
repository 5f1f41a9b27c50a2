// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>

/// Host memory in which kernels on several devices work at the same time, and order themselves.
namespace hpl::memory {

/// Whether this process shares such memory with the other ranks of its node; true where there are
/// no ranks.
bool sharesPeerMemory() noexcept;

/// Returns `bytes` zeros, aligned for devices. The ranks of a node that share memory all get the
/// same ones, others get some of their own: an operation of all ranks. The memory is free again
/// when the last owner in each process has gone. Throws AllocationError, on all ranks alike, and
/// what every operation of several ranks throws. `owner` names the array in messages.
std::shared_ptr<std::byte> peerMemory(std::size_t bytes, const std::string& owner);
/// The same for the devices of this rank alone, whatever other ranks do.
std::shared_ptr<std::byte> ownPeerMemory(std::size_t bytes, const std::string& owner);

}  // namespace hpl::memory
