// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/exchange_model.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "hpl/geometry/hierarchy.h"

namespace exchange_model_tests {

using namespace hpl::launch;
using hpl::geometry::Box;
using hpl::geometry::Index;
using hpl::geometry::Point;
using hpl::ir::IndexForm;

namespace {

using Domain3 = std::array<Index, 3>;  // x, y, z
using Offset = std::array<int, 3>;

/// An array as large as the domain, read at these offsets from the work-item's own index.
ReadArray arrayRead(const Domain3& domain, const std::vector<Offset>& offsets, Index bytes) {
  std::vector<std::vector<IndexForm>> reads;
  for (const Offset& offset : offsets)
    reads.push_back({IndexForm::affine(2, offset[2], offset[2]),
                     IndexForm::affine(1, offset[1], offset[1]),
                     IndexForm::affine(0, offset[0], offset[0])});
  const Box cells({0, 0, 0}, {domain[2], domain[1], domain[0]});
  return {Footprint(std::move(reads)), cells, cells, bytes, {{2, 1, 0}}};
}

bool isIn(const Slice& slice, const Domain3& cell) {
  for (std::size_t a = 0; a < 3; ++a)
    if (cell[a] < slice[a].lo || cell[a] >= slice[a].hi) return false;
  return true;
}

template <class F>
void forEachCell(const Domain3& domain, F&& f) {
  Domain3 cell;
  for (cell[2] = 0; cell[2] < domain[2]; ++cell[2])
    for (cell[1] = 0; cell[1] < domain[1]; ++cell[1])
      for (cell[0] = 0; cell[0] < domain[0]; ++cell[0]) f(cell);
}

/// Cells of others that each device reads, one by one; with nodes (by device), of others on another
/// node.
Index ghostCells(const Domain3& domain, const Cutting& cutting, const std::vector<Offset>& offsets,
                 const std::vector<int>& nodes = {}) {
  Index count = 0;
  for (std::size_t device = 0; device < cutting.slices.size(); ++device) {
    const Slice& slice = cutting.slices[device];
    forEachCell(domain, [&](const Domain3& cell) {
      if (isIn(slice, cell)) return;
      const auto owner = std::find_if(cutting.slices.begin(), cutting.slices.end(),
                                      [&](const Slice& other) { return isIn(other, cell); }) -
                         cutting.slices.begin();
      if (!nodes.empty() && nodes[static_cast<std::size_t>(owner)] == nodes[device]) return;
      count += std::any_of(offsets.begin(), offsets.end(), [&](const Offset& offset) {
        return isIn(slice, {cell[0] - offset[0], cell[1] - offset[1], cell[2] - offset[2]});
      });
    });
  }
  return count;
}

void checkCover(const Domain3& domain, const Cutting& cutting) {
  forEachCell(domain, [&](const Domain3& cell) {
    const auto owners = std::count_if(cutting.slices.begin(), cutting.slices.end(),
                                      [&](const Slice& slice) { return isIn(slice, cell); });
    if (owners != 1) FAIL("a cell has " << owners << " owners");
  });
}

}  // namespace

TEST_CASE("the model counts the cells that devices read of others, whatever the cut") {
  std::random_device entropy;
  const unsigned seed = entropy();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    const Domain3 domain{4 + below(12), 4 + below(12), 1 + below(9)};
    std::vector<Offset> offsets{{0, 0, 0}};
    for (int more = below(8); more > 0; --more)
      offsets.push_back({below(5) - 2, below(7) - 3, below(3) - 1});
    const int devices = 1 + below(12);
    std::vector<double> weights;
    for (int d = 0; d < devices && round % 2 == 0; ++d) weights.push_back(1 + below(4));
    const ExchangeModel model({arrayRead(domain, offsets, 4), arrayRead(domain, {{0, 0, 0}}, 8)});
    std::vector<Cutting> all;
    for (const auto& grid : gridsOf(devices, {true, true, true}))
      all.push_back(gridCutting(domain, grid, weights));
    const Surroundings around{{{{-2, 2}, {-3, 3}, {-1, 1}}}, 4};
    std::vector<int> nodes;
    for (int d = 0; d < devices; ++d) nodes.push_back(below(3));
    if (!weights.empty())
      if (auto halved = halvedCutting(domain, {true, true, false}, around, weights))
        all.push_back(*halved);
    for (const Cutting& cutting :
         nodesFirstCuttings(domain, {true, true, true}, around, weights, nodes))
      all.push_back(cutting);
    for (const Cutting& cutting : all) {
      CAPTURE(cutting.describe());
      checkCover(domain, cutting);
      CHECK(model.costOf(cutting).bytes == 4 * ghostCells(domain, cutting, offsets));
      const ExchangeCost withNodes = model.costOf(cutting, nodes);
      CHECK(withNodes.bytes == model.costOf(cutting).bytes);
      CHECK(withNodes.bytesBetweenNodes == 4 * ghostCells(domain, cutting, offsets, nodes));
    }
  }
}

