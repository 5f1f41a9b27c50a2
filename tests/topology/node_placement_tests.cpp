// SPDX-License-Identifier: Apache-2.0
#include "hpl/topology/node_placement.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <utility>

#include "hpl/geometry/hierarchy.h"
#include "hpl/topology/graph_mapping.h"
#include "hpl/topology/links.h"
#include "tests/seeds.h"

namespace node_placement_tests {

using namespace hpl;
using namespace hpl::topology;
using geometry::SquareMatrix;

namespace {

/// Links between nodes of a test, undone at its end.
class WithLinksBetween {
 public:
  explicit WithLinksBetween(const SquareMatrix& bandwidths) {
    setLinksBetweenNodes({bandwidths, "a test"});
  }
  WithLinksBetween(const WithLinksBetween&) = delete;
  WithLinksBetween& operator=(const WithLinksBetween&) = delete;
  ~WithLinksBetween() { setLinksBetweenNodes(equalLinks(1, "the end of a test")); }
};

SquareMatrix numbersBetween(std::mt19937& random, int n, int least, int most) {
  SquareMatrix matrix(n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      if (i != j) matrix(i, j) = std::uniform_int_distribution(least, most)(random);
  return matrix;
}

std::vector<int> upTo(int n) {
  std::vector<int> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// The bytes that blocks of a cube on `nodes` nodes exchange.
SquareMatrix flowOfCube(int nodes) {
  geometry::PartitionProblem problem;
  problem.domain = {1200, 1200, 1200};
  problem.fields = {{{1, 1, 1}, {1, 1, 1}, 4}};
  problem.nodes.assign(static_cast<std::size_t>(nodes), {1.0});
  const auto bytes = geometry::exchangedBytes(problem, geometry::partition(problem).blocks);
  return {nodes, std::vector<double>(bytes.begin(), bytes.end())};
}

/// Nodes in racks of four that were dealt out at random: a link between racks has a fifth of the
/// speed of one within.
SquareMatrix racksOfFour(int nodes, std::mt19937& random) {
  std::vector<int> rackOf = upTo(nodes);
  for (int& rack : rackOf) rack /= 4;
  std::shuffle(rackOf.begin(), rackOf.end(), random);
  SquareMatrix bandwidths(nodes);
  for (int i = 0; i < nodes; ++i)
    for (int j = 0; j < nodes; ++j)
      if (i != j)
        bandwidths(i, j) =
            rackOf[static_cast<std::size_t>(i)] == rackOf[static_cast<std::size_t>(j)] ? 10e9 : 2e9;
  return bandwidths;
}

}  // namespace

TEST_CASE(
    "blocks of nodes are placed as cheaply as the cheapest of all orders within their kinds") {
  for (const unsigned seed : Seeds(1, 60)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const int n = 3 + static_cast<int>(random() % 4);
    // The launch uses some of more nodes.
    std::vector<int> numbers = upTo(n + 2);
    std::shuffle(numbers.begin(), numbers.end(), random);
    numbers.resize(static_cast<std::size_t>(n));
    std::sort(numbers.begin(), numbers.end());
    const SquareMatrix bandwidths = numbersBetween(random, n + 2, 1, 9);
    const WithLinksBetween links(bandwidths);
    const SquareMatrix flow = numbersBetween(random, n, 0, 50);
    std::vector<int> kinds(numbers.size(), 0);
    const bool hasKinds = random() % 2 == 0;
    for (int& kind : kinds)
      if (hasKinds) kind = static_cast<int>(random() % 2);
    const NodePlacement placed = placeOnNodes(flow, numbers, kinds);
    const auto costOf = [&](const std::vector<int>& nodeOf) {
      double cost = 0;
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
          const int from = numbers[static_cast<std::size_t>(nodeOf[static_cast<std::size_t>(i)])];
          const int to = numbers[static_cast<std::size_t>(nodeOf[static_cast<std::size_t>(j)])];
          if (i != j) cost += flow(i, j) / bandwidths(from, to);
        }
      return cost;
    };
    CHECK(placed.cost == doctest::Approx(costOf(placed.nodeOf)));
    CHECK(placed.costInOrder == doctest::Approx(costOf(upTo(n))));
    CHECK(placed.cost <= placed.costInOrder);
    for (std::size_t i = 0; i < kinds.size(); ++i)
      CHECK(kinds[static_cast<std::size_t>(placed.nodeOf[i])] == kinds[i]);
    const std::set<int> different(placed.nodeOf.begin(), placed.nodeOf.end());
    CHECK(different.size() == numbers.size());
    if (std::set<int>(kinds.begin(), kinds.end()).size() > 1) continue;
    std::vector<int> order = upTo(n);
    double least = std::numeric_limits<double>::infinity();
    do {
      least = std::min(least, costOf(order));
    } while (std::next_permutation(order.begin(), order.end()));
    CHECK(placed.cost == doctest::Approx(least));
  }
}

TEST_CASE("racks that were dealt out at random are found again") {
  for (const int nodes : {8, 16, 64}) {
    CAPTURE(nodes);
    std::mt19937 random(static_cast<unsigned>(nodes));
    const WithLinksBetween links(racksOfFour(nodes, random));
    const NodePlacement placed = placeOnNodes(flowOfCube(nodes), upTo(nodes),
                                              std::vector<int>(static_cast<std::size_t>(nodes), 0));
    CHECK(placed.costInOrder > 1.2 * placed.cost);
  }
}

TEST_CASE("Scotch gives each block a device of its own, the same each time") {
  std::mt19937 random(5);
  if (!mapByScotch(flowOfCube(12), racksOfFour(12, random))) return;  // built without Scotch
  for (const unsigned seed : Seeds(1, 20)) {
    CAPTURE(seed);
    std::mt19937 chance(seed);
    const int n = 2 + static_cast<int>(chance() % 70);
    const SquareMatrix flow =
        seed % 3 == 0 ? flowOfCube(n) : numbersBetween(chance, n, 0, seed % 2 == 0 ? 1 : 1000000);
    SquareMatrix distance = numbersBetween(chance, n, 1, 1000);
    if (seed % 4 == 0) distance(0, n - 1) = std::numeric_limits<double>::infinity();
    const auto mapped = mapByScotch(flow, distance);
    REQUIRE(mapped);
    std::vector<int> sorted = *mapped;
    std::sort(sorted.begin(), sorted.end());
    CHECK(sorted == upTo(n));
    CHECK(mapByScotch(flow, distance) == mapped);
  }
  CHECK_FALSE(mapByScotch(SquareMatrix(1), SquareMatrix(1)));
  // A multilevel method with threads of its own would begin at fifty: often, as it rarely shows.
  const SquareMatrix flow = numbersBetween(random, 90, 0, 100);
  const SquareMatrix distance = numbersBetween(random, 90, 1, 30);
  const auto mapped = mapByScotch(flow, distance);
  for (int again = 0; again < 20; ++again) CHECK(mapByScotch(flow, distance) == mapped);
  // Nothing flows, or everything is equally far.
  CHECK(mapByScotch(SquareMatrix(12), racksOfFour(12, random)));
  CHECK(mapByScotch(flowOfCube(12), SquareMatrix(12)));
}

TEST_CASE("Scotch finds racks at once") {
  std::mt19937 random(9);
  const SquareMatrix flow = flowOfCube(64), bandwidths = racksOfFour(64, random);
  const SquareMatrix distance = NodeLinks{bandwidths, ""}.distances();
  const auto mapped = mapByScotch(flow, distance);
  if (!mapped) return;  // built without Scotch
  CHECK(geometry::placementCost(flow, distance, *mapped) <
        0.8 * geometry::placementCost(flow, distance, upTo(64)));
}

}  // namespace node_placement_tests
