// SPDX-License-Identifier: Apache-2.0
// Programs that repeat themselves on several ranks: recordings, messages under way, slow fabrics.
#include <doctest/doctest.h>

#include "hpl/coherence/planner.h"
#include "hpl/memory/detail/coherence.h"
#include "program_on_ranks.h"
#include "tests/ranks/delaying_fabric.h"

namespace repetition_tests {

using namespace hpl;
using namespace ranks_tests;

namespace {

std::string manySteps() {
  Grid a(31, 17), b(31, 17);
  setCells(a, 1);
  setCells(b, 2);
  for (int step = 0; step < 300; ++step) {
    eval(fivePoint).devices(getDeviceNumber())(PART1(b, 1, AUTO_SYNC), PART1(a, 1, AUTO_SYNC));
    swap(a, b);
  }
  return cellsOf(a) + cellsOf(b);
}

std::string mixedSteps() {
  Numbers a(600), b(600);
  setCells(a, 3);
  setCells(b, 4);
  std::string said;
  for (int step = 0; step < 30; ++step) {
    eval(threePoint).devices(getDeviceNumber())(PART1(b, 1), PART1(a, 1));
    b.syncGhosts();
    a(Range(100, 400)) = b(Range(150, 450));
    if (step % 7 == 0) said += std::to_string(b(step * 19).value()) + " ";
    if (step % 5 == 0) b(step) = step;
    swap(a, b);
  }
  return said + cellsOf(a) + cellsOf(b);
}

}  // namespace

TEST_CASE("ranks run ahead of their messages, and arrive at the same cells") {
  const std::string expected = saidOn(1, 1, manySteps);
  for (const int ranks : {2, 4}) CHECK(saidOn(ranks, 1, manySteps) == expected);
}

TEST_CASE("messages that are late, and overtake those of other ranks, change nothing") {
  const std::string expected = saidOn(1, 1, mixedSteps);
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const auto delaying = [seed](std::unique_ptr<ranks::Fabric> inner) {
      return std::make_unique<hpl_tests::DelayingFabric>(std::move(inner), seed,
                                                         std::chrono::microseconds(2000));
    };
    INFO("seed " << seed);
    CHECK(saidOn(3, 1, mixedSteps, delaying) == expected);
  }
}

TEST_CASE("a repeated exchange between ranks is not planned again") {
  const auto planned = [] {
    Grid a(40, 16), b(40, 16);
    setCells(a, 5);
    setCells(b, 6);
    std::uint64_t before = 0;
    for (int step = 0; step < 40; ++step) {
      if (step == 10) before = memory::detail::planner().counts().planned;
      eval(fivePoint).devices(getDeviceNumber())(PART1(b, 1), PART1(a, 1));
      b.syncGhosts();
      swap(a, b);
    }
    return std::to_string(memory::detail::planner().counts().planned - before);
  };
  CHECK(saidOn(3, 1, planned) == "0");
}

}  // namespace repetition_tests
