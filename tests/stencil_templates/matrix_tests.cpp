// SPDX-License-Identifier: Apache-2.0
// Strategies, boundaries, dimensions, element types, extents, sizes, parts and steps: all pairs of
// their values, bit for bit against plain C++ with margins.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>
#include <type_traits>

#include "hpl/runtime/settings.h"
#include "stencil_support.h"

namespace matrix_tests {

using namespace hpl;
using namespace stencil_tests;
using runtime::Strategy;

namespace {

enum Factor { kStrategy, kBoundary, kDims, kType, kExtents, kSize, kParts, kSteps, kFactors };

constexpr Strategy kStrategies[] = {Strategy::Auto, Strategy::Direct, Strategy::Rows,
                                    Strategy::Tile, Strategy::Stream, Strategy::Columns};
constexpr const char* kTypes[] = {"char", "uchar", "short",  "int",
                                  "long", "float", "double", "float4"};
/// How far the stencil reaches before and after along each dimension, z first.
struct Reach {
  const char* name;
  Index3 before, after;
};
constexpr Reach kReaches[] = {{"zero", {0, 0, 0}, {0, 0, 0}},
                              {"one-sided", {0, 1, 0}, {1, 0, 2}},
                              {"symmetric", {1, 1, 1}, {1, 1, 1}},
                              {"asymmetric", {2, 1, 2}, {1, 2, 1}},
                              {"larger than a tile", {3, 5, 5}, {2, 4, 6}}};
constexpr const char* kSizes[] = {"least", "odd", "of whole vectors"};
/// Steps, and how many of them per pass over memory; 0: the library's choice.
constexpr int kIterations[][2] = {{1, 0}, {2, 1}, {5, 3}};

constexpr int kCounts[kFactors] = {5, kKinds, 3, 8, 5, 3, 4, 3};
using Row = std::array<int, kFactors>;

/// Rows that have every pair of values of two factors at least once: each row is the best of many
/// random ones that begin with a pair that is missing.
std::vector<Row> pairwiseTable(std::mt19937& random) {
  std::set<std::array<int, 4>> missing;
  for (int f = 0; f < kFactors; ++f)
    for (int g = f + 1; g < kFactors; ++g)
      for (int i = 0; i < kCounts[f]; ++i)
        for (int j = 0; j < kCounts[g]; ++j) missing.insert({f, g, i, j});
  const auto pairsOf = [](const Row& row) {
    std::vector<std::array<int, 4>> pairs;
    for (int f = 0; f < kFactors; ++f)
      for (int g = f + 1; g < kFactors; ++g)
        pairs.push_back({f, g, row[std::size_t(f)], row[std::size_t(g)]});
    return pairs;
  };
  std::vector<Row> table;
  while (!missing.empty()) {
    Row best{};
    std::size_t most = 0;
    for (int attempt = 0; attempt < 60; ++attempt) {
      Row row{};
      for (std::size_t f = 0; f < kFactors; ++f)
        row[f] = static_cast<int>(random() % static_cast<unsigned>(kCounts[f]));
      const auto& [f, g, i, j] = *missing.begin();
      row[std::size_t(f)] = i;
      row[std::size_t(g)] = j;
      std::size_t news = 0;
      for (const auto& pair : pairsOf(row)) news += missing.count(pair);
      if (news > most) best = row, most = news;
    }
    for (const auto& pair : pairsOf(best)) missing.erase(pair);
    table.push_back(best);
  }
  return table;
}

/// The demands of a row, with contradictory ones replaced.
struct Case {
  Strategy strategy;
  Kind kind;
  int dims;
  const char* type;
  Reach reach;
  int size;
  int parts;
  int steps, depth;
  /// Borders before interiors.
  runtime::Overlap overlap;

  explicit Case(const Row& row)
      : strategy(kStrategies[row[kStrategy]]),
        kind(static_cast<Kind>(row[kBoundary])),
        dims(row[kDims] + 1),
        type(kTypes[row[kType]]),
        reach(kReaches[row[kExtents]]),
        size(row[kSize]),
        parts(row[kParts] + 1),
        steps(kIterations[row[kSteps]][0]),
        depth(kIterations[row[kSteps]][1]),
        overlap((row[kSize] + row[kType]) % 2 == 0 ? runtime::Overlap::Off : runtime::Overlap::On) {
    // Nothing of the other sign.
    if (kind == Kind::MirrorOdd && type == std::string("uchar")) kind = Kind::Mirror;
    // Boxes fit into local memory.
    if (dims == 3 && reach.before[0] > 2) depth = std::min(depth, 2);
  }

