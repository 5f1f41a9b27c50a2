// SPDX-License-Identifier: Apache-2.0
#include "hpl/geometry/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "hpl/error.h"

namespace hpl::geometry {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
/// Sums of the same terms in another order differ in their last bits: that is a tie.
constexpr double kTie = 1e-12;
/// Beginnings of the search by exchanges, besides the identity and those of another method: as many
/// as take a few tenths of a second, or a tenth of that. A look at all pairs costs the cube of
/// their number.
int beginningsFor(int blocks, bool hasOthers) {
  const double steps = hasOthers ? 2e6 : 2e7;
  return static_cast<int>(std::clamp(steps / std::pow(blocks, 3), 1.0, 100.0));
}

std::size_t slot(int i) { return static_cast<std::size_t>(i); }

/// Nothing flows at any distance for nothing, at an infinite one too.
double term(double flow, double distance) { return flow == 0 ? 0 : flow * distance; }

void check(const SquareMatrix& flow, const SquareMatrix& distance) {
  if (flow.size() < 1 || flow.size() != distance.size())
    throw ArgumentError(
        fmt::format("placement: {} blocks on {} devices; both need the same number, 1 or more",
                    flow.size(), distance.size()));
  for (int i = 0; i < flow.size(); ++i) {
    for (int j = 0; j < flow.size(); ++j) {
      if (!(flow(i, j) >= 0) || std::isinf(flow(i, j)))
        throw ArgumentError(fmt::format(
            "placement: the flow from block {} to {} is {}; it must be a number, 0 or more", j, i,
            flow(i, j)));
      if (!(distance(i, j) >= 0))
        throw ArgumentError(
            fmt::format("placement: the distance from device {} to {} is {}; it must be 0 or more",
                        j, i, distance(i, j)));
    }
  }
}

void checkBeginning(const std::vector<int>& deviceOf, int size) {
  std::vector<char> isTaken(slot(size), 0);
  for (const int device : deviceOf)
    if (device >= 0 && device < size) isTaken[slot(device)] = 1;
  if (deviceOf.size() != isTaken.size() ||
      std::find(isTaken.begin(), isTaken.end(), 0) != isTaken.end())
    throw ArgumentError(
        fmt::format("placement: a beginning gives {} blocks to devices; it must give each of {} "
                    "blocks a device of its own",
                    deviceOf.size(), size));
}

constexpr std::size_t kMost = static_cast<std::size_t>(kMostPlacedExactly);
/// Fixed sizes: the exact search visits about a thousand nodes and must not allocate in any.
using Table = std::array<std::array<double, kMost>, kMost>;
using Numbers = std::array<std::size_t, kMost>;

/// The cheapest assignment of rows to columns, and prices: no cost is less than the price of its
/// row and of its column together, and those assigned are equal to it.
struct Assignment {
  double cost = 0;
  Numbers columnOf{};
  std::array<double, kMost> rowPrice{}, columnPrice{};
};

/// The Hungarian method, by shortest augmenting paths, for n rows and columns of finite costs.
Assignment assign(const Table& cost, std::size_t n) {
  // Row and column 0 are none: a column of row 0 is free.
  std::array<double, kMost + 1> u{}, v{};
  std::array<std::size_t, kMost + 1> rowOf{}, previous{};
  for (std::size_t row = 1; row <= n; ++row) {
    std::array<double, kMost + 1> slack;
    slack.fill(kInfinite);
    std::array<bool, kMost + 1> isReached{};
    rowOf[0] = row;
    std::size_t column = 0;
    do {
      isReached[column] = true;
      const std::size_t from = rowOf[column];
      std::size_t next = 0;
      double step = kInfinite;
      for (std::size_t j = 1; j <= n; ++j) {
        if (isReached[j]) continue;
        const double reduced = cost[from - 1][j - 1] - u[from] - v[j];
        if (reduced < slack[j]) {
          slack[j] = reduced;
          previous[j] = column;
        }
        if (slack[j] < step) {
          step = slack[j];
          next = j;
        }
      }
      for (std::size_t j = 0; j <= n; ++j) {
        if (isReached[j]) {
          u[rowOf[j]] += step;
          v[j] -= step;
        } else {
          slack[j] -= step;
        }
      }
      column = next;
    } while (rowOf[column] != 0);
    for (; column != 0; column = previous[column]) rowOf[column] = rowOf[previous[column]];
  }
  Assignment made;
  for (std::size_t j = 1; j <= n; ++j) {
    made.columnOf[rowOf[j] - 1] = j - 1;
    made.cost += cost[rowOf[j] - 1][j - 1];
    made.rowPrice[j - 1] = u[j];
    made.columnPrice[j - 1] = v[j];
  }
  return made;
}

/// Branch and bound with the bound of Gilmore and Lawler: the largest flows of a block over the
/// shortest distances of a device are the least that the block costs there, and the cheapest
/// assignment of such costs is the least that all blocks cost. The prices of that assignment tell
/// which block to place next and which of its devices need no look.
class ExactSearch {
 public:
  ExactSearch(const SquareMatrix& flow, const SquareMatrix& distance, Placement begin)
      : flow_(flow), distance_(distance), n_(slot(flow.size())), best_(std::move(begin)) {
    copyValues();
    sortNeighbours();
    findTwins();
  }

