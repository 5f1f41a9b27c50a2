// SPDX-License-Identifier: Apache-2.0
// The exchanges of the node-aware paper (its IV): four single-precision quantities, radius 3, 26
// neighbours. For perf/node_aware.py.
//
//     hpl_node_aware partitions weak|strong|SIDE NODES
//                            bytes by scheme of dividing a cube among nodes of six devices, as CSV
//     hpl_node_aware placement       what placing the blocks of Fig. 11 costs, as CSV
//     hpl_node_aware racks NODES     what placing blocks on nodes of racks costs and takes, as CSV
//     hpl_node_aware exchange SIDE STEPS     the program itself: for dry runs of any machine
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "hpl/geometry/hierarchy.h"
#include "hpl/geometry/placement.h"
#include "hpl/geometry/splits.h"
#include "hpl/hpl.h"
#include "hpl/topology/graph_mapping.h"
#include "perf/node_aware/corners.h"

namespace {

using hpl::geometry::Block;
using hpl::geometry::Box;
using hpl::geometry::Hierarchy;
using hpl::geometry::Index;
using hpl::geometry::PartitionProblem;

constexpr int kPerNode = 6;
constexpr int kRadius = node_aware::kHalo;

PartitionProblem problemOf(Index side, int nodes) {
  PartitionProblem problem;
  problem.domain = {side, side, side};
  // Four quantities of four bytes.
  problem.fields = {{{kRadius, kRadius, kRadius}, {kRadius, kRadius, kRadius}, 16}};
  problem.nodes.assign(static_cast<std::size_t>(nodes), std::vector<double>(kPerNode, 1.0));
  return problem;
}

/// Blocks of the grid of devices that exchanges the least when nodes do not count: device by device
/// in the order of the grid.
std::vector<Block> flatBlocks(const PartitionProblem& problem) {
  PartitionProblem flat = problem;
  const std::size_t devices = problem.nodes.size() * kPerNode;
  flat.nodes = {std::vector<double>(devices, 1.0)};
  std::vector<Block> blocks = hpl::geometry::partition(flat).blocks;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    blocks[i].node = static_cast<int>(i) / kPerNode;
    blocks[i].device = static_cast<int>(i) % kPerNode;
  }
  return blocks;
}

void printScheme(const PartitionProblem& problem, const char* scheme, int nodes,
                 const std::vector<Block>& blocks) {
  const std::vector<Index> bytes = hpl::geometry::exchangedBytes(problem, blocks);
  Index between = 0, within = 0;
  std::vector<Index> outOfNode(static_cast<std::size_t>(nodes), 0);
  for (std::size_t to = 0; to < blocks.size(); ++to)
    for (std::size_t from = 0; from < blocks.size(); ++from) {
      const Index some = bytes[to * blocks.size() + from];
      if (blocks[to].node == blocks[from].node) {
        within += some;
      } else {
        between += some;
        outOfNode[static_cast<std::size_t>(blocks[from].node)] += some;
      }
    }
  std::printf("%d,%lld,%s,%lld,%lld,%lld\n", nodes, static_cast<long long>(problem.domain[0]),
              scheme, static_cast<long long>(between), static_cast<long long>(within),
              static_cast<long long>(*std::max_element(outOfNode.begin(), outOfNode.end())));
}

int partitions(const std::string& kind, int nodes) {
  const Index side = kind == "weak"
                         ? static_cast<Index>(std::lround(750 * std::cbrt(nodes * kPerNode)))
                     : kind == "strong" ? static_cast<Index>(std::lround(750 * std::cbrt(kPerNode)))
                                        : std::atoll(kind.c_str());
  const PartitionProblem problem = problemOf(side, nodes);
  printScheme(problem, "paper", nodes, hpl::geometry::partitionAsInPaper(problem).blocks);
  printScheme(problem, "flat", nodes, flatBlocks(problem));
  printScheme(problem, "ours", nodes, hpl::geometry::partition(problem).blocks);
  return 0;
}

