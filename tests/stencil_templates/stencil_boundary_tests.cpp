// SPDX-License-Identifier: Apache-2.0
// Boundaries, dimensions, extents and devices against arrays with margins, bit for bit.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "stencil_support.h"

namespace stencil_boundary_tests {

using namespace hpl;
using namespace stencil_tests;

namespace {

/// Applies the stencil on `devices` devices and compares.
template <class T, int N>
void check(const std::vector<Tap>& taps, const Rules& rules, const Index3& extents, int devices,
           unsigned seed, Stencil& stencil) {
  CAPTURE(describe(rules, N));
  CAPTURE(extents);
  CAPTURE(devices);
  CAPTURE(seed);
  const Grid<T> in = someCells<T>(extents, seed), before = someCells<T>(extents, seed + 1);
  Array<T, N> a = arrayOf<T, N>(in), b = arrayOf<T, N>(before);
  if (devices == 1) {
    stencil(a, b);
  } else {
    stencil.devices(devices)(a, b);
  }
  CHECK(cellsOf(b) == weightedSum(in, before, taps, rules).cells);
  CHECK(cellsOf(a) == in.cells);
}

/// The same with a stencil of its own; on all devices, or on two of them.
template <class T, int N>
void checkOnDevices(const std::vector<Tap>& taps, const Rules& rules, const Index3& extents,
                    unsigned seed) {
  Stencil stencil(weightedSumOf<T, N>(taps));
  setRules(stencil, rules, N);
  const int devices = seed % 4 == 0 ? std::min(2, deviceCount()) : deviceCount();
  check<T, N>(taps, rules, extents, devices, seed, stencil);
}

/// Reaches 2 before and 1 after in x, 1 and 2 in y, 2 and 1 in z, with a corner.
std::vector<Tap> asymmetricTaps(int dims) {
  std::vector<Tap> taps = {{{0, 0, 0}, 5}, {{0, 0, -2}, 3}, {{0, 0, 1}, -2}};
  if (dims >= 2) taps.insert(taps.end(), {{{0, 2, 0}, 7}, {{0, -1, -1}, 11}, {{0, 2, 1}, -3}});
  if (dims == 3) taps.insert(taps.end(), {{{-2, 0, 0}, 2}, {{1, 2, -2}, -7}, {{-1, -1, 1}, 4}});
  return taps;
}

Rules allFaces(Kind kind) {
  Rules rules;
  for (auto& dimension : rules)
    for (FaceRule& rule : dimension) rule = {kind, 9};
  return rules;
}

template <class T, int N>
void checkRandom(unsigned seed) {
  std::mt19937 random(seed);
  const auto between = [&](int lo, int hi) {
    return std::uniform_int_distribution<int>(lo, hi)(random);
  };
  std::vector<Tap> taps;
  const int count = between(1, kMaxTaps);
  for (int t = 0; t < count; ++t) {
    Tap tap;
    for (std::size_t k = 3 - N; k < 3; ++k) tap.offset[k] = between(-3, 3);
    tap.weight = between(-9, 9);
    taps.push_back(tap);
  }
  const Margins margins = marginsOf(taps);
  Rules rules;
  Index3 extents{1, 1, 1};
  for (std::size_t k = 3 - N; k < 3; ++k) {
    extents[k] = std::max({1, margins.before[k], margins.after[k]}) + between(0, 14);
    for (FaceRule& rule : rules[k])
      rule = {static_cast<Kind>(between(0, kKinds - 1)), between(-5, 5)};
    for (const FaceRule& rule : rules[k])
      if (rule.kind == Kind::Periodic) rules[k] = {{{Kind::Periodic, 0}, {Kind::Periodic, 0}}};
  }
  checkOnDevices<T, N>(taps, rules, extents, seed);
}

/// Offsets that only the kernel's loops know.
template <int N>
struct LoopSum {
  int before[3], after[3];

