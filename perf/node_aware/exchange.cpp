// SPDX-License-Identifier: Apache-2.0
// The exchange of the node-aware paper (its IV-C, figure 12a) on real devices: four
// single-precision quantities, radius 3, 26 neighbours in a periodic domain. For
// perf/node_aware.py.
//
//     hpl_node_exchange SIDE TIMES           SIDE^3 cells for each device
//     hpl_node_exchange SIDE TIMES ORDER     the same cells, not periodic, read by a kernel whose
//     arrays
//                                            are divided into blocks: where the library puts them
//                                            (placed), or in the best, the worst or the list's
//                                            order (best, worst, list) of the devices of two nodes
//
// Prints the seconds of an exchange, the mean of TIMES on the slowest rank. Environment variables
// say how cells travel (HPL_TRANSPORT, HPL_MESSAGES, HPL_PACK).
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "hpl/geometry/hierarchy.h"
#include "hpl/geometry/placement.h"
#include "hpl/hpl.h"
#include "hpl/memory/detail/letters.h"
#include "hpl/ranks/world.h"
#include "perf/node_aware/corners.h"

#ifdef HPL_PERF_WITH_MPI
#include "hpl/mpi.h"
using Session = hpl::mpi::Session;
#else
using Session = hpl::ranks::Session;
#endif

namespace {

using node_aware::corners;
using node_aware::Cube;
using node_aware::kHalo;
using node_aware::kQuantities;

void touch(Cube q) {
  using namespace hpl;
  q[idz][idy][idx] = q[idz][idy][idx] + 1.0f;
}

/// Blocks of a grid of `devices` devices, the slowest dimension cut most, as near to a cube as
/// possible.
std::array<int, 3> gridFor(int devices) {
  std::array<int, 3> best{devices, 1, 1};
  for (int z = 1; z <= devices; ++z)
    for (int y = 1; y <= z && z * y <= devices; ++y) {
      const int x = devices / z / y;
      if (z * y * x == devices && x <= y && z < best[0]) best = {z, y, x};
    }
  return best;
}

/// Waits for all devices and messages of all ranks.
void settle() {
  hpl::memory::detail::waitForLetters();
  for (const hpl::Device& device : hpl::devices())
    if (device.isLocal()) hpl::Device(device).sync();
  hpl::ranks::world()->courier().allAgree(true);
}

double slowest(double own) {
  double most = own;
  for (const auto& blob :
       hpl::ranks::world()->courier().allgather(std::as_bytes(std::span(&own, 1)))) {
    double seconds = 0;
    std::memcpy(&seconds, blob.data(), sizeof seconds);
    most = std::max(most, seconds);
  }
  return most;
}

/// Mean seconds of an exchange of all quantities.
double measure(std::size_t side, int times) {
  using namespace hpl;
  using Clock = std::chrono::steady_clock;
  const int devices = getDeviceNumber();
  const std::array<int, 3> grid = gridFor(devices);
  std::array<Cube, kQuantities> q;
  for (Cube& quantity : q) {
    quantity =
        Cube(side * static_cast<std::size_t>(grid[0]), side * static_cast<std::size_t>(grid[1]),
             side * static_cast<std::size_t>(grid[2]));
    quantity = 0.0f;
  }
  double seconds = 0;
  constexpr int kBefore = 3;
  for (int i = 0; i < times + kBefore; ++i) {
    for (Cube& quantity : q)
      eval(touch).devices()(PART123(quantity, kHalo, kHalo, kHalo, PERIODIC));
    settle();
    const auto begin = Clock::now();
    syncGhosts(q[0], q[1], q[2], q[3]);
    settle();
    if (i >= kBefore) seconds += std::chrono::duration<double>(Clock::now() - begin).count();
  }
  return slowest(seconds / times);
}

// ---- blocks in several orders -----------------------------------------------------------------

/// The devices in the order in which block i goes to the i-th of them: what passes between nodes
/// costs eight times as much as what passes within.
std::vector<hpl::Device> inOrder(const std::string& order, std::size_t side,
                                 const std::array<int, 3>& grid) {
  using hpl::geometry::Index;
  using hpl::geometry::SquareMatrix;
  const std::vector<hpl::Device> all = hpl::devices();
  const int n = static_cast<int>(all.size());
  std::vector<int> deviceOf(all.size());
  std::iota(deviceOf.begin(), deviceOf.end(), 0);
  if (order != "list") {
    hpl::geometry::PartitionProblem problem;
    const auto cells = static_cast<Index>(side);
    problem.domain = {cells * grid[0], cells * grid[1], cells * grid[2]};
    problem.fields = {{{kHalo, kHalo, kHalo}, {kHalo, kHalo, kHalo}, 4 * kQuantities}};
    std::vector<hpl::geometry::Block> blocks;
    for (Index z = 0; z < grid[0]; ++z)
      for (Index y = 0; y < grid[1]; ++y)
        for (Index x = 0; x < grid[2]; ++x) {
          const hpl::geometry::Box box({z * cells, y * cells, x * cells},
                                       {(z + 1) * cells, (y + 1) * cells, (x + 1) * cells});
          blocks.push_back({box, 0, static_cast<int>(blocks.size())});
        }
    const std::vector<Index> bytes = hpl::geometry::exchangedBytes(problem, blocks);
    const SquareMatrix flow(n, std::vector<double>(bytes.begin(), bytes.end()));
    SquareMatrix distance(n);
    constexpr double kBetweenNodes = 8;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const auto nodeOf = [&](int device) {
          return hpl::ranks::world()->nodeOf(all[static_cast<std::size_t>(device)].rank());
        };
        if (i != j) distance(i, j) = nodeOf(i) == nodeOf(j) ? 1 : kBetweenNodes;
      }
    std::vector<int> other = deviceOf;
    double cost = hpl::geometry::placementCost(flow, distance, deviceOf);
    do {
      const double of = hpl::geometry::placementCost(flow, distance, other);
      if (order == "best" ? of < cost : of > cost) {
        cost = of;
        deviceOf = other;
      }
    } while (std::next_permutation(other.begin(), other.end()));
  }
  std::vector<hpl::Device> ordered;
  for (const int device : deviceOf) ordered.push_back(all[static_cast<std::size_t>(device)]);
  return ordered;
}

