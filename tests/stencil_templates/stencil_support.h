// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "hpl/runtime/settings.h"
#include "stencil_reference.h"
#include "stencil_templates/stencil_templates.h"
#include "tests/messages.h"

/// Helpers of the tests of launch-level stencils.
namespace stencil_tests {

using hpl_tests::messageOf;

constexpr int kMaxTaps = 10;

/// A point function made at run time: its members are host values, so that each is captured anew.
template <class T, int N>
struct WeightedSum {
  Tap taps[kMaxTaps];
  int count;

  auto operator()(hpl::Neighbourhood<T, N> p) const {
    hpl::Array<T, 0> sum = T(0);
    for (int i = 0; i < count; ++i) {
      const Index3& o = taps[i].offset;
      const T weight = static_cast<T>(taps[i].weight);
      if constexpr (N == 1) sum = sum + weight * p(o[2]);
      if constexpr (N == 2) sum = sum + weight * p(o[1], o[2]);
      if constexpr (N == 3) sum = sum + weight * p(o[0], o[1], o[2]);
    }
    return sum;
  }
};

template <class T, int N>
WeightedSum<T, N> weightedSumOf(const std::vector<Tap>& taps) {
  WeightedSum<T, N> sum{};
  for (const Tap& tap : taps) sum.taps[sum.count++] = tap;
  return sum;
}

hpl::Boundary boundaryOf(const FaceRule& rule, int dims);
/// States the rules of all faces of one input (0: of all).
void setRules(hpl::Stencil& stencil, const Rules& rules, int dims, int input = 0);
std::string describe(const Rules& rules, int dims);

/// Small whole numbers that look random.
template <class T>
Grid<T> someCells(const Index3& extents, unsigned seed) {
  Grid<T> grid(extents);
  unsigned state = seed * 2654435761u + 12345u;
  for (T& cell : grid.cells) {
    state = state * 1664525u + 1013904223u;
    cell = static_cast<T>(static_cast<int>(state >> 16) % 41 - 20);
  }
  return grid;
}

template <class T, int N>
hpl::Array<T, N> arrayOf(const Grid<T>& grid) {
  const Index3& n = grid.n;
  hpl::Array<T, N> array;
  if constexpr (N == 1) array = hpl::Array<T, N>(n[2]);
  if constexpr (N == 2) array = hpl::Array<T, N>(n[1], n[2]);
  if constexpr (N == 3) array = hpl::Array<T, N>(n[0], n[1], n[2]);
  array.copyFrom(grid.cells.data());
  return array;
}

template <class A>
auto cellsOf(const A& array) {
  std::vector<typename A::value_type> cells(array.size());
  array.copyTo(cells.data());
  return cells;
}

/// Groups of work-items, which other devices have, on CPUs.
struct AsGroups {
  AsGroups() : before(hpl::runtime::settings()) {
    hpl::runtime::Settings groups = before;
    groups.strategy = hpl::runtime::Strategy::Tile;
    hpl::runtime::overrideSettings(groups);
  }
  ~AsGroups() { hpl::runtime::overrideSettings(before); }
  AsGroups(const AsGroups&) = delete;
  AsGroups& operator=(const AsGroups&) = delete;
  hpl::runtime::Settings before;
};

/// Devices of the default device's type.
int deviceCount();

/// Fails unless the message has all parts.
void expectMessage(const std::string& message, const std::vector<std::string>& parts);

}  // namespace stencil_tests
