// SPDX-License-Identifier: Apache-2.0
#include "hpl/geometry/bisection.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "hpl/geometry/block_exchanges.h"

namespace hpl::geometry {
namespace {

/// Halves lists of nodes or devices, and the box that they share.
class Bisection {
 public:
  explicit Bisection(const PartitionProblem& problem) : problem_(problem) {}

  /// Nothing when some device would get too few cells.
  std::optional<Hierarchy> divide() {
    std::vector<double> weights;
    std::vector<int> devices;
    for (const std::vector<double>& node : problem_.nodes) {
      weights.push_back(std::accumulate(node.begin(), node.end(), 0.0));
      devices.push_back(static_cast<int>(node.size()));
    }
    Hierarchy result;
    const auto divideNode = [&](const Box& box, std::size_t node) {
      const std::vector<int> ones(problem_.nodes[node].size(), 1);
      return halve(
          box, problem_.nodes[node], ones, 0, ones.size(),
          [&](const Box& cells, std::size_t device) {
            result.blocks.push_back({cells, static_cast<int>(node), static_cast<int>(device)});
            return true;
          });
    };
    if (!halve(Box::ofExtents(problem_.domain), weights, devices, 0, weights.size(), divideNode))
      return std::nullopt;
    sumExchanges(problem_, result);
    return result;
  }

 private:
  /// Divides `box` among the sharers from `begin` to `end`, `devices` of them in each, and calls
  /// f(box, sharer) for each.
  template <class F>
  bool halve(const Box& box, const std::vector<double>& weights, const std::vector<int>& devices,
             std::size_t begin, std::size_t end, F&& f) {
    if (end - begin == 1) return f(box, begin);
    const auto weigh = [&](std::size_t from, std::size_t to) {
      return std::accumulate(weights.begin() + static_cast<std::ptrdiff_t>(from),
                             weights.begin() + static_cast<std::ptrdiff_t>(to), 0.0);
    };
    const double all = weigh(begin, end);
    std::size_t middle = begin + 1;
    while (middle + 1 < end &&
           std::abs(2 * weigh(begin, middle + 1) - all) < std::abs(2 * weigh(begin, middle) - all))
      ++middle;
    const double share = weigh(begin, middle) / all;
    const auto count = [&](std::size_t from, std::size_t to) {
      return std::accumulate(devices.begin() + static_cast<std::ptrdiff_t>(from),
                             devices.begin() + static_cast<std::ptrdiff_t>(to), Index{0});
    };
    const auto cut = bestCut(box, share, count(begin, middle), count(middle, end));
    if (!cut) return false;
    const auto [d, place] = *cut;
    return halve(box.withRange(d, box.lo(d), place), weights, devices, begin, middle, f) &&
           halve(box.withRange(d, place, box.hi(d)), weights, devices, middle, end, f);
  }

  /// The dimension and the place of the cut with the smallest interface; of equal ones the slower
  /// dimension. Nothing when no cut leaves enough cells on both sides.
  std::optional<std::pair<int, Index>> bestCut(const Box& box, double share, Index first,
                                               Index second) const {
    std::optional<std::pair<int, Index>> best;
    Index least = 0;
    for (int d = 0; d < box.rank(); ++d) {
      const Index width = std::max<Index>(1, widestHalo(problem_, d));
      const Index length = box.extent(d), area = box.volume() / length;
      const Index low = std::max(width, (first + area - 1) / area);
      const Index high = length - std::max(width, (second + area - 1) / area);
      if (low > high) continue;
      const auto wanted = static_cast<Index>(std::llround(static_cast<double>(length) * share));
      const Index bytes = interfaceBytes(box, d);
      if (best && bytes >= least) continue;
      best.emplace(d, box.lo(d) + std::clamp(wanted, low, high));
      least = bytes;
    }
    return best;
  }

  /// Bytes that a cut across dimension d adds to an exchange.
  Index interfaceBytes(const Box& box, int d) const {
    const bool isWhole = box.extent(d) == problem_.domain[d];
    Index perCell = 0;
    for (const HaloOfField& field : problem_.fields)
      perCell += (field.before[d] + field.after[d]) * field.bytesPerCell;
    return perCell * (box.volume() / box.extent(d)) * (isWhole && isPeriodic(problem_, d) ? 2 : 1);
  }

  const PartitionProblem& problem_;
};

}  // namespace

std::optional<Hierarchy> halvedPartition(const PartitionProblem& problem) {
  return Bisection(problem).divide();
}

}  // namespace hpl::geometry
