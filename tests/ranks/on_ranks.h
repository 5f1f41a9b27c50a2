// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "hpl/ranks/courier.h"
#include "tests/ranks/threads_as_ranks.h"

namespace hpl_tests {

/// How a forked rank ended.
struct RankReport {
  /// The text that its body returned.
  std::string said;
  /// The message of the exception that ended its body; empty: none.
  std::string thrown;
  /// From when all ranks were there until its body ended, in milliseconds.
  double milliseconds = 0;
  /// As waitpid() says it.
  int status = 0;
};

/// Forks `ranks` processes, runs `body` in each, as a rank with a courier, and returns how they
/// ended. The texts of `body` are returned: doctest's counters stay in the processes. `wrap` plants
/// faults. The process of the test must not have used a device.
std::vector<RankReport> onRanks(int ranks,
                                const std::function<std::string(hpl::ranks::Courier&)>& body,
                                const WrapFabric& wrap = {});

/// The same, each with a World: hpl::ranks::world() is there, and devices may be used.
std::vector<RankReport> inWorlds(int ranks, const std::function<std::string()>& body,
                                 const WrapFabric& wrap = {});

}  // namespace hpl_tests
