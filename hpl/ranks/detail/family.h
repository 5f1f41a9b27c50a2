// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hpl/ranks/detail/arena.h"

namespace hpl::ranks {

/// The end of a pipe whose other end only one process holds: it hangs up when that process dies.
class Lifeline {
 public:
  Lifeline() = default;
  explicit Lifeline(int end) noexcept : pipe_(end) {}
  Lifeline(Lifeline&& other) noexcept : pipe_(std::exchange(other.pipe_, -1)) {}
  Lifeline& operator=(Lifeline&& other) noexcept {
    std::swap(pipe_, other.pipe_);
    return *this;
  }
  ~Lifeline();
  int end() const noexcept { return pipe_; }

 private:
  int pipe_ = -1;
};

/// A forked rank's place among the others.
struct Seat {
  std::shared_ptr<Arena> arena;
  int rank = 0;
  /// Shows for each rank whether it lives.
  std::vector<Lifeline> lifelines;
  /// The end that shows the others that this one lives.
  Lifeline own;
};

/// The processes that a launcher forked.
struct Family {
  std::shared_ptr<Arena> arena;
  std::vector<pid_t> ranks;
};

/// A process alone, as a rank: nothing is forked.
Seat seatOfOne();

/// Forks `ranks` processes, which the launcher's death ends. Returns true in them, with their seat;
/// false in the launcher, with its family. Only rank 0 keeps the standard input. Throws RankError
/// if the system refuses.
bool forkRanks(int ranks, Seat& seat, Family& family);

/// Waits until all ranks have ended, passes signals that ask for the program's end on to them, and
/// returns what waitpid() said about each.
std::vector<int> watch(const Family& family);

/// "ended with exit code 3 and without leaving the session", "was killed by signal 9 (Killed)".
std::string describeStatus(int status);

/// The same of a rank that a signal killed; empty for others.
std::string describeDeath(int status);

/// The exit code of a program whose ranks ended so: rank 0's, or that of the first rank that
/// failed.
int exitCodeOf(const std::vector<int>& statuses);

}  // namespace hpl::ranks