/// The blocks of Fig. 11 on a Summit node: two triads of GPUs with 50 GB/s, which 32 GB/s connect.
int placement() {
  PartitionProblem problem = problemOf(1440, 1);
  problem.domain = {1440, 1452, 700};
  const std::vector<Index> bytes =
      hpl::geometry::exchangedBytes(problem, hpl::geometry::partitionAsInPaper(problem).blocks);
  const hpl::geometry::SquareMatrix flow(kPerNode, std::vector<double>(bytes.begin(), bytes.end()));
  hpl::geometry::SquareMatrix distance(kPerNode);
  for (int i = 0; i < kPerNode; ++i)
    for (int j = 0; j < kPerNode; ++j)
      if (i != j) distance(i, j) = 1.0 / (i / 3 == j / 3 ? 50e9 : 32e9);
  const hpl::geometry::Placement best = hpl::geometry::place(flow, distance);
  std::vector<int> order(kPerNode);
  std::iota(order.begin(), order.end(), 0);
  const double identity = hpl::geometry::placementCost(flow, distance, order);
  double least = identity, worst = identity;
  do {
    const double cost = hpl::geometry::placementCost(flow, distance, order);
    least = std::min(least, cost);
    worst = std::max(worst, cost);
  } while (std::next_permutation(order.begin(), order.end()));
  std::printf("best,exhaustive,identity,worst\n%.9g,%.9g,%.9g,%.9g\n", best.cost, least, identity,
              worst);
  return best.cost <= least * (1 + 1e-12) ? 0 : 1;
}

double secondsOf(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Blocks of the weak cube on nodes in racks of four, dealt out at random: 10 GB/s within a rack,
/// 5 GB/s between the four racks of a row, 2 GB/s between rows.
int racks(int nodes) {
  PartitionProblem problem = problemOf(std::lround(750 * std::cbrt(nodes)), nodes);
  problem.nodes.assign(static_cast<std::size_t>(nodes), {1.0});
  const std::vector<Index> bytes =
      hpl::geometry::exchangedBytes(problem, hpl::geometry::partition(problem).blocks);
  const hpl::geometry::SquareMatrix flow(nodes, std::vector<double>(bytes.begin(), bytes.end()));
  std::vector<int> order(static_cast<std::size_t>(nodes));
  std::iota(order.begin(), order.end(), 0);
  std::vector<int> seat = order;
  std::mt19937 random(1);
  std::shuffle(seat.begin(), seat.end(), random);
  hpl::geometry::SquareMatrix distance(nodes);
  for (int i = 0; i < nodes; ++i)
    for (int j = 0; j < nodes; ++j) {
      const int a = seat[static_cast<std::size_t>(i)], b = seat[static_cast<std::size_t>(j)];
      if (i != j) distance(i, j) = 1.0 / (a / 4 == b / 4 ? 10e9 : a / 16 == b / 16 ? 5e9 : 2e9);
    }
  const double inOrder = hpl::geometry::placementCost(flow, distance, order);
  hpl::geometry::Placement exchanged, both;
  std::optional<std::vector<int>> mapped;
  const double exchanging = secondsOf([&] { exchanged = hpl::geometry::place(flow, distance); });
  const double mapping = secondsOf([&] { mapped = hpl::topology::mapByScotch(flow, distance); });
  std::printf("method,cost,seconds\norder,%.9g,0\nexchanges,%.9g,%.6g\n", inOrder, exchanged.cost,
              exchanging);
  if (!mapped) return 0;
  const std::vector<std::vector<int>> beginnings{*mapped};
  const double improving =
      secondsOf([&] { both = hpl::geometry::place(flow, distance, beginnings); });
  std::printf("Scotch,%.9g,%.6g\nScotch and exchanges,%.9g,%.6g\n",
              hpl::geometry::placementCost(flow, distance, *mapped), mapping, both.cost,
              mapping + improving);
  return 0;
}

using node_aware::Cube;

int exchange(std::size_t side, int steps) {
  Cube now[4], next[4];
  for (int q = 0; q < 4; ++q) {
    now[q] = Cube(side, side, side);
    next[q] = Cube(side, side, side);
  }
  for (int i = 0; i < steps; ++i) {
    hpl::eval(node_aware::corners)
        .devices()(next[0], next[1], next[2], next[3], now[0], now[1], now[2], now[3]);
    for (int q = 0; q < 4; ++q) swap(now[q], next[q]);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "partitions" && argc == 4) return partitions(argv[2], std::atoi(argv[3]));
  if (mode == "placement") return placement();
  if (mode == "racks" && argc == 3) return racks(std::max(1, std::atoi(argv[2])));
  if (mode == "exchange" && argc == 4)
    return exchange(static_cast<std::size_t>(std::atoll(argv[2])), std::atoi(argv[3]));
  std::fprintf(
      stderr,
      "hpl_node_aware: partitions KIND NODES, placement, racks NODES, or exchange SIDE STEPS\n");
  return 2;
}
