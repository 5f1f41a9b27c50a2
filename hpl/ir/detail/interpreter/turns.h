// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace hpl::ir::detail {

/// Runs the groups of a kernel that wait for each other: each on a thread of its own, one at a
/// time, in turns. The order is the same in every run.
class Turns {
 public:
  explicit Turns(std::size_t groups) : isLive_(groups, true) {}

  /// Calls run(g) for each group g. A group that throws ends all; its exception is thrown.
  void run(const std::function<void(std::size_t)>& run);
  /// Lets the other groups run until it is this group's turn again.
  void pass();

 private:
  /// Throws what another group has thrown, so that all end.
  void wait(std::unique_lock<std::mutex>& lock, std::size_t group);
  void next();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> isLive_;
  std::size_t now_ = 0;
  std::exception_ptr error_;
};

/// The knowledge of one group about the others that run in turns with it: a release hands it on,
/// and the acquire that reads the released value takes it over (vector clocks).
class Knowledge {
 public:
  explicit Knowledge(std::size_t groups) : clocks_(groups, std::vector<std::uint64_t>(groups)) {
    for (std::size_t g = 0; g < groups; ++g) clocks_[g][g] = 1;
  }

  std::uint64_t now(std::uint64_t group) const { return clocks_[group][group]; }
  /// Whether the group knows what another one did at that time.
  bool knows(std::uint64_t group, std::uint64_t other, std::uint64_t time) const {
    return clocks_[group][other] >= time;
  }
  /// A store to the cell: a release, or one that hands on nothing.
  void store(const std::byte* cell, std::uint64_t group, bool releases);
  void acquire(const std::byte* cell, std::uint64_t group);

 private:
  std::vector<std::vector<std::uint64_t>> clocks_;
  std::unordered_map<const std::byte*, std::vector<std::uint64_t>> released_;
};

}  // namespace hpl::ir::detail
