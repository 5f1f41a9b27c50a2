// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hpl/memory/view.h"

namespace hpl::runtime {
class DeviceState;
}

/// Values that each rank makes of cells that its own devices have, brought to all ranks.
namespace hpl::memory {

/// Whether other ranks take part in operations on the array.
bool isOnSeveralRanks(const Root& root) noexcept;

/// All cells of an array, which a device of any rank has computed.
struct ComputedCells {
  Root* root = nullptr;
  runtime::DeviceState* device = nullptr;
};

/// One allgather under way. It waits neither for devices nor for other ranks before wait(): as soon
/// as the cells have been computed and read, a thread of the driver makes the rank's bytes of them,
/// and the courier does the rest. An operation of all ranks; arrays of this rank alone take no
/// part.
class Gathering {
 public:
  /// Cells in the host's memory, dense.
  struct Block {
    const std::byte* cells = nullptr;
    std::size_t count = 0;
  };
  /// Makes a rank's bytes of its cells. Runs on a driver's thread: it must be short and must not
  /// throw.
  using Digest = std::function<std::vector<std::byte>(std::span<const Block> blocks)>;

  /// For arrays that lie on one device each: a block for each that is of this rank's, in their
  /// order. `what`: "sum of array "u"", for messages. Throws DeviceError, AllocationError and what
  /// every operation of several ranks throws.
  Gathering(const std::string& what, std::span<const ComputedCells> arrays, Digest digest);
  /// For an array that lies on devices of any ranks: blocks with the cells that those of this rank
  /// have current, each of them once.
  Gathering(const std::string& what, Root& array, Digest digest);
  /// Waits until the cells of this rank have been read.
  ~Gathering();
  Gathering(const Gathering&) = delete;
  Gathering& operator=(const Gathering&) = delete;

  /// The bytes of each rank, in the order of the ranks, the same everywhere; waits. Throws
  /// RankError, RankDivergenceError, and DeviceError when a device of this rank failed.
  const std::vector<std::vector<std::byte>>& wait();

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace hpl::memory
