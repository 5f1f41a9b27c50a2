// SPDX-License-Identifier: Apache-2.0
#include "hpl/geometry/hierarchy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>

#include "hpl/error.h"
#include "hpl/geometry/bisection.h"
#include "hpl/geometry/block_exchanges.h"
#include "hpl/geometry/partition_checks.h"
#include "hpl/geometry/splits.h"

namespace hpl::geometry {
namespace {

using Grid = std::vector<int>;

std::size_t at(int d) { return static_cast<std::size_t>(d); }

bool hasEqualNodes(const PartitionProblem& problem) {
  const std::vector<double>& first = problem.nodes.front();
  const auto isFirst = [&](double weight) { return weight == first.front(); };
  return std::all_of(problem.nodes.begin(), problem.nodes.end(), [&](const auto& node) {
    return node.size() == first.size() && std::all_of(node.begin(), node.end(), isFirst);
  });
}

int devicesOf(const PartitionProblem& problem) {
  std::size_t devices = 0;
  for (const auto& node : problem.nodes) devices += node.size();
  return static_cast<int>(devices);
}

/// Lengths of the parts of a dimension: nodes, and the devices of each.
std::vector<Interval> partsOf(Index extent, int nodes, int devices) {
  std::vector<Interval> parts;
  for (const Interval& node : splitEven(extent, nodes))
    for (const Interval& part : splitEven(node.length(), devices))
      parts.push_back({node.lo + part.lo, node.lo + part.hi});
  return parts;
}

/// A grid of nodes, and one of devices in each of them, the last dimension varying fastest.
std::vector<Block> blocksOf(const PartitionProblem& problem, const Grid& nodes,
                            const Grid& devices) {
  const int rank = problem.domain.rank();
  std::vector<std::vector<Interval>> parts;
  parts.reserve(at(rank));
  for (int d = 0; d < rank; ++d)
    parts.push_back(partsOf(problem.domain[d], nodes[at(d)], devices[at(d)]));
  const auto product = [](const Grid& grid) {
    return std::accumulate(grid.begin(), grid.end(), 1, std::multiplies<>());
  };
  const int perNode = product(devices);
  std::vector<Block> blocks;
  for (int node = 0; node < product(nodes); ++node) {
    for (int device = 0; device < perNode; ++device) {
      Point lo = Point::filled(rank, 0), hi = lo;
      for (int d = rank - 1, n = node, e = device; d >= 0; --d) {
        const int column = n % nodes[at(d)] * devices[at(d)] + e % devices[at(d)];
        lo[d] = parts[at(d)][at(column)].lo;
        hi[d] = parts[at(d)][at(column)].hi;
        n /= nodes[at(d)];
        e /= devices[at(d)];
      }
      blocks.push_back({Box(lo, hi), node, device});
    }
  }
  return blocks;
}

/// Bytes that the parts of a grid exchange within groups, where `outer` divides the domain and
/// `inner` each group. The volumes of a grid of boxes with their halos add up to a product of sums
/// of lengths, so this takes no look at the boxes. For halos that are no wider than a part.
Index bytesWithinGroups(const PartitionProblem& problem, const Grid& outer, const Grid& inner) {
  Index bytes = 0;
  for (const HaloOfField& field : problem.fields) {
    // `own`: what a part reads of itself, across a periodic border.
    Index with = 1, own = 1;
    for (int d = 0; d < problem.domain.rank(); ++d) {
      const Index reach = field.before[d] + field.after[d];
      const bool wraps = outer[at(d)] == 1 && isPeriodic(problem, d);
      const Index borders = Index{outer[at(d)]} * (inner[at(d)] - 1) + (wraps ? 1 : 0);
      with *= problem.domain[d] + borders * reach;
      own *= problem.domain[d] + (wraps && inner[at(d)] == 1 ? reach : 0);
    }
    bytes += (with - own) * field.bytesPerCell;
  }
  return bytes;
}

Grid timesEach(const Grid& a, const Grid& b) {
  Grid product(a.size());
  std::transform(a.begin(), a.end(), b.begin(), product.begin(), std::multiplies<>());
  return product;
}

/// Calls f with each way to write `parts` as a product with one factor per dimension.
template <class F>
void forEachGrid(int parts, int rank, F&& f) {
  Grid grid(at(rank), 1);
  const auto go = [&](const auto& self, int d, int left) -> void {
    if (d + 1 == rank) {
      grid[at(d)] = left;
      f(grid);
      return;
    }
    // Large factors first: of equally good grids the first one cuts slow dimensions.
    for (int factor = left; factor >= 1; --factor) {
      if (left % factor != 0) continue;
      grid[at(d)] = factor;
      self(self, d + 1, left / factor);
    }
  };
  go(go, 0, parts);
}

/// Whether each part of each dimension has cells, and as many as its neighbours read.
bool isWideEnough(const PartitionProblem& problem, const Grid& nodes, const Grid& devices) {
  for (int d = 0; d < problem.domain.rank(); ++d) {
    const int parts = nodes[at(d)] * devices[at(d)];
    const Index least = parts == 1 ? 1 : std::max<Index>(1, widestHalo(problem, d));
    if (problem.domain[d] / nodes[at(d)] / devices[at(d)] < least) return false;
  }
  return true;
}

/// A way to divide, by what it exchanges.
struct Score {
  Index between = 0;
  Index within = 0;