  auto operator()(Neighbourhood<int, N> p) const {
    Int sum = 0;
    if constexpr (N == 1) {
      for_(Int x = -before[2], x <= after[2], x++) {
        sum += (x + 5) * p(x);
      }
    } else if constexpr (N == 2) {
      for_(Int y = -before[1], y <= after[1], y++) {
        for_(Int x = -before[2], x <= after[2], x++) {
          sum += (10 * y + x + 5) * p(y, x);
        }
      }
    } else {
      for_(Int z = -before[0], z <= after[0], z++) {
        for_(Int y = -before[1], y <= after[1], y++) {
          // One offset of the kernel, one of the loop, one of C++.
          sum += (100 * z + 10 * y + 5) * p(z, y, 1);
        }
      }
    }
    return sum;
  }
};

template <int N>
void checkLoops(Kind kind, const Margins& m, const Index3& extents) {
  std::vector<Tap> taps;
  for (int z = -m.before[0]; z <= m.after[0]; ++z)
    for (int y = -m.before[1]; y <= m.after[1]; ++y)
      for (int x = N == 3 ? 1 : -m.before[2]; x <= (N == 3 ? 1 : m.after[2]); ++x)
        taps.push_back({{z, y, x}, N == 3 ? 100 * z + 10 * y + 5 : 10 * y + x + 5});
  LoopSum<N> sum{};
  std::copy(m.before.begin(), m.before.end(), sum.before);
  std::copy(m.after.begin(), m.after.end(), sum.after);
  Stencil stencil(sum);
  const Rules rules = allFaces(kind);
  setRules(stencil, rules, N);
  check<int, N>(taps, rules, extents, deviceCount(), 77, stencil);
}

}  // namespace

TEST_CASE("stencils: every boundary in every dimension equals an array with margins") {
  for (int number = 0; number < kKinds; ++number) {
    const Kind kind = static_cast<Kind>(number);
    const Rules rules = allFaces(kind);
    // Each kernel is built for each device, so several of them get the cases that differ there.
    const bool several = deviceCount() > 1;
    if (several && kind != Kind::Fixed && kind != Kind::Mirror && kind != Kind::Periodic) continue;
    checkOnDevices<int, 2>(asymmetricTaps(2), rules, {1, 7, 9}, 2);
    if (several && kind != Kind::Periodic) continue;
    checkOnDevices<int, 1>(asymmetricTaps(1), rules, {1, 1, 13}, 1);
    checkOnDevices<int, 3>(asymmetricTaps(3), rules, {5, 3, 7}, 3);
  }
}

TEST_CASE("stencils: a stencil may reach as far as the array is long") {
  for (const Kind kind : {Kind::Mirror, Kind::Periodic})
    checkOnDevices<int, 2>(asymmetricTaps(2), allFaces(kind), {1, 2, 2}, 4);
}

TEST_CASE("stencils: random neighbours, faces, extents and numbers of devices") {
  const unsigned seeds = deviceCount() > 1 ? 1 : 2;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    checkRandom<int, 1>(seed);
    checkRandom<int, 2>(100 + seed);
    checkRandom<int, 3>(200 + seed);
    checkRandom<float, 2>(300 + seed);
  }
}

TEST_CASE("stencils: offsets may be variables of loops with constant bounds") {
  for (const Kind kind : {Kind::Mirror, Kind::Periodic}) {
    checkLoops<1>(kind, {{0, 0, 3}, {0, 0, 2}}, {1, 1, 11});
    checkLoops<2>(kind, {{0, 2, 3}, {0, 1, 2}}, {1, 8, 7});
  }
  if (deviceCount() > 1) return;
  for (const Kind kind : {Kind::Nearest, Kind::Computed, Kind::MirrorOdd, Kind::Untouched})
    checkLoops<2>(kind, {{0, 2, 3}, {0, 1, 2}}, {1, 8, 9});
  checkLoops<3>(Kind::Periodic, {{1, 2, 3}, {2, 1, 2}}, {6, 5, 4});
}

TEST_CASE("stencils: the library finds out how far a point function reads") {
  Stencil stencil([](Neighbourhood<int, 2> a, Neighbourhood<float, 2> b) {
    Int sum = a(0, -3) + a(2, 0);
    for_(Int d = -1, d < 2, d++) {
      sum += cast<int>(b(d, 4));
    }
    return sum;
  });
  CHECK(stencil.reach(Face::LEFT) == 3);
  CHECK(stencil.reach(Face::RIGHT) == 4);
  CHECK(stencil.reach(1, Face::RIGHT) == 0);
  CHECK(stencil.reach(Face::UP) == 1);
  CHECK(stencil.reach(Face::DOWN) == 2);
  CHECK(stencil.reach(2, Face::DOWN) == 1);
}

}  // namespace stencil_boundary_tests
