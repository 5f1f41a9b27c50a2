// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "hpl/geometry/hierarchy.h"
#include "hpl/geometry/placement.h"

/// Times to divide a domain among nodes and devices, and to place the blocks of a node.
namespace {

using namespace hpl::geometry;

/// A cube of about 750^3 cells per device (node-aware communication, IV-C).
PartitionProblem cube(int nodes, int devices, double odd = 1.0) {
  PartitionProblem problem;
  const Index side = static_cast<Index>(750 * std::cbrt(nodes * devices));
  problem.domain = {side, side, side};
  problem.periodic = {true, true, true};
  problem.fields = {{{3, 3, 3}, {3, 3, 3}, 16}};
  problem.nodes.assign(static_cast<std::size_t>(nodes),
                       std::vector<double>(static_cast<std::size_t>(devices), 1.0));
  problem.nodes.front().front() = odd;
  return problem;
}

void dividesEqualNodes(benchmark::State& state) {
  const PartitionProblem problem = cube(static_cast<int>(state.range(0)), 6);
  for (auto _ : state) benchmark::DoNotOptimize(partition(problem));
  state.SetLabel(describe(partition(problem)));
}
BENCHMARK(dividesEqualNodes)->Arg(1)->Arg(16)->Arg(256)->Unit(benchmark::kMicrosecond);

void dividesUnevenNodes(benchmark::State& state) {
  const PartitionProblem problem = cube(static_cast<int>(state.range(0)), 6, 0.5);
  for (auto _ : state) benchmark::DoNotOptimize(partition(problem));
  state.SetLabel(describe(partition(problem)));
}
BENCHMARK(dividesUnevenNodes)->Arg(1)->Arg(16)->Arg(256)->Unit(benchmark::kMicrosecond);

/// The blocks of figure 11 on triads of 50 GB/s that 32 GB/s connect: two as on Summit, or three.
void placesANode(benchmark::State& state) {
  const int devices = static_cast<int>(state.range(0));
  PartitionProblem problem = cube(1, devices);
  problem.domain = {1440, 1452, 700};
  const std::vector<Index> bytes = exchangedBytes(problem, partition(problem).blocks);
  const SquareMatrix flow(devices, std::vector<double>(bytes.begin(), bytes.end()));
  SquareMatrix distance(devices);
  for (int i = 0; i < devices; ++i)
    for (int j = 0; j < devices; ++j)
      if (i != j) distance(i, j) = 1.0 / (i / 3 == j / 3 ? 50.0 : 32.0);
  for (auto _ : state) benchmark::DoNotOptimize(place(flow, distance));
}
BENCHMARK(placesANode)->Arg(6)->Arg(9)->Unit(benchmark::kMicrosecond);

/// Random flows over random distances, the hardest for the exact search: sixteen problems in turn.
/// Arguments: devices; whether both ways of a pair are alike.
void placesRandomNodes(benchmark::State& state) {
  const int n = static_cast<int>(state.range(0));
  std::mt19937 random(1);
  const auto matrix = [&](unsigned most) {
    SquareMatrix made(n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        made(i, j) =
            state.range(1) != 0 && j < i ? made(j, i) : static_cast<double>(random() % most);
    return made;
  };
  std::vector<std::pair<SquareMatrix, SquareMatrix>> problems;
  for (int k = 0; k < 16; ++k) {
    SquareMatrix flow = matrix(100);
    problems.emplace_back(std::move(flow), matrix(50));
  }
  std::size_t next = 0;
  for (auto _ : state) {
    const auto& [flow, distance] = problems[next++ % problems.size()];
    benchmark::DoNotOptimize(place(flow, distance));
  }
}
BENCHMARK(placesRandomNodes)
    ->ArgNames({"devices", "alike"})
    ->ArgsProduct({{6, 8, 9}, {0, 1}})
    ->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