/// Mean seconds of a step of the kernel.
double measureSteps(std::size_t side, int times, const std::string& order) {
  using namespace hpl;
  using Clock = std::chrono::steady_clock;
  const std::array<int, 3> grid = gridFor(getDeviceNumber());
  const auto extent = [&](std::size_t d) { return side * static_cast<std::size_t>(grid[d]); };
  std::array<Cube, kQuantities> now, next;
  for (std::size_t q = 0; q < kQuantities; ++q) {
    now[q] = Cube(extent(0), extent(1), extent(2));
    next[q] = Cube(extent(0), extent(1), extent(2));
    now[q] = 1.0f;
    next[q] = 1.0f;
  }
  auto launch = eval(corners);
  if (order == "placed") {
    launch.devices();
  } else {
    launch.devices(inOrder(order, side, grid))
        .blocks(static_cast<std::size_t>(grid[2]), static_cast<std::size_t>(grid[1]),
                static_cast<std::size_t>(grid[0]));
  }
  double seconds = 0;
  constexpr int kBefore = 3;
  for (int i = 0; i < times + kBefore; ++i) {
    if (i == kBefore) settle();
    const auto begin = Clock::now();
    launch(next[0], next[1], next[2], next[3], now[0], now[1], now[2], now[3]);
    for (std::size_t q = 0; q < kQuantities; ++q) swap(now[q], next[q]);
    if (i + 1 == times + kBefore) settle();
    if (i >= kBefore) seconds += std::chrono::duration<double>(Clock::now() - begin).count();
  }
  return slowest(seconds / times);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string order = argc == 4 ? argv[3] : "";
  const bool isOrder =
      argc == 4 && (order == "placed" || order == "best" || order == "worst" || order == "list");
  if (argc != 3 && !isOrder) {
    std::fprintf(stderr, "hpl_node_exchange: SIDE TIMES [placed|best|worst|list]\n");
    return 2;
  }
  try {
    const Session session(argc, argv);
    const auto side = static_cast<std::size_t>(std::atoll(argv[1]));
    const int times = std::atoi(argv[2]);
    const double seconds = isOrder ? measureSteps(side, times, order) : measure(side, times);
    if (session.rank() == 0) std::printf("%.6g\n", seconds);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hpl_node_exchange: %s\n", error.what());
    return 1;
  }
  return 0;
}
