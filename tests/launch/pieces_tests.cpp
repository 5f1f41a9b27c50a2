// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/pieces.h"

#include <doctest/doctest.h>

#include <random>

namespace pieces_tests {

using namespace hpl;
using namespace hpl::launch;
using geometry::Index;

namespace {

geometry::Box boxOf(const Slice& slice) {
  geometry::Box box = geometry::Box::ofExtents({1, 1, 1});
  for (int a = 0; a < 3; ++a)
    box = box.withRange(a, slice[static_cast<std::size_t>(a)].lo,
                        slice[static_cast<std::size_t>(a)].hi);
  return box;
}

}  // namespace

TEST_CASE("borders and the interior are disjoint, and together they are the share") {
  std::mt19937 random(5);
  const auto upTo = [&](unsigned most) { return static_cast<Index>(random() % (most + 1)); };
  for (int trial = 0; trial < 300; ++trial) {
    Slice share{}, ends{};
    bool hasInterior = true, hasBorder = false;
    for (std::size_t a = 0; a < 3; ++a) {
      share[a].lo = upTo(20);
      share[a].hi = share[a].lo + 1 + upTo(9);
      ends[a] = {upTo(2), upTo(2)};
      hasInterior = hasInterior && share[a].length() > ends[a].lo + ends[a].hi;
      hasBorder = hasBorder || ends[a].lo + ends[a].hi > 0;
    }
    const std::vector<Slice> pieces = frameOf(share, ends);
    CHECK(pieces.empty() == !(hasInterior && hasBorder));
    if (pieces.empty()) continue;
    geometry::Region seen;
    for (const Slice& piece : pieces) {
      CHECK_FALSE(seen.intersects(boxOf(piece)));
      seen.add(boxOf(piece));
    }
    CHECK(seen == geometry::Region(boxOf(share)));
    for (std::size_t a = 0; a < 3; ++a) {
      CHECK(pieces.back()[a].lo == share[a].lo + ends[a].lo);
      CHECK(pieces.back()[a].hi == share[a].hi - ends[a].hi);
    }
  }
}

TEST_CASE("borders come first where an exchange takes longer than the launches that hide it") {
  OverlapCase rows{Passage::Node, false, 1 << 20, 2, 64e6, 2};
  CHECK(choiceFor(rows).pays);
  CHECK(choiceFor(rows).why ==
        "messages between ranks of a node of 1048576 bytes take about 400 us, the interior 6400 us "
        "or more, 2 more launches 24 us");
  // There is no interior to hide it behind.
  rows.interiorBytes = 1e5;
  CHECK_FALSE(choiceFor(rows).pays);
  rows.interiorBytes = 64e6;
  // Copies of the same process take a core from the kernel.
  rows.passage = Passage::Host;
  CHECK_FALSE(choiceFor(rows).pays);
  CHECK(choiceFor(rows).why.find(
            "copies take a core from the kernel; copies through the host of") == 0);
  rows.runsBeside = true;
  CHECK(choiceFor(rows).pays);
  // A handful of cells within a context is there sooner than a launch.
  rows.passage = Passage::Context;
  rows.bytes = 1000;
  CHECK_FALSE(choiceFor(rows).pays);
}

TEST_CASE("borders come first where parts of a CPU on cores of their own would meet in each step") {
  OverlapCase rows{Passage::Context, false, 1 << 20, 2, 64e6, 2, true};
  CHECK(choiceFor(rows).pays);
  CHECK(choiceFor(rows).why ==
        "parts of a CPU wait about 60 us for each other, the interior 6400 us or more, 2 more "
        "launches 40 us");
  // So short an interior is over before what two more launches take.
  rows.interiorBytes = 3e5;
  CHECK_FALSE(choiceFor(rows).pays);
  rows.moreLaunches = 1;
  CHECK(choiceFor(rows).pays);
  // More parts than cores: one computes while another one waits.
  rows.hasOwnCores = false;
  CHECK_FALSE(choiceFor(rows).pays);
  rows.hasOwnCores = true;
  // Copies of a CPU lose more in a meeting, and so in a launch.
  rows = {Passage::Host, false, 1 << 20, 2, 64e6, 2, true};
  CHECK(choiceFor(rows).why ==
        "copies of a CPU wait about 80 us for each other, the interior 6400 us or more, 2 more "
        "launches 60 us");
  CHECK(choiceFor(rows).pays);
  rows.interiorBytes = 5e5;
  CHECK_FALSE(choiceFor(rows).pays);
}

}  // namespace pieces_tests