  Placement run() {
    Node root;
    root.count = n_;
    std::iota(root.blocks.begin(), root.blocks.end(), std::size_t{0});
    std::iota(root.devices.begin(), root.devices.end(), std::size_t{0});
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t d = 0; d < n_; ++d) root.placedCost[i][d] = flow(i, i) * distance(d, d);
    deviceOf_.assign(n_, 0);
    go(root);
    // From the largest ceiling on, costs are cut that are real: nothing is proved.
    best_.isExact = ceiling_ < kLargest;
    return best_;
  }

 private:
  /// Blocks and devices that are still to be joined.
  struct Node {
    std::size_t count = 0;
    Numbers blocks{}, devices{};
    /// Costs of the blocks that are placed.
    double cost = 0;
    /// Costs of a block on a device, with itself and with the blocks that are placed.
    Table placedCost{};
  };
  /// The others of a block or device, by their flows or distances from it and to it.
  using Neighbours = std::array<Numbers, kMost>;
  /// The product of two is still finite.
  static constexpr double kLargest = 1e150;

  double flow(std::size_t i, std::size_t j) const { return flows_[i][j]; }
  double distance(std::size_t d, std::size_t e) const { return ways_[d][e]; }

  /// Infinite distances become so long that the least flow over one costs more than the ceiling:
  /// products need no case for 0 times infinite.
  void copyValues() {
    double all = 0, farthest = 0, leastFlow = kInfinite;
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < n_; ++j) {
        flows_[i][j] = flow_(static_cast<int>(i), static_cast<int>(j));
        ways_[i][j] = distance_(static_cast<int>(i), static_cast<int>(j));
        all += flows_[i][j];
        if (flows_[i][j] > 0) leastFlow = std::min(leastFlow, flows_[i][j]);
        if (!std::isinf(ways_[i][j])) farthest = std::max(farthest, ways_[i][j]);
      }
    }
    ceiling_ = std::min(2 * all * farthest + 1, kLargest);
    for (auto& row : ways_)
      for (double& way : row)
        if (std::isinf(way)) way = std::min(2 * ceiling_ / leastFlow, kLargest);
  }

  double limit() const { return std::min(best_.cost * (1 - kTie), ceiling_); }

  void sortNeighbours() {
    for (std::size_t i = 0; i < n_; ++i) {
      const auto sortBy = [&](Numbers& numbers, auto&& comesBefore) {
        std::iota(numbers.begin(), numbers.end(), std::size_t{0});
        std::sort(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(n_), comesBefore);
      };
      sortBy(flowsFrom_[i], [&](auto a, auto b) { return flow(i, a) > flow(i, b); });
      sortBy(flowsTo_[i], [&](auto a, auto b) { return flow(a, i) > flow(b, i); });
      sortBy(waysFrom_[i], [&](auto a, auto b) { return distance(i, a) < distance(i, b); });
      sortBy(waysTo_[i], [&](auto a, auto b) { return distance(a, i) < distance(b, i); });
    }
  }

  /// Twins are devices that may change places: the distances stay as they are.
  void findTwins() {
    for (std::size_t d = 0; d < n_; ++d) {
      for (std::size_t e = 0; e < n_; ++e) {
        bool isTwin = distance(d, d) == distance(e, e) && distance(d, e) == distance(e, d);
        for (std::size_t f = 0; f < n_; ++f)
          if (f != d && f != e)
            isTwin = isTwin && distance(d, f) == distance(e, f) && distance(f, d) == distance(f, e);
        isTwin_[d][e] = isTwin;
      }
    }
  }

  /// The flows (or distances) of those that are left, in their order, without the block's own.
  template <class Value>
  static Table leftOf(const Numbers& left, std::size_t count, const Neighbours& neighbours,
                      Value value) {
    std::array<bool, kMost> isLeft{};
    for (std::size_t r = 0; r < count; ++r) isLeft[left[r]] = true;
    Table sorted{};
    for (std::size_t r = 0; r < count; ++r) {
      std::size_t filled = 0;
      for (std::size_t k = 0; filled + 1 < count; ++k) {
        const std::size_t other = neighbours[left[r]][k];
        if (isLeft[other] && other != left[r]) sorted[r][filled++] = value(left[r], other);
      }
    }
    return sorted;
  }

  /// The least cost of each block that is left on each device that is left. Half of a flow counts
  /// where it leaves and half where it arrives. Costs from the limit on are cut to it: whatever
  /// needs one is no better than the best, and the assignment takes no infinite ones.
  Table leastCosts(const Node& node) const {
    const std::size_t m = node.count;
    const auto flowFrom = [&](auto i, auto j) { return flow(i, j); };
    const auto flowTo = [&](auto i, auto j) { return flow(j, i); };
    const auto wayFrom = [&](auto d, auto e) { return distance(d, e); };
    const auto wayTo = [&](auto d, auto e) { return distance(e, d); };
    const Table flowsFrom = leftOf(node.blocks, m, flowsFrom_, flowFrom);
    const Table flowsTo = leftOf(node.blocks, m, flowsTo_, flowTo);
    const Table waysFrom = leftOf(node.devices, m, waysFrom_, wayFrom);
    const Table waysTo = leftOf(node.devices, m, waysTo_, wayTo);
    const double cut = std::min(best_.cost, ceiling_);
    Table least{};
    for (std::size_t r = 0; r < m; ++r) {
      for (std::size_t c = 0; c < m; ++c) {
        double twice = 0;
        for (std::size_t k = 0; k + 1 < m; ++k)
          twice += flowsFrom[r][k] * waysFrom[c][k] + flowsTo[r][k] * waysTo[c][k];
        least[r][c] = std::min(node.placedCost[node.blocks[r]][node.devices[c]] + twice / 2, cut);
      }
    }
    return least;
  }

  void takeIfBetter(const Node& node, const Assignment& assignment) {
    std::vector<int> deviceOf = deviceOf_;
    for (std::size_t r = 0; r < node.count; ++r)
      deviceOf[node.blocks[r]] = static_cast<int>(node.devices[assignment.columnOf[r]]);
    const double cost = placementCost(flow_, distance_, deviceOf);
    if (!(cost < best_.cost * (1 - kTie))) return;
    best_.deviceOf = std::move(deviceOf);
    best_.cost = cost;
  }

  void go(const Node& node) {
    const Table least = leastCosts(node);
    const Assignment assignment = assign(least, node.count);
    const double bound = node.cost + assignment.cost;
    if (!(bound < limit())) return;
    takeIfBetter(node, assignment);
    // The bound of two blocks is their cost.
    if (node.count <= 2) return;
    const auto boundWith = [&](std::size_t r, std::size_t c) {
      return bound +
             std::max(0.0, least[r][c] - assignment.rowPrice[r] - assignment.columnPrice[c]);
    };
    std::size_t row = 0;
    double most = -1;
    for (std::size_t r = 0; r < node.count; ++r) {
      double sum = 0;
      for (std::size_t c = 0; c < node.count; ++c)
        sum += std::min(boundWith(r, c), limit()) - bound;
      if (sum > most) {
        most = sum;
        row = r;
      }
    }
    Numbers columns{};
    std::iota(columns.begin(), columns.end(), std::size_t{0});
    std::stable_sort(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(node.count),
                     [&](auto a, auto b) { return boundWith(row, a) < boundWith(row, b); });
    for (std::size_t k = 0; k < node.count; ++k)
      if (boundWith(row, columns[k]) < limit() && !hasEarlierTwin(node, columns[k]))
        go(with(node, row, columns[k]));
  }

  bool hasEarlierTwin(const Node& node, std::size_t column) const {
    for (std::size_t c = 0; c < column; ++c)
      if (isTwin_[node.devices[c]][node.devices[column]]) return true;
    return false;
  }

  /// The node after block number `row` of those left went to device number `column`.
  Node with(const Node& node, std::size_t row, std::size_t column) {
    const std::size_t block = node.blocks[row], device = node.devices[column];
    deviceOf_[block] = static_cast<int>(device);
    Node child = node;
    child.cost += node.placedCost[block][device];
    --child.count;
    // Order is kept: of twins the first in the list is looked at.
    std::copy(node.blocks.begin() + static_cast<std::ptrdiff_t>(row) + 1, node.blocks.end(),
              child.blocks.begin() + static_cast<std::ptrdiff_t>(row));
    std::copy(node.devices.begin() + static_cast<std::ptrdiff_t>(column) + 1, node.devices.end(),
              child.devices.begin() + static_cast<std::ptrdiff_t>(column));
    for (std::size_t r = 0; r < child.count; ++r) {
      for (std::size_t c = 0; c < child.count; ++c) {
        const std::size_t i = child.blocks[r], d = child.devices[c];
        child.placedCost[i][d] +=
            flow(i, block) * distance(d, device) + flow(block, i) * distance(device, d);
      }
    }
    return child;
  }

  const SquareMatrix& flow_;
  const SquareMatrix& distance_;
  std::size_t n_;
  Placement best_;
  Table flows_{}, ways_{};
  /// More than any placement costs that needs no infinite distance.
  double ceiling_ = 0;
  Neighbours flowsFrom_{}, flowsTo_{}, waysFrom_{}, waysTo_{};
  std::array<std::array<bool, kMost>, kMost> isTwin_{};
  std::vector<int> deviceOf_;
};

