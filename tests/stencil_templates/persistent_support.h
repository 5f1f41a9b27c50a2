// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "hpl/runtime/settings.h"
#include "random_program.h"
#include "stencil_support.h"
#include "stencil_templates/detail/persistent_choice.h"
#include "stencil_templates/detail/persistent_steps.h"
#include "stencil_templates/detail/spinning.h"

/// Iterations that are one launch on each device.
namespace stencil_tests {

/// Groups can wait for each other here.
inline bool canSpin() {
  const hpl::Device device = hpl::defaultDevice();
  return hpl::stencils::whyNotSpinning(device, device.getProperties().computeUnits, 1).empty();
}

/// Planted settings and faults, gone after the test.
struct Planted {
  hpl::runtime::Settings before = hpl::runtime::settings();
  ~Planted() {
    hpl::runtime::overrideSettings(before);
    hpl::stencils::plantCensus(std::nullopt);
  }
};

/// A weighted sum over a grid, with a rule for each face.
struct PersistentCase {
  std::vector<Tap> taps;
  Rules rules;
  Index3 extents{1, 1, 1};
  int steps = 2;
  int depth = 0;
};

inline PersistentCase randomPersistent(std::mt19937& random, int dims) {
  const auto between = [&](int lo, int hi) {
    return std::uniform_int_distribution<int>(lo, hi)(random);
  };
  PersistentCase one;
  const auto first = static_cast<std::size_t>(3 - dims);
  for (int t = between(2, 5); t > 0; --t) {
    Tap& tap = one.taps.emplace_back();
    for (std::size_t k = first; k < 3; ++k) tap.offset[k] = between(-2, 2);
    tap.weight = between(-2, 2);
  }
  const Margins margins = marginsOf(one.taps);
  bool isPeriodic = false;
  for (std::size_t k = first; k < 3; ++k) {
    one.extents[k] = std::max({2, margins.before[k], margins.after[k]}) +
                     between(0, dims == 1 ? 300 : 60 / dims);
    for (FaceRule& rule : one.rules[k])
      rule = {static_cast<Kind>(between(0, kKinds - 1)), between(-5, 5)};
    for (const FaceRule& rule : one.rules[k])
      if (rule.kind == Kind::Periodic) one.rules[k] = {{{Kind::Periodic, 0}, {Kind::Periodic, 0}}};
    isPeriodic = isPeriodic || one.rules[k][0].kind == Kind::Periodic;
  }
  for (std::size_t k = first; k < 3; ++k)
    for (FaceRule& rule : one.rules[k])
      if (isPeriodic && rule.kind == Kind::Computed) rule.kind = Kind::Fixed;
  one.steps = between(1, 30);
  one.depth = between(0, 4);
  return one;
}

/// How many of several devices lie along each dimension, from slow to fast; none: all along the
/// slowest one.
using DeviceGrid = std::vector<std::size_t>;

inline hpl::Domain blocksOf(const DeviceGrid& grid) {
  if (grid.size() == 2) return {grid[1], grid[0]};
  return {grid[2], grid[1], grid[0]};
}

/// On the devices; none: on the default one.
template <class T, int N>
void checkPersistent(unsigned seed, const std::vector<hpl::Device>& devices = {},
                     const DeviceGrid& deviceGrid = {}) {
  CAPTURE(seed);
  std::mt19937 random(seed);
  PersistentCase one = randomPersistent(random, N);
  // Bands at least as thick as what a few steps reach.
  if (!devices.empty() && deviceGrid.empty())
    one.extents[3 - N] += 12 * static_cast<int>(devices.size());
  for (std::size_t d = 0; d < deviceGrid.size(); ++d)
    if (deviceGrid[d] > 1) one.extents[3 - N + d] += 12 * static_cast<int>(deviceGrid[d]);
  CAPTURE(describe(one.rules, N));
  CAPTURE(one.steps);
  CAPTURE(one.depth);
  Grid<T> grid = someCells<T>(one.extents, seed);
  hpl::Array<T, N> a = arrayOf<T, N>(grid);
  hpl::Array<T, N> b = arrayOf<T, N>(someCells<T>(one.extents, seed + 1));
  for (int s = 0; s < one.steps; ++s) grid = weightedSum(grid, grid, one.taps, one.rules);
  hpl::Stencil stencil(weightedSumOf<T, N>(one.taps));
  setRules(stencil, one.rules, N);
  hpl::StencilLauncher launcher = stencil.persistent();
  if (!devices.empty()) launcher.devices(devices);
  if (!deviceGrid.empty()) launcher.blocks(blocksOf(deviceGrid));
  if (one.depth > 0) launcher.timeTile(one.depth);
  const hpl::StencilRun run = launcher.iterate(one.steps)(a, b);
  if (one.steps > 1 && !hpl::stencils::hasGivenUp(devices)) CHECK(run.launches == 1);
  CHECK(cellsOf(a) == grid.cells);
}

/// The result of a run with looks, and the cells that it left.
template <class T, int N>
struct Looked {
  hpl::StencilRun run;
  std::vector<T> cells;
};

/// Iterations with looks in one launch against iterations with launches between looks.
template <class T, int N>
void checkLooks(unsigned seed, const std::vector<hpl::Device>& devices = {}) {
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto between = [&](int lo, int hi) {
    return std::uniform_int_distribution<int>(lo, hi)(random);
  };
  PersistentCase one = randomPersistent(random, N);
  if (!devices.empty()) one.extents[3 - N] += 12 * static_cast<int>(devices.size());
  // Averages, whose changes become small after some steps; or sums, whose do not.
  if (seed % 4 != 0)
    for (Tap& tap : one.taps) tap.weight = 1;
  const int every = between(1, 9);
  const int steps = between(1, 60);
  const double bound = std::uniform_real_distribution<double>(0.0001, 3)(random);
  const bool isOwn = between(0, 2) == 0;
  // Cells that no step changes have a residual, too.
  const float ofOld = between(0, 1) == 0 ? 0.0f : 0.25f;
  CAPTURE(describe(one.rules, N));
  CAPTURE(steps);
  CAPTURE(every);
  CAPTURE(bound);
  CAPTURE(one.depth);
  const auto looked = [&](bool persistent) {
    Grid<T> grid = someCells<T>(one.extents, seed);
    hpl::Array<T, N> a = arrayOf<T, N>(grid);
    hpl::Array<T, N> b = arrayOf<T, N>(someCells<T>(one.extents, seed + 1));
    const auto divisor = static_cast<T>(one.taps.size());
    hpl::Stencil stencil([&](hpl::Neighbourhood<T, N> p) {
      return weightedSumOf<T, N>(one.taps)(p) / (seed % 4 != 0 ? divisor : T(1));
    });
    setRules(stencil, one.rules, N);
    hpl::StencilLauncher launcher = stencil.persistent(persistent);
    if (!devices.empty()) launcher.devices(devices);
    if (persistent && one.depth > 0) launcher.timeTile(one.depth);
    const auto run = [&](hpl::StencilIteration iteration) { return iteration(a, b); };
    using Kernel = hpl::Array<T, 0>;
    const hpl::StencilRun done =
        isOwn ? run(launcher
                        .until(bound, every,
                               [ofOld](Kernel now, Kernel before) {
                                 return hpl::cast<float>(now - before) * 0.5f +
                                        hpl::cast<float>(before) * ofOld;
                               })
                        .iterate(steps))
              : run(launcher.until(bound, every).iterate(steps));
    return Looked<T, N>{done, cellsOf(a)};
  };
  const Looked<T, N> kept = looked(true);
  const Looked<T, N> launched = looked(false);
  CHECK(kept.run.steps == launched.run.steps);
  CHECK(kept.run.converged == launched.run.converged);
  const bool isStrange = std::isnan(kept.run.residual) && std::isnan(launched.run.residual);
  if (!isStrange) CHECK(kept.run.residual == launched.run.residual);
  CHECK(kept.cells == launched.cells);
}

/// The same for elements that are vectors.
inline void checkLooksOfVectors(const std::vector<hpl::Device>& devices = {}) {
  using namespace hpl;
  const auto looked = [&](bool persistent) {
    Array<float4, 2> a(40, 36), b(40, 36);
    for (int i = 0; i < 40; ++i)
      for (int j = 0; j < 36; ++j)
        a(i, j) = float4(static_cast<float>(i * 7 % 11), static_cast<float>(j * 5 % 13),
                         static_cast<float>((i + j) % 7), static_cast<float>(i * j % 9));
    Stencil stencil([](Neighbourhood<float4, 2> p) {
      return 0.25f * (p(-1, 0) + p(1, 0) + p(0, -1) + p(0, 1));
    });
    stencil.boundary(Nearest());
    StencilLauncher launcher = stencil.persistent(persistent);
    if (!devices.empty()) launcher.devices(devices);
    const StencilRun run = launcher
                               .until(0.02, 5,
                                      [](Float4 now, Float4 before) {
                                        return fabs(now.x - before.x) + fabs(now.w - before.w);
                                      })
                               .iterate(400)(a, b);
    std::vector<float> lanes;
    for (const float4& cell : cellsOf(a))
      for (std::size_t lane = 0; lane < 4; ++lane) lanes.push_back(cell[lane]);
    return std::tuple(run.steps, run.residual, run.converged, lanes);
  };
  const auto kept = looked(true);
  CHECK(std::get<2>(kept));
  CHECK(std::get<0>(kept) < 400);
  CHECK(kept == looked(false));
}

/// The message of a LaunchError.
template <class Call>
std::string launchErrorOf(Call call) {
  try {
    call();
  } catch (const hpl::LaunchError& error) {
    return error.what();
  }
  return "no error";
}

inline hpl::Stencil jacobi() {
  hpl::Stencil stencil([](hpl::Neighbourhood<float, 2> p) {
    return 0.25f * (p(-1, 0) + p(1, 0) + p(0, -1) + p(0, 1));
  });
  stencil.boundary(hpl::Fixed(1.0f)).label("jacobi");
  return stencil;
}

inline bool isTemporaryField(const RandomProgram& program, std::size_t f) {
  return !program.lifetimes.empty() && program.lifetimes[f] == hpl::strategies::Lifetime::Temporary;
}

/// Runs the program in one launch on each of the devices (none: on the default one). False: no step
/// sees what the one before it has written.
template <int N>
bool checkKept(const RandomProgram& program, unsigned seed, int steps, int depth,
               const std::vector<hpl::Device>& devices) {
  CAPTURE(describe(program));
  CAPTURE(seed);
  CAPTURE(steps);
  CAPTURE(depth);
  std::vector<Grid<int>> expected;
  std::vector<hpl::Array<int, N>> arrays;
  std::vector<hpl::stencils::ProgramArgument> fields;
  for (std::size_t f = 0; f < static_cast<std::size_t>(program.fields); ++f) {
    expected.push_back(someCells<int>(program.extents, seed + static_cast<unsigned>(f)));
    arrays.push_back(arrayOf<int, N>(expected.back()));
    fields.push_back(isTemporaryField(program, f)
                         ? hpl::stencils::programArgument(hpl::Temporary<int, N>())
                         : hpl::stencils::programArgument(arrays.back()));
  }
  hpl::StencilProgram run;
  for (const RandomFunction& f : program.functions) addTo<N>(run, program, f, fields);
  run.persistent();
  if (!devices.empty()) run.devices(devices);
  if (depth > 0) run.timeTile(depth);
  try {
    const hpl::StencilRun done = run.run(steps);
    CHECK(done.steps == steps);
    const bool gaveUp = devices.empty() ? hpl::stencils::hasGivenUp(hpl::defaultDevice())
                                        : hpl::stencils::hasGivenUp(devices);
    if (!gaveUp) CHECK(done.launches == 2);
  } catch (const hpl::LaunchError& error) {
    CHECK(std::string(error.what()).find("no step sees what the one before it has written") !=
          std::string::npos);
    return false;
  }
  for (int s = 0; s < steps; ++s) referenceStep(program, expected);
  for (std::size_t f = 0; f < arrays.size(); ++f) {
    CAPTURE(f);
    if (!isTemporaryField(program, f)) CHECK(cellsOf(arrays[f]) == expected[f].cells);
  }
  return true;
}

inline bool checkKept(const RandomProgram& program, std::mt19937& random, unsigned seed,
                      const std::vector<hpl::Device>& devices = {}) {
  const int steps = 2 + static_cast<int>(random() % 20);
  const int depth = static_cast<int>(random() % 4);
  if (program.dims == 1) return checkKept<1>(program, seed, steps, depth, devices);
  if (program.dims == 2) return checkKept<2>(program, seed, steps, depth, devices);
  return checkKept<3>(program, seed, steps, depth, devices);
}

}  // namespace stencil_tests