  Index time() const { return kNodeLinkSpeed * between + within; }
  bool isLess(const Score& other) const {
    return time() != other.time() ? time() < other.time() : between < other.between;
  }
};

Score scoreOf(const PartitionProblem& problem, const Grid& nodes, const Grid& devices) {
  const Grid one(nodes.size(), 1);
  const Index all = bytesWithinGroups(problem, one, timesEach(nodes, devices));
  const Index within = bytesWithinGroups(problem, nodes, devices);
  return {all - within, within};
}

Hierarchy gridHierarchy(const PartitionProblem& problem, const Grid& nodes, const Grid& devices) {
  const Score score = scoreOf(problem, nodes, devices);
  return {blocksOf(problem, nodes, devices), nodes, devices, false, score.between, score.within};
}

/// Calls f(nodes, devices) for the grids of equal nodes that are wide enough.
template <class F>
void forEachPair(const PartitionProblem& problem, F&& f) {
  const int rank = problem.domain.rank();
  const int perNode = static_cast<int>(problem.nodes.front().size());
  forEachGrid(static_cast<int>(problem.nodes.size()), rank, [&](const Grid& nodes) {
    forEachGrid(perNode, rank, [&](const Grid& devices) {
      if (isWideEnough(problem, nodes, devices)) f(nodes, devices);
    });
  });
}

/// Divides the longest dimension by each prime factor in turn.
Grid gridByFactors(Extents& lengths, int parts) {
  Grid grid(at(lengths.rank()), 1);
  for (const int factor : primeFactors(parts)) {
    int longest = 0;
    for (int d = 1; d < lengths.rank(); ++d)
      if (lengths[d] > lengths[longest]) longest = d;
    lengths[longest] = std::max<Index>(1, lengths[longest] / factor);
    grid[at(longest)] *= factor;
  }
  return grid;
}

/// The grids of nodes and of devices that the paper chooses for equal nodes.
std::pair<Grid, Grid> gridsOfPaper(const PartitionProblem& problem) {
  Extents lengths = problem.domain;
  Grid nodes = gridByFactors(lengths, static_cast<int>(problem.nodes.size()));
  Grid devices = gridByFactors(lengths, static_cast<int>(problem.nodes.front().size()));
  return {std::move(nodes), std::move(devices)};
}

/// The best grids of equal nodes; nothing when none is wide enough.
std::optional<Hierarchy> bestGrids(const PartitionProblem& problem) {
  const auto [paperNodes, paperDevices] = gridsOfPaper(problem);
  const bool hasPaper = isWideEnough(problem, paperNodes, paperDevices);
  const Score paper = scoreOf(problem, paperNodes, paperDevices);
  std::optional<std::pair<Grid, Grid>> best;
  Score least;
  forEachPair(problem, [&](const Grid& nodes, const Grid& devices) {
    const Score score = scoreOf(problem, nodes, devices);
    if (hasPaper && score.between > paper.between) return;
    if (best && !score.isLess(least)) return;
    best.emplace(nodes, devices);
    least = score;
  });
  if (!best) return std::nullopt;
  return gridHierarchy(problem, best->first, best->second);
}

/// True if grids of that many parts cannot come near to cubes, so that other partitions may be
/// better.
bool isAwkward(std::size_t parts) {
  const std::vector<int> factors = primeFactors(static_cast<int>(parts));
  return !factors.empty() && factors.front() > 3;
}

/// The most that a partition may send between nodes: as much as the paper's, where that divides the
/// problem.
Index mostBetween(const PartitionProblem& problem) {
  constexpr Index kAny = std::numeric_limits<Index>::max();
  if (!hasEqualNodes(problem)) return kAny;
  const auto [nodes, devices] = gridsOfPaper(problem);
  return isWideEnough(problem, nodes, devices) ? scoreOf(problem, nodes, devices).between : kAny;
}

std::optional<Hierarchy> bestPartition(const PartitionProblem& problem);

/// The partition that knows no nodes, its blocks dealt to the nodes in their order.
std::optional<Hierarchy> dealtPartition(const PartitionProblem& problem) {
  // With more devices each node's share is near to a block in any case.
  constexpr int kMost = 256;
  if (problem.nodes.size() == 1 || devicesOf(problem) > kMost) return std::nullopt;
  PartitionProblem flat = problem;
  flat.nodes.assign(1, {});
  std::vector<std::pair<int, int>> places;
  for (std::size_t node = 0; node < problem.nodes.size(); ++node) {
    for (std::size_t device = 0; device < problem.nodes[node].size(); ++device) {
      flat.nodes.front().push_back(problem.nodes[node][device]);
      places.emplace_back(static_cast<int>(node), static_cast<int>(device));
    }
  }
  std::optional<Hierarchy> dealt = bestPartition(flat);
  if (!dealt) return dealt;
  dealt->nodeGrid.clear();
  dealt->deviceGrid.clear();
  dealt->isDealt = true;
  for (std::size_t i = 0; i < places.size(); ++i)
    std::tie(dealt->blocks[i].node, dealt->blocks[i].device) = places[i];
  sumExchanges(problem, *dealt);
  return dealt;
}

std::optional<Hierarchy> bestPartition(const PartitionProblem& problem) {
  std::optional<Hierarchy> best;
  if (hasEqualNodes(problem)) best = bestGrids(problem);
  const bool isEven =
      best && !isAwkward(problem.nodes.size()) && !isAwkward(problem.nodes.front().size());
  const Index most = mostBetween(problem);
  const auto offer = [&](std::optional<Hierarchy> other) {
    const bool isBetter =
        other && (!best || (other->time() < best->time() && other->bytesBetweenNodes <= most));
    if (isBetter) best = std::move(other);
  };
  if (!isEven) offer(halvedPartition(problem));
  offer(dealtPartition(problem));
  return best;
}

/// Says why there is no partition.
[[noreturn]] void refuse(const PartitionProblem& problem) {
  PartitionProblem withoutHalos = problem;
  withoutHalos.fields.clear();
  const std::optional<Hierarchy> narrow = bestPartition(withoutHalos);
  const std::string domain = Box::ofExtents(problem.domain).toString();
  if (narrow) {
    for (const Block& block : narrow->blocks)
      for (int d = 0; d < problem.domain.rank(); ++d)
        if (const Index halo = widestHalo(problem, d);
            block.cells.extent(d) < problem.domain[d] && block.cells.extent(d) < halo)
          throw ArgumentError(fmt::format(
              "partition: {} devices leave device {} of node {} the block {} of the domain {}, and "
              "a "
              "halo of {} cells in dimension {} is wider than it; use fewer devices, or a larger "
              "domain",
              narrow->blocks.size(), block.device, block.node, block.cells.toString(), domain, halo,
              d));
  }
  throw ArgumentError(
      fmt::format("partition: {} devices cannot each get a block of the domain {} that is as wide "
                  "as the halos; "
                  "use fewer devices, or a larger domain",
                  devicesOf(problem), domain));
}

std::string sizeOf(Index bytes) {
  constexpr std::array<const char*, 4> kUnits = {"bytes", "kB", "MB", "GB"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (amount >= 1000 && unit + 1 < kUnits.size()) {
    amount /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} bytes", bytes)
                   : fmt::format("{:.1f} {}", amount, kUnits[unit]);
}

}  // namespace

std::vector<int> primeFactors(int number) {
  if (number < 1)
    throw ArgumentError(fmt::format("prime factors of {}: the number must be 1 or more", number));
  std::vector<int> factors;
  for (int factor = 2; factor * factor <= number; ++factor) {
    for (; number % factor == 0; number /= factor) factors.push_back(factor);
  }
  if (number > 1) factors.push_back(number);
  std::reverse(factors.begin(), factors.end());
  return factors;
}

Index Hierarchy::time() const noexcept {
  return kNodeLinkSpeed * bytesBetweenNodes + bytesWithinNodes;
}

Hierarchy partitionAsInPaper(const PartitionProblem& problem) {
  checkProblem(problem);
  if (!hasEqualNodes(problem))
    throw ArgumentError(
        "partition as in the paper: the nodes need equally many devices of equal weights; "
        "partition() divides among others");
  const auto [nodes, devices] = gridsOfPaper(problem);
  if (!isWideEnough(problem, nodes, devices)) refuse(problem);
  return gridHierarchy(problem, nodes, devices);
}

Hierarchy partition(const PartitionProblem& problem) {
  checkProblem(problem);
  std::optional<Hierarchy> best = bestPartition(problem);
  if (!best) refuse(problem);
  return *std::move(best);
}

std::vector<Hierarchy> gridPartitions(const PartitionProblem& problem) {
  checkProblem(problem);
  std::vector<Hierarchy> all;
  if (!hasEqualNodes(problem)) return all;
  forEachPair(problem, [&](const Grid& nodes, const Grid& devices) {
    all.push_back(gridHierarchy(problem, nodes, devices));
  });
  return all;
}

std::vector<Index> exchangedBytes(const PartitionProblem& problem,
                                  const std::vector<Block>& blocks) {
  std::vector<Index> bytes(blocks.size() * blocks.size(), 0);
  forEachExchange(problem, blocks, [&](int to, int from, Index some) {
    bytes[at(to) * blocks.size() + at(from)] += some;
  });
  return bytes;
}

std::string describe(const Hierarchy& hierarchy) {
  int nodes = 0;
  for (const Block& block : hierarchy.blocks) nodes = std::max(nodes, block.node + 1);
  const std::size_t devices = hierarchy.blocks.size();
  const auto counted = [](auto n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  std::string text;
  if (hierarchy.nodeGrid.empty()) {
    text = fmt::format("{}, {} in all, {}", counted(nodes, "node"), counted(devices, "device"),
                       hierarchy.isDealt ? "dealt in order" : "halved repeatedly");
  } else {
    text = fmt::format("{} as {}, {} each as {}", counted(nodes, "node"),
                       fmt::join(hierarchy.nodeGrid, " x "),
                       counted(devices / static_cast<std::size_t>(nodes), "device"),
                       fmt::join(hierarchy.deviceGrid, " x "));
  }
  return fmt::format("{}: {} between nodes, {} within, per exchange", text,
                     sizeOf(hierarchy.bytesBetweenNodes), sizeOf(hierarchy.bytesWithinNodes));
}

}  // namespace hpl::geometry
