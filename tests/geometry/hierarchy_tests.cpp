// SPDX-License-Identifier: Apache-2.0
#include "hpl/geometry/hierarchy.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "hpl/error.h"
#include "hpl/geometry/splits.h"
#include "tests/messages.h"
#include "tests/seeds.h"

namespace hierarchy_tests {

using namespace hpl;
using namespace hpl::geometry;

namespace {

using hpl_tests::messageOf;

PartitionProblem problemOf(Extents domain, int nodes, int devices, Index halo = 1) {
  PartitionProblem problem;
  problem.domain = domain;
  const Extents around = Extents::filled(domain.rank(), halo);
  problem.fields = {{around, around, 1}};
  problem.nodes.assign(static_cast<std::size_t>(nodes),
                       std::vector<double>(static_cast<std::size_t>(devices), 1.0));
  return problem;
}

/// Calls f with each point of a box.
template <class F>
void forEachCell(const Box& box, F&& f) {
  if (box.empty()) return;
  Point at = box.lo();
  for (;;) {
    f(at);
    int d = box.rank() - 1;
    for (; d >= 0; --d) {
      if (++at[d] < box.hi(d)) break;
      at[d] = box.lo(d);
    }
    if (d < 0) return;
  }
}

/// The bytes of an exchange, counted cell by cell: [to][from].
std::vector<Index> countedBytes(const PartitionProblem& problem, const std::vector<Block>& blocks) {
  std::vector<Index> bytes(blocks.size() * blocks.size(), 0);
  for (std::size_t to = 0; to < blocks.size(); ++to) {
    for (const HaloOfField& field : problem.fields) {
      forEachCell(blocks[to].cells.grown(field.before, field.after), [&](Point cell) {
        if (blocks[to].cells.contains(cell)) return;
        for (int d = 0; d < cell.rank(); ++d) {
          const Index extent = problem.domain[d];
          const bool wraps = !problem.periodic.empty() && problem.periodic[std::size_t(d)];
          if (wraps) cell[d] = (cell[d] % extent + extent) % extent;
          if (cell[d] < 0 || cell[d] >= extent) return;
        }
        for (std::size_t from = 0; from < blocks.size(); ++from)
          if (from != to && blocks[from].cells.contains(cell))
            bytes[to * blocks.size() + from] += field.bytesPerCell;
      });
    }
  }
  return bytes;
}

struct Sums {
  Index between = 0, within = 0;
};

Sums sumsOf(const std::vector<Block>& blocks, const std::vector<Index>& bytes) {
  Sums sums;
  for (std::size_t to = 0; to < blocks.size(); ++to)
    for (std::size_t from = 0; from < blocks.size(); ++from)
      (blocks[to].node == blocks[from].node ? sums.within : sums.between) +=
          bytes[to * blocks.size() + from];
  return sums;
}

std::vector<Box> boxesOf(const Hierarchy& hierarchy) {
  std::vector<Box> boxes;
  for (const Block& block : hierarchy.blocks) boxes.push_back(block.cells);
  return boxes;
}

/// A flat grid of all devices, dealt to the nodes in their order.
std::vector<Block> flatBlocks(const PartitionProblem& problem) {
  const int perNode = static_cast<int>(problem.nodes.front().size());
  const int all = perNode * static_cast<int>(problem.nodes.size());
  const std::vector<int> grid = gridOf(all, problem.domain);
  std::vector<DimSplit> splits;
  for (int d = 0; d < problem.domain.rank(); ++d)
    splits.push_back({d, grid[static_cast<std::size_t>(d)], 0, 0, {}, 1});
  std::vector<Block> blocks;
  for (const Part& part : splitBox(Box::ofExtents(problem.domain), splits)) {
    const int number = static_cast<int>(blocks.size());
    blocks.push_back({part.core, number / perNode, number % perNode});
  }
  return blocks;
}

PartitionProblem randomProblem(std::mt19937& random, bool hasWeights) {
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  PartitionProblem problem;
  const int rank = 1 + below(3);
  for (int d = 0; d < rank; ++d)
    problem.domain.append(rank == 1 ? 30 + below(60) : rank == 2 ? 8 + below(20) : 6 + below(9));
  if (below(2) == 0)
    for (int d = 0; d < rank; ++d) problem.periodic.push_back(below(2) == 0);
  for (int n = 1 + below(2); n > 0; --n) {
    HaloOfField field;
    for (int d = 0; d < rank; ++d) {
      field.before.append(below(3));
      field.after.append(below(3));
    }
    field.bytesPerCell = 1 + below(8);
    problem.fields.push_back(field);
  }
  const int devices = 1 + below(4);
  for (int n = 1 + below(6); n > 0; --n) {
    std::vector<double> weights;
    for (int d = hasWeights ? 1 + below(4) : devices; d > 0; --d)
      weights.push_back(hasWeights ? 1 + below(3) : 1.0);
    problem.nodes.push_back(weights);
  }
  return problem;
}

}  // namespace

TEST_CASE("prime factors come largest first") {
  CHECK(primeFactors(1).empty());
  CHECK(primeFactors(12) == std::vector<int>{3, 2, 2});
  CHECK(primeFactors(97) == std::vector<int>{97});
  CHECK(primeFactors(1536) == std::vector<int>{3, 2, 2, 2, 2, 2, 2, 2, 2, 2});
  CHECK(messageOf<ArgumentError>([] { primeFactors(0); }) ==
        "prime factors of 0: the number must be 1 or more");
}

TEST_CASE("the example of figure 4 is divided as printed") {
  // 4 x 24 x 2 cells, 12 nodes with 4 devices.
  const Hierarchy made = partitionAsInPaper(problemOf({4, 24, 2}, 12, 4, 0));
  CHECK(made.nodeGrid == std::vector<int>{2, 6, 1});
  CHECK(made.deviceGrid == std::vector<int>{2, 2, 1});
  REQUIRE(made.blocks.size() == 48);
  // Node [1, 2, 0] has cells 2 to 3 along x, 8 to 11 along y.
  const int node = 1 * 6 + 2;
  CHECK(made.blocks[4 * node].cells == Box({2, 8, 0}, {3, 10, 2}));
  CHECK(made.blocks[4 * node + 3].cells == Box({3, 10, 0}, {4, 12, 2}));
  CHECK(made.blocks[4 * node + 3].node == node);
  CHECK(made.blocks[4 * node + 3].device == 3);
}

TEST_CASE("squares exchange less than strips, as in figure 3") {
  for (const int side : {2, 3}) {
    const int parts = side * side;
    const Hierarchy square = partition(problemOf({36, 36}, parts, 1));
    CHECK(square.nodeGrid == std::vector<int>{side, side});
    // Two rows of cells for each cut, and the corners.
    const Index cuts = side - 1;
    CHECK(square.bytesBetweenNodes == 2 * (2 * cuts * 36) + 4 * cuts * cuts);
    const PartitionProblem strips = problemOf({36, 36}, parts, 1);
    std::vector<Block> blocks;
    for (const Part& part : splitBox(Box::ofExtents({36, 36}), DimSplit{0, parts, 0, 0, {}, 1}))
      blocks.push_back({part.core, static_cast<int>(blocks.size()), 0});
    CHECK(sumsOf(blocks, exchangedBytes(strips, blocks)).between == 2 * (parts - 1) * 36);
    CHECK(square.bytesBetweenNodes < 2 * (parts - 1) * 36);
  }
}

TEST_CASE("partitions cover the domain once and exchange what a count of the cells says") {
  int divided = 0, halved = 0;
  for (const unsigned seed : Seeds(1, 400)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const PartitionProblem problem = randomProblem(random, seed % 2 == 0);
    Hierarchy made;
    try {
      made = partition(problem);
    } catch (const ArgumentError&) {
      continue;  // more devices than cells, or wide halos
    }
    ++divided;
    if (made.nodeGrid.empty()) ++halved;
    CHECK(disjointCoverDefect(Box::ofExtents(problem.domain), boxesOf(made)) == "");
    std::size_t number = 0;
    for (std::size_t n = 0; n < problem.nodes.size(); ++n) {
      for (std::size_t d = 0; d < problem.nodes[n].size(); ++d, ++number) {
        REQUIRE(number < made.blocks.size());
        CHECK(made.blocks[number].node == static_cast<int>(n));
        CHECK(made.blocks[number].device == static_cast<int>(d));
        CHECK(!made.blocks[number].cells.empty());
      }
    }
    CHECK(number == made.blocks.size());
    const std::vector<Index> counted = countedBytes(problem, made.blocks);
    CHECK(exchangedBytes(problem, made.blocks) == counted);
    const Sums sums = sumsOf(made.blocks, counted);
    CHECK(made.bytesBetweenNodes == sums.between);
    CHECK(made.bytesWithinNodes == sums.within);
  }
  CHECK(divided > 200);
  CHECK(halved > 50);
}

TEST_CASE("no partition of the paper sends less between nodes, and no flat grid takes less time") {
  int compared = 0;
  for (const unsigned seed : Seeds(1, 600)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const PartitionProblem problem = randomProblem(random, false);
    Hierarchy ours, paper;
    try {
      ours = partition(problem);
      paper = partitionAsInPaper(problem);
    } catch (const ArgumentError&) {
      continue;
    }
    ++compared;
    CHECK(ours.bytesBetweenNodes <= paper.bytesBetweenNodes);
    CHECK(ours.time() <= paper.time());
    const std::vector<Block> flat = flatBlocks(problem);
    const auto isEmpty = [](const Block& block) { return block.cells.empty(); };
    if (std::any_of(flat.begin(), flat.end(), isEmpty)) continue;
    const Sums sums = sumsOf(flat, exchangedBytes(problem, flat));
    CHECK(ours.time() <= kNodeLinkSpeed * sums.between + sums.within);
  }
  CHECK(compared > 200);
}

TEST_CASE("no partition that knows no nodes takes less time, whatever the halos and weights") {
  int compared = 0;
  for (const unsigned seed : Seeds(1, 400)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const PartitionProblem problem = randomProblem(random, seed % 2 == 0);
    PartitionProblem flat = problem;
    flat.nodes.assign(1, {});
    std::vector<int> nodeOf;
    for (std::size_t node = 0; node < problem.nodes.size(); ++node)
      for (const double weight : problem.nodes[node]) {
        flat.nodes.front().push_back(weight);
        nodeOf.push_back(static_cast<int>(node));
      }
    Hierarchy ours;
    std::vector<Block> dealt;
    try {
      ours = partition(problem);
      dealt = partition(flat).blocks;
    } catch (const ArgumentError&) {
      continue;
    }
    ++compared;
    for (std::size_t i = 0; i < dealt.size(); ++i) dealt[i].node = nodeOf[i];
    const Sums sums = sumsOf(dealt, exchangedBytes(problem, dealt));
    Index paper = sums.between;
    try {
      paper = partitionAsInPaper(problem).bytesBetweenNodes;
    } catch (const ArgumentError&) {
      // Nodes that differ.
    }
    // One that sends more between nodes than the paper's is none.
    if (sums.between <= paper) CHECK(ours.time() <= kNodeLinkSpeed * sums.between + sums.within);
  }
  CHECK(compared > 200);
}

TEST_CASE("the last bytes between nodes are not saved at the price of many within") {
  // Slabs in each of two nodes would send 1 % less between them, and 3.3 times as much within.
  PartitionProblem problem = problemOf({1717, 1717, 1717}, 2, 6);
  problem.fields = {{{3, 3, 3}, {3, 3, 3}, 16}};
  problem.periodic.clear();
  const Hierarchy ours = partition(problem), paper = partitionAsInPaper(problem);
  CHECK(ours.bytesBetweenNodes <= paper.bytesBetweenNodes);
  CHECK(ours.bytesWithinNodes <= paper.bytesWithinNodes);
}

TEST_CASE("devices get cells in proportion to their weights") {
  PartitionProblem problem = problemOf({600, 400}, 1, 1);
  problem.nodes = {{1, 1, 2}, {4}, {1, 3}};
  const Hierarchy made = partition(problem);
  REQUIRE(made.blocks.size() == 6);
  const double all = 12;
  std::size_t number = 0;
  for (const auto& node : problem.nodes)
    for (const double weight : node)
      CHECK(static_cast<double>(made.blocks[number++].cells.volume()) ==
            doctest::Approx(600 * 400 * weight / all).epsilon(0.01));
}

TEST_CASE("seven nodes get blocks rather than strips") {
  const PartitionProblem problem = problemOf({700, 700}, 7, 1);
  const Hierarchy made = partition(problem);
  CHECK(made.nodeGrid.empty());
  CHECK(made.bytesBetweenNodes < 2 * 6 * 700 * 7 / 10);
  for (const Block& block : made.blocks)
    CHECK(static_cast<double>(block.cells.volume()) == doctest::Approx(70000).epsilon(0.02));
  CHECK(describe(made) ==
        "7 nodes, 7 devices in all, halved repeatedly: 4.8 kB between nodes, 0 bytes "
        "within, per exchange");
}

TEST_CASE("a partition says what it is") {
  CHECK(describe(partition(problemOf({1440, 1452, 700}, 1, 6, 3))) ==
        "1 node as 1 x 1 x 1, 6 devices each as 2 x 3 x 1: 0 bytes between nodes, 18.2 MB within, "
        "per "
        "exchange");
}

TEST_CASE("partitions that cannot be are refused by name") {
  const auto message = [](const PartitionProblem& problem) {
    return messageOf<ArgumentError>([&] { partition(problem); });
  };
  PartitionProblem problem = problemOf({4, 3}, 4, 5, 0);
  CHECK(message(problem) ==
        "partition: 20 devices cannot each get a block of the domain [0:4, 0:3) that is as wide as "
        "the "
        "halos; use fewer devices, or a larger domain");
  problem = problemOf({8}, 4, 1, 3);
  CHECK(message(problem) ==
        "partition: 4 devices leave device 0 of node 0 the block [0:2) of the domain [0:8), and a "
        "halo "
        "of 3 cells in dimension 0 is wider than it; use fewer devices, or a larger domain");
  problem = problemOf({8, 8}, 0, 1);
  CHECK(message(problem) == "partition: no node; name at least one");
  problem = problemOf({8, 8}, 2, 0);
  CHECK(message(problem) == "partition: node 0 has no devices");
  problem = problemOf({8, 8}, 2, 1);
  problem.nodes[1][0] = -1;
  CHECK(message(problem) == "partition: node 1 has a device of weight -1; weights are positive");
  problem = problemOf({8, 0}, 2, 1);
  CHECK(message(problem) == "partition: the domain [0:8, 0:0) has no cells");
  problem = problemOf({8, 8}, 2, 1);
  problem.periodic = {true};
  CHECK(message(problem) ==
        "partition: 1 dimensions are said to be periodic or not, but the domain has 2");
  problem = problemOf({8, 8}, 2, 1);
  problem.fields[0].after = {1};
  CHECK(message(problem) ==
        "partition: field 0 has halos for 2 and 1 dimensions, but the domain has 2; give one "
        "number per "
        "dimension");
  problem = problemOf({8, 8}, 2, 1, -1);
  CHECK(message(problem) ==
        "partition: field 0 has a halo of -1 and -1 cells in dimension 0; halos are 0 or more");
  problem = problemOf({8, 8}, 2, 1);
  problem.fields[0].bytesPerCell = 0;
  CHECK(message(problem) == "partition: field 0 has 0 bytes per cell; 1 or more");
  problem = problemOf({8, 8}, 1, 2);
  problem.nodes = {{1, 2}};
  CHECK(messageOf<ArgumentError>([&] { partitionAsInPaper(problem); }) ==
        "partition as in the paper: the nodes need equally many devices of equal weights; "
        "partition() "
        "divides among others");
}

}  // namespace hierarchy_tests