/// Exchanges the devices of pairs of blocks as long as that makes it cheaper.
void improveByExchanges(const SquareMatrix& flow, const SquareMatrix& distance,
                        Placement& placement) {
  std::vector<int>& deviceOf = placement.deviceOf;
  const int n = flow.size();
  const auto costOfPair = [&](int a, int b) {
    double cost = 0;
    for (int i = 0; i < n; ++i) {
      const int d = deviceOf[slot(i)];
      for (const int block : {a, b}) {
        const int own = deviceOf[slot(block)];
        cost += term(flow(block, i), distance(own, d));
        if (i != a && i != b) cost += term(flow(i, block), distance(d, own));
      }
    }
    return cost;
  };
  for (bool isBetter = true; isBetter;) {
    isBetter = false;
    for (int a = 0; a < n; ++a) {
      for (int b = a + 1; b < n; ++b) {
        const double before = costOfPair(a, b);
        std::swap(deviceOf[slot(a)], deviceOf[slot(b)]);
        if (costOfPair(a, b) < before * (1 - kTie)) {
          isBetter = true;
        } else {
          std::swap(deviceOf[slot(a)], deviceOf[slot(b)]);
        }
      }
    }
  }
  placement.cost = placementCost(flow, distance, deviceOf);
}

/// The best that exchanges lead to: from the identity, from `given` and from `beginnings` others;
/// the identity itself where none costs less.
Placement bestByExchanges(const SquareMatrix& flow, const SquareMatrix& distance,
                          const Placement& identity, std::span<const std::vector<int>> given,
                          int beginnings) {
  Placement best = identity;
  improveByExchanges(flow, distance, best);
  const auto tryFrom = [&](Placement other) {
    improveByExchanges(flow, distance, other);
    if (other.cost < best.cost * (1 - kTie)) best = std::move(other);
  };
  for (const std::vector<int>& deviceOf : given) tryFrom({deviceOf, 0});
  std::mt19937 random(1);
  for (int beginning = 0; beginning < beginnings; ++beginning) {
    Placement other = identity;
    // Not std::shuffle, which libraries do in their own ways.
    for (std::size_t i = other.deviceOf.size() - 1; i > 0; --i)
      std::swap(other.deviceOf[i], other.deviceOf[random() % (i + 1)]);
    tryFrom(std::move(other));
  }
  return best.cost < identity.cost * (1 - kTie) ? best : identity;
}

}  // namespace