TEST_CASE("blocks pay where they save more than their messages and strided rows cost") {
  const auto isCheaper = [](const Domain3& domain, const std::array<int, 3>& a,
                            const std::array<int, 3>& b) {
    const std::vector<Offset> star{{0, 0, 0}, {-1, 0, 0}, {1, 0, 0}, {0, -1, 0},
                                   {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
    const ExchangeModel model({arrayRead(domain, star, 4)});
    return model.costOf(gridCutting(domain, a, {})).inBytes() <
           model.costOf(gridCutting(domain, b, {})).inBytes();
  };
  // Contiguous rows of a plane are cheaper than columns, for few devices.
  CHECK(isCheaper({4096, 4096, 1}, {1, 4, 1}, {2, 2, 1}));
  CHECK(isCheaper({16384, 16384, 1}, {1, 8, 1}, {2, 4, 1}));
  CHECK(isCheaper({16384, 16384, 1}, {4, 16, 1}, {1, 64, 1}));
  // Small arrays would like few messages.
  CHECK(isCheaper({64, 64, 64}, {1, 1, 4}, {1, 2, 2}));
  CHECK(isCheaper({256, 256, 256}, {1, 2, 2}, {1, 1, 4}));
  CHECK(isCheaper({512, 512, 512}, {1, 2, 4}, {1, 1, 8}));
  CHECK(isCheaper({512, 512, 512}, {1, 2, 4}, {2, 2, 2}));
}

TEST_CASE("nodes come first: no grid in the order of devices keeps links busy for less time") {
  const std::vector<Offset> box{{-1, -1, 0}, {1, 1, 0},  {-1, 1, 0}, {1, -1, 0},
                                {0, 0, -1},  {0, 0, 1},  {1, 0, 0},  {-1, 0, 0},
                                {0, 1, 0},   {0, -1, 0}, {0, 0, 0}};
  for (const Domain3& domain : {Domain3{96, 64, 1}, Domain3{48, 48, 48}, Domain3{30, 70, 20}}) {
    for (const auto& [nodeCount, each] :
         {std::pair<int, int>{2, 2}, {2, 3}, {3, 2}, {4, 4}, {2, 6}, {6, 2}}) {
      CAPTURE(domain[0]);
      CAPTURE(nodeCount);
      CAPTURE(each);
      const ExchangeModel model({arrayRead(domain, box, 8)});
      std::vector<int> nodes;
      for (int d = 0; d < nodeCount * each; ++d) nodes.push_back(d / each);
      const AxisSet axes{true, true, domain[2] > 1};
      const Slice reach{{{-1, 1}, {-1, 1}, {-1, 1}}};
      const auto first = nodesFirstCuttings(domain, axes, {reach, 8}, {}, nodes);
      REQUIRE(!first.empty());
      const auto time = [&](const Cutting& cutting) {
        const ExchangeCost cost = model.costOf(cutting, nodes);
        return cost.bytes + (hpl::geometry::kNodeLinkSpeed - 1) * *cost.bytesBetweenNodes;
      };
      for (const auto& grid : gridsOf(nodeCount * each, axes)) {
        const Cutting flat = gridCutting(domain, grid, {});
        CAPTURE(flat.describe());
        CHECK(time(first.front()) <= time(flat));
      }
    }
  }
}

TEST_CASE("cuts are named, and the first device has the first block") {
  const Cutting bands = gridCutting({9, 8, 1}, {1, 3, 1}, {});
  CHECK(bands.describe() == "bands of idy");
  const Cutting blocks = gridCutting({9, 8, 1}, {2, 3, 1}, {});
  CHECK(blocks.describe() == "blocks 3 x 2 (idy x idx)");
  CHECK(blocks.slices[1][0] == hpl::geometry::Interval{5, 9});
  CHECK(blocks.slices[1][1] == hpl::geometry::Interval{0, 3});
  CHECK(blocks.slices[4][1] == hpl::geometry::Interval{6, 8});
  // The second row of blocks weighs three times the first one, and its columns differ.
  const Cutting uneven = gridCutting({12, 12, 1}, {2, 2, 1}, {1, 1, 2, 4});
  CHECK(uneven.slices[0][1] == hpl::geometry::Interval{0, 3});
  CHECK(uneven.slices[0][0] == hpl::geometry::Interval{0, 6});
  CHECK(uneven.slices[2][0] == hpl::geometry::Interval{0, 4});
  const Surroundings around{{{{-1, 1}, {-1, 1}, {0, 0}}}, 4};
  const AxisSet both{true, true, false};
  const auto nodes = nodesFirstCuttings({64, 64, 1}, both, around, {}, {0, 0, 1, 1});
  std::vector<std::string> names;
  for (const Cutting& cutting : nodes) names.push_back(cutting.describe());
  const auto blocks22 =
      std::find(names.begin(), names.end(), "nodes 2 x 1, devices of each 1 x 2 (idy x idx)");
  REQUIRE(blocks22 != names.end());
  const Cutting& square = nodes[static_cast<std::size_t>(blocks22 - names.begin())];
  CHECK(square.slices[1][0] == hpl::geometry::Interval{32, 64});
  CHECK(square.slices[2][1] == hpl::geometry::Interval{32, 64});
  const auto three = nodesFirstCuttings({64, 64, 1}, both, around, {}, {0, 0, 1});
  REQUIRE(three.size() == 1);
  CHECK(three.front().describe() == "nodes, then devices by halving (idy, idx)");
  // Devices that alternate between two nodes: each node has a half of the domain all the same.
  const auto turns = nodesFirstCuttings({64, 64, 1}, both, around, {}, {5, 2, 5, 2});
  const auto halves = std::find_if(turns.begin(), turns.end(), [](const Cutting& cutting) {
    return cutting.describe() == "nodes 2 x 1, devices of each 1 x 2 (idy x idx)";
  });
  REQUIRE(halves != turns.end());
  for (const std::size_t device : {0, 2})
    CHECK(halves->slices[device][1] == hpl::geometry::Interval{0, 32});
  for (const std::size_t device : {1, 3})
    CHECK(halves->slices[device][1] == hpl::geometry::Interval{32, 64});
  CHECK(nodesFirstCuttings({2, 2, 1}, both, around, {}, {0, 1, 2, 3, 4, 5}).empty());
  ExchangeCost cost;
  cost.bytes = 32;
  cost.messages = 1;
  CHECK(cost.describe() == "32 bytes in 1 message");
  cost.bytesBetweenNodes = 8;
  CHECK(cost.describe() == "32 bytes in 1 message (8 between nodes)");
}

}  // namespace exchange_model_tests
