// SPDX-License-Identifier: Apache-2.0
#include "hpl/topology/graph_mapping.h"

#ifdef HPL_WITH_SCOTCH

// scotch.h uses these without including them.
#include <cstdint>
#include <cstdio>

extern "C" {
#include <scotch/scotch.h>
}

#include <algorithm>
#include <cmath>
#include <limits>

namespace hpl::topology {
namespace {

using geometry::SquareMatrix;

/// Scotch's objects: made by `Init`, released by `Exit`.
template <class Object, int (*Init)(Object*), void (*Exit)(Object*)>
class Owned {
 public:
  Owned() { isMade_ = Init(&object_) == 0; }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (isMade_) Exit(&object_);
  }
  bool isMade() const { return isMade_; }
  Object* get() { return &object_; }

 private:
  Object object_{};
  bool isMade_ = false;
};
using Graph = Owned<SCOTCH_Graph, SCOTCH_graphInit, SCOTCH_graphExit>;
using Architecture = Owned<SCOTCH_Arch, SCOTCH_archInit, SCOTCH_archExit>;
using Strategy = Owned<SCOTCH_Strat, SCOTCH_stratInit, SCOTCH_stratExit>;

void exitContext(SCOTCH_Context* context) { SCOTCH_contextExit(context); }
using Context = Owned<SCOTCH_Context, SCOTCH_contextInit, exitContext>;

/// The bytes that pass between two, in either direction, in whole numbers; the graph refers to the
/// arrays.
struct Edges {
  std::vector<SCOTCH_Num> begin, to, load;

  /// `isComplete`: pairs of the value 0 have an edge, too.
  Edges(const SquareMatrix& matrix, bool isComplete) {
    const int n = matrix.size();
    double least = std::numeric_limits<double>::infinity(), most = 0;
    const auto between = [&](int i, int j) { return matrix(i, j) + matrix(j, i); };
    forEachPair(n, [&](int i, int j) {
      const double value = between(i, j);
      if (!(value > 0) || std::isinf(value)) return;
      least = std::min(least, value);
      most = std::max(most, value);
    });
    // The sum of all loads is a number of Scotch; values far below the largest count as equal.
    const double range = std::min(1000.0, std::ldexp(1.0, 24) / n / n);
    const double unit = std::max(least, most / range);
    for (int i = 0; i < n; ++i) {
      begin.push_back(static_cast<SCOTCH_Num>(to.size()));
      for (int j = 0; j < n; ++j) {
        const double value = between(i, j);
        if (i == j || (value == 0 && !isComplete)) continue;
        to.push_back(j);
        load.push_back(loadOf(most > 0 ? value / unit : 0, range));
      }
    }
    begin.push_back(static_cast<SCOTCH_Num>(to.size()));
  }

  bool makes(Graph& graph) const {
    return graph.isMade() &&
           SCOTCH_graphBuild(graph.get(), 0, static_cast<SCOTCH_Num>(begin.size()) - 1,
                             begin.data(), nullptr, nullptr, nullptr,
                             static_cast<SCOTCH_Num>(to.size()), to.data(), load.data()) == 0;
  }

 private:
  template <class F>
  static void forEachPair(int size, F&& f) {
    for (int i = 0; i < size; ++i)
      for (int j = i + 1; j < size; ++j) f(i, j);
  }

  static SCOTCH_Num loadOf(double units, double range) {
    constexpr double kSteps = 10;
    const double most = 2 * kSteps * range;  // twice as far as the farthest: no path
    return static_cast<SCOTCH_Num>(std::clamp(std::round(kSteps * units), 1.0, most));
  }
};

/// One thread and a seed of its own: the same result each time, on all ranks.
bool isRepeatable(Context& context) {
  if (!context.isMade() || SCOTCH_contextThreadSpawn(context.get(), 1, nullptr) != 0 ||
      SCOTCH_contextOptionSetNum(context.get(), SCOTCH_OPTIONNUMDETERMINISTIC, 1) != 0)
    return false;
  SCOTCH_contextRandomSeed(context.get(), 1);
  return true;
}

/// Architectures are bisected by the library's own context, which has a thread for each core, and
/// its multilevel method gives now one result, now another there. This strategy has no such method:
/// the best of ten greedy beginnings, refined, and an exact balance where a half would be empty.
bool isSetForOneThread(Strategy& strategy) {
  return strategy.isMade() &&
         SCOTCH_stratGraphBipart(
             strategy.get(), "h{pass=10}f{move=100,bal=0.05}(/((load0=load)|(load0=0))?x;)") == 0;
}

/// Scotch may give a device several blocks: all but the first of them go to devices without any.
std::vector<int> permutationOf(const std::vector<SCOTCH_Num>& mapped) {
  const std::size_t n = mapped.size();
  std::vector<char> isTaken(n, 0);
  std::vector<int> deviceOf(n, -1);
  for (std::size_t block = 0; block < n; ++block) {
    const auto device = static_cast<std::size_t>(mapped[block]);
    if (mapped[block] < 0 || device >= n || isTaken[device] != 0) continue;
    isTaken[device] = 1;
    deviceOf[block] = static_cast<int>(device);
  }
  std::size_t next = 0;
  for (int& device : deviceOf) {
    if (device >= 0) continue;
    while (isTaken[next] != 0) ++next;
    isTaken[next] = 1;
    device = static_cast<int>(next);
  }
  return deviceOf;
}

}  // namespace

std::optional<std::vector<int>> mapByScotch(const SquareMatrix& flow,
                                            const SquareMatrix& distance) {
  const int n = flow.size();
  if (n < 2) return std::nullopt;
  const Edges flows(flow, false), ways(distance, true);
  Context context;
  Graph blocks, devices, bound;
  Architecture architecture;
  Strategy ofArchitecture, ofMapping;
  std::vector<SCOTCH_Num> mapped(static_cast<std::size_t>(n));
  constexpr double kImbalance = 0.001;
  const bool isMapped =
      isRepeatable(context) && flows.makes(blocks) && ways.makes(devices) && bound.isMade() &&
      architecture.isMade() && isSetForOneThread(ofArchitecture) && ofMapping.isMade() &&
      SCOTCH_archBuild0(architecture.get(), devices.get(), 0, nullptr, ofArchitecture.get()) == 0 &&
      SCOTCH_stratGraphMapBuild(ofMapping.get(), SCOTCH_STRATQUALITY | SCOTCH_STRATBALANCE, n,
                                kImbalance) == 0 &&
      SCOTCH_contextBindGraph(context.get(), blocks.get(), bound.get()) == 0 &&
      SCOTCH_graphMap(bound.get(), architecture.get(), ofMapping.get(), mapped.data()) == 0;
  if (!isMapped) return std::nullopt;
  return permutationOf(mapped);
}

bool hasScotch() { return true; }

}  // namespace hpl::topology

#else

namespace hpl::topology {

std::optional<std::vector<int>> mapByScotch(const geometry::SquareMatrix&,
                                            const geometry::SquareMatrix&) {
  return std::nullopt;
}

bool hasScotch() { return false; }

}  // namespace hpl::topology

#endif