  std::vector<Tap> taps() const {
    std::vector<Tap> list = {{{0, 0, 0}, 2}};
    int weight = 1;
    for (std::size_t d = static_cast<std::size_t>(3 - dims); d < 3; ++d)
      for (const int offset : {-reach.before[d], reach.after[d]}) {
        list.push_back({{0, 0, 0}, weight = -weight});
        list.back().offset[d] = offset;
      }
    return list;
  }

  Index3 extents() const {
    Index3 n{1, 1, 1};
    for (std::size_t d = static_cast<std::size_t>(3 - dims); d < 3; ++d) {
      const int far = std::max({1, reach.before[d], reach.after[d]});
      const int odd[] = {far, far + (d == 2 ? 32 : 8) + (far + 1) % 2, d == 2 ? 64 : 16};
      n[d] = odd[size];
      // Each part owns as many slices as its neighbours need, and what a pass reads of the other
      // end is there once.
      if (d == static_cast<std::size_t>(3 - dims))
        n[d] = std::max({n[d], far * parts, kind == Kind::Periodic ? far * depth : 0});
    }
    return n;
  }

  std::string text() const {
    constexpr const char* kNames[] = {"auto", "direct", "rows", "tile", "stream", "columns"};
    return std::string(kNames[static_cast<int>(strategy)]) + ", " + std::to_string(dims) + "-D " +
           type + ", " + reach.name + " extents, size " + kSizes[size] + ", " +
           std::to_string(parts) + " parts, " + std::to_string(steps) + " steps, " +
           std::to_string(depth) + " per pass" +
           (overlap == runtime::Overlap::On ? ", borders first" : "");
  }
};

/// Lays kernels out by one strategy as long as it lives.
class Forced {
 public:
  Forced(Strategy strategy, runtime::Overlap overlap) : before_(runtime::settings()) {
    runtime::Settings changed = before_;
    changed.strategy = strategy;
    changed.overlap = overlap;
    runtime::overrideSettings(changed);
  }
  ~Forced() { runtime::overrideSettings(before_); }
  Forced(const Forced&) = delete;
  Forced& operator=(const Forced&) = delete;

 private:
  runtime::Settings before_;
};

template <class T, int N>
void check(const Case& c, unsigned seed) {
  Rules rules;
  for (auto& faces : rules) faces = {{{c.kind, 9}, {c.kind, -4}}};
  CAPTURE(describe(rules, N));
  const Index3 n = c.extents();
  CAPTURE(n);
  const std::vector<Tap> taps = c.taps();
  Grid<T> now = someCells<T>(n, seed);
  Array<T, N> a = arrayOf<T, N>(now), b = arrayOf<T, N>(now);
  for (int step = 0; step < c.steps; ++step) now = weightedSum(now, now, taps, rules);

  const Forced forced(c.strategy, c.overlap);
  Stencil stencil(weightedSumOf<T, N>(taps));
  setRules(stencil, rules, N);
  StencilLauncher launcher = stencil.devices(c.parts);
  if (c.depth > 0) launcher.timeTile(c.depth);
  if (c.steps == 1) {
    launcher(a, b);
    CHECK(cellsOf(b) == now.cells);
  } else {
    launcher.iterate(c.steps)(a, b);
    CHECK(cellsOf(a) == now.cells);
  }
}

template <class T>
void check(const Case& c, unsigned seed) {
  if (c.dims == 1) check<T, 1>(c, seed);
  if (c.dims == 2) check<T, 2>(c, seed);
  if (c.dims == 3) check<T, 3>(c, seed);
}

void checkRow(const Row& row, unsigned seed) {
  const Case c(row);
  CAPTURE(seed);
  CAPTURE(c.text());
  const std::string type = c.type;
  if (type == "char") check<signed char>(c, seed);
  if (type == "uchar") check<unsigned char>(c, seed);
  if (type == "short") check<short>(c, seed);
  if (type == "int") check<int>(c, seed);
  if (type == "long") check<std::int64_t>(c, seed);
  if (type == "float") check<float>(c, seed);
  if (type == "double" && defaultDevice().getProperties().hasDouble) check<double>(c, seed);
  if (type == "float4") check<float4>(c, seed);
}

}  // namespace

TEST_CASE("matrix: all pairs of strategies, boundaries, types, extents, sizes, shares and steps") {
  // Each device builds each kernel for itself: a test of its own, with four of them.
  if (deviceCount() < 4) return;
  const char* wish = std::getenv("TEST_SEEDS");
  const unsigned seeds = wish != nullptr ? static_cast<unsigned>(std::atoi(wish)) : 1;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    std::mt19937 random(seed);
    for (const Row& row : pairwiseTable(random)) checkRow(row, seed);
  }
}

}  // namespace matrix_tests
