// SPDX-License-Identifier: Apache-2.0
#include "hpl/geometry/placement.h"

#include <fmt/format.h>

#include <algorithm>
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
/// Beginnings of the search by exchanges, besides the identity: as many as take about a tenth of a
/// second. A look at all pairs costs the cube of their number.
int beginningsFor(int blocks) {
  constexpr double kSteps = 2e7;
  return static_cast<int>(std::clamp(kSteps / std::pow(blocks, 3), 1.0, 100.0));
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

/// What block i costs on device d, with itself and with the blocks that are placed before.
double costOfNext(const SquareMatrix& flow, const SquareMatrix& distance,
                  const std::vector<int>& deviceOf, int i, int d) {
  double cost = term(flow(i, i), distance(d, d));
  for (int j = 0; j < i; ++j) {
    const int other = deviceOf[slot(j)];
    cost += term(flow(i, j), distance(d, other)) + term(flow(j, i), distance(other, d));
  }
  return cost;
}

/// Branch and bound: blocks are placed in their order; a branch ends when what it costs so far,
/// and the least that the flow among the blocks to come can cost, is no less than the best known.
class ExactSearch {
 public:
  ExactSearch(const SquareMatrix& flow, const SquareMatrix& distance, Placement begin)
      : flow_(flow), distance_(distance), best_(std::move(begin)) {
    const int n = flow.size();
    double nearest = kInfinite;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        if (i != j) nearest = std::min(nearest, distance(i, j));
    if (n == 1) nearest = 0;
    rest_.assign(slot(n) + 1, 0);
    for (int i = n - 1; i >= 0; --i) {
      double among = 0;
      for (int j = 0; j < n; ++j)
        if (j < i) among += flow(i, j) + flow(j, i);
      rest_[slot(i)] = rest_[slot(i) + 1] + term(among, nearest);
    }
    deviceOf_.assign(slot(n), 0);
    isTaken_.assign(slot(n), false);
  }

  Placement run() {
    go(0, 0);
    best_.isExact = true;
    return best_;
  }

 private:
  void go(int i, double cost) {
    if (!(cost + rest_[slot(i)] < best_.cost * (1 - kTie))) return;
    if (i == flow_.size()) {
      best_.deviceOf = deviceOf_;
      best_.cost = cost;
      return;
    }
    for (int d = 0; d < flow_.size(); ++d) {
      if (isTaken_[slot(d)]) continue;
      isTaken_[slot(d)] = true;
      deviceOf_[slot(i)] = d;
      go(i + 1, cost + costOfNext(flow_, distance_, deviceOf_, i, d));
      isTaken_[slot(d)] = false;
    }
  }

  const SquareMatrix& flow_;
  const SquareMatrix& distance_;
  Placement best_;
  /// The least that blocks from i on can cost with each other and with those before.
  std::vector<double> rest_;
  std::vector<int> deviceOf_;
  std::vector<bool> isTaken_;
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

Placement place(const SquareMatrix& flow, const SquareMatrix& distance) {
  check(flow, distance);
  Placement identity;
  identity.deviceOf.resize(slot(flow.size()));
  std::iota(identity.deviceOf.begin(), identity.deviceOf.end(), 0);
  identity.cost = placementCost(flow, distance, identity.deviceOf);
  if (flow.size() <= kMostPlacedExactly) return ExactSearch(flow, distance, identity).run();
  Placement best = identity;
  improveByExchanges(flow, distance, best);
  std::mt19937 random(1);
  for (int beginning = 0; beginning < beginningsFor(flow.size()); ++beginning) {
    Placement other = identity;
    // Not std::shuffle, which libraries do in their own ways.
    for (int i = flow.size() - 1; i > 0; --i)
      std::swap(other.deviceOf[slot(i)], other.deviceOf[random() % (slot(i) + 1)]);
    improveByExchanges(flow, distance, other);
    if (other.cost < best.cost * (1 - kTie)) best = std::move(other);
  }
  return best;
}

}  // namespace hpl::geometry