SquareMatrix::SquareMatrix(int size, std::vector<double> values)
    : size_(size), values_(std::move(values)) {
  if (size < 0 || values_.size() != cells(size))
    throw ArgumentError(fmt::format("a square matrix of {} rows has {} values; it needs {}", size,
                                    values_.size(), size < 0 ? 0 : cells(size)));
}

double placementCost(const SquareMatrix& flow, const SquareMatrix& distance,
                     std::span<const int> deviceOf) {
  double cost = 0;
  for (int i = 0; i < flow.size(); ++i)
    for (int j = 0; j < flow.size(); ++j)
      cost += term(flow(i, j), distance(deviceOf[slot(i)], deviceOf[slot(j)]));
  return cost;
}

Placement place(const SquareMatrix& flow, const SquareMatrix& distance,
                std::span<const std::vector<int>> beginnings) {
  check(flow, distance);
  for (const std::vector<int>& beginning : beginnings) checkBeginning(beginning, flow.size());
  Placement identity;
  identity.deviceOf.resize(slot(flow.size()));
  std::iota(identity.deviceOf.begin(), identity.deviceOf.end(), 0);
  identity.cost = placementCost(flow, distance, identity.deviceOf);
  if (flow.size() <= kMostPlacedExactly) {
    // A good beginning cuts most branches: a few exchanges cost less than the search saves.
    constexpr int kBeginnings = 3;
    return ExactSearch(flow, distance,
                       bestByExchanges(flow, distance, identity, beginnings, kBeginnings))
        .run();
  }
  return bestByExchanges(flow, distance, identity, beginnings,
                         beginningsFor(flow.size(), !beginnings.empty()));
}

}  // namespace hpl::geometry
