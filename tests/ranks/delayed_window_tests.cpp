// SPDX-License-Identifier: Apache-2.0
// Memory that ranks share, where words come late and overtake each other, and ranks die meanwhile.
#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <string>

#include "hpl/ranks/world.h"
#include "program_on_ranks.h"
#include "tests/messages.h"
#include "tests/ranks/delaying_window.h"
#include "tests/ranks/soon.h"

namespace delayed_window_tests {

using namespace hpl;
using namespace ranks_tests;
using hpl_tests::contains;

namespace {

/// A rank that hangs ends so, and its status says it.
constexpr unsigned kHangs = 120;

hpl_tests::WrapFabric late(std::uint64_t seed, std::chrono::microseconds longest, int killed = -1,
                           int at = -1) {
  return [=](std::unique_ptr<ranks::Fabric> inner) {
    const int mishapAt = inner->rank() == killed ? at : -1;
    return std::make_unique<hpl_tests::DelayingWindow>(std::move(inner), seed, longest, mishapAt,
                                                       [] { raise(SIGKILL); });
  };
}

/// Exchanges, assignments between parts, and host access. Rows of `columns` cells: those of the
/// widest go as messages, the others through the window.
std::string mixedSteps(std::size_t columns, int steps) {
  alarm(kHangs);
  Grid a(31, columns), b(31, columns);
  setCells(a, 3);
  setCells(b, 4);
  std::string said;
  for (int step = 0; step < steps; ++step) {
    eval(fivePoint).devices(getDeviceNumber())(PART1(b, 2), PART1(a, 2));
    b.syncGhosts();
    if (step % 3 == 0) a(Range(4, 20), Range(0, 15)) = b(Range(12, 28), Range(3, 18));
    if (step % 4 == 0) said += std::to_string(b((step * 7) % 31, 11).value()) + " ";
    if (step % 5 == 0) b(step % 31, 2) = step;
    swap(a, b);
  }
  return said + cellsOf(a) + std::to_string(b.reduce(std::bit_xor<>()));
}

}  // namespace

TEST_CASE("cells in the window that are late, and overtake others, change nothing") {
  for (const auto& [columns, steps] : {std::pair<std::size_t, int>(24, 40), {2000, 20}}) {
    CAPTURE(columns);
    const auto run = [columns = columns, steps = steps] { return mixedSteps(columns, steps); };
    const std::string expected = saidOn(1, 1, run);
    for (const std::uint64_t seed : {1U, 2U}) {
      CAPTURE(seed);
      CHECK(saidOn(3, 1, run, late(seed, std::chrono::microseconds(1500))) == expected);
      CHECK(saidOn(2, 2, run, late(seed, std::chrono::microseconds(1500))) == expected);
    }
  }
}

TEST_CASE("a rank that is killed between two words of the window is named to all others") {
  for (int at = 5; at < 120; at += 23) {
    CAPTURE(at);
    const auto reports = hpl_tests::inWorlds(
        3,
        [] {
          listDevices({3, 1, ranks::world()->rank()});
          std::string said;
          for (int round = 0; round < 100; ++round) said = mixedSteps(24, 20);
          return said;
        },
        late(5, std::chrono::microseconds(200), 1, at));
    for (const std::size_t rank : {0U, 2U}) {
      INFO(reports[rank].thrown << " after " << reports[rank].milliseconds << " ms");
      CHECK(contains(reports[rank].thrown, "Rank 1 has failed"));
      CHECK(contains(reports[rank].thrown, "its process was killed by signal 9 (Killed)"));
      CHECK(reports[rank].milliseconds < hpl_tests::soon());
      CHECK(reports[rank].status == 0);
    }
  }
}

}  // namespace delayed_window_tests
