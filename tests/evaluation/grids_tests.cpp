// SPDX-License-Identifier: Apache-2.0
// The host styles of jacobi3d, shwa and life on all numbers of devices that there are, up to four
// (HPL_DEVICES="cpu:0*4" opens one device four times).
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "perf/evaluation/jacobi3d/host.h"
#include "perf/evaluation/life/host.h"
#include "perf/evaluation/shwa/host.h"
#include "samples/common/comparison.h"
#include "samples/jacobi3d/reference.h"
#include "samples/shwa/reference.h"
#include "samples/shwa/scenario.h"

namespace grids_tests {

using namespace samples;
using evaluation::Style;
using evaluation::styleName;
using evaluation::Way;
using hpl::ExecutionPlan;

namespace {

/// Neither 2 nor 4, the widths of ghosts, divides it.
constexpr int kSteps = 9;
/// The thinnest of four uneven parts is twice as thick as the widest ghosts.
constexpr int kRows = 45;
constexpr int kColumns = 37;

constexpr Style kGhostStyles[] = {Style::Subarrays, Style::Annotations, Style::Sync};

int deviceCount() {
  return std::min(4, static_cast<int>(hpl::devices(hpl::Device().type()).size()));
}

/// The first devices, with equal shares or with 2, 3, 2, 3.
ExecutionPlan planOf(int devices, bool even) {
  std::vector<ExecutionPlan::Share> shares;
  for (int d = 0; d < devices; ++d) {
    shares.push_back({hpl::Device(hpl::Device().type(), d), even || d % 2 == 0 ? 2.0 : 3.0});
  }
  return ExecutionPlan(shares);
}

/// A sample's options, to be run in a way.
template <class Options>
evaluation::Styled<Options> styled(Options options, const Way& way, int steps = kSteps) {
  options.run.iterations = steps;
  return {std::move(options), way};
}

/// Calls check(way, plan) for each style, number of devices, split and width of ghosts.
template <class Check>
void forEveryStyle(const Check& check) {
  const auto checkOne = [&](Style style, int devices, bool even, int ghosts) {
    INFO("style ", styleName(style), ", ", devices, " devices, ", even ? "even" : "uneven",
         " weights, ghosts of width ", ghosts);
    check(Way{style, ghosts}, planOf(devices, even));
  };
  for (int devices = 1; devices <= deviceCount(); ++devices) {
    for (const bool even : {true, false}) {
      checkOne(Style::Auto, devices, even, 0);
      checkOne(Style::Stencil, devices, even, 0);
      for (const int ghosts : {1, 2, 4}) {
        for (const Style style : kGhostStyles) checkOne(style, devices, even, ghosts);
        if (even) checkOne(Style::Template, devices, even, ghosts);
      }
    }
  }
}

Progress quiet() { return Progress(kSteps, "steps", Progress::Mode::Off); }

double tolerance(double contracted) { return strictFloatingPoint() ? 0.0 : contracted; }

LifeOptions soup(int rows, Edges edges) {
  LifeOptions options;
  options.start = Grid(rows, kColumns);
  fillWithSoup(options.start, 0.35, 7);
  options.edges = edges;
  return options;
}

/// Bytes that came to a device since the last call, from others or through the host: an assignment
/// goes to where its target lives, and the edge of a torus that no kernel writes lives there, too.
std::uint64_t bytesMoved() {
  const auto profile = hpl::getProfile();
  return static_cast<std::uint64_t>(profile.bytesDeviceToDevice + profile.bytesHostToDevice);
}

}  // namespace

TEST_CASE("styles: jacobi3d iterates as its reference does") {
  for (const int points : {7, 27}) {
    const auto start = jacobi3d::start(jacobi3d::Boundary::Saddle, kRows);
    const auto expected = jacobi3d::referenceRun(start, kSteps, points);
    const auto before = jacobi3d::referenceRun(start, kSteps - 1, points);
    const double change = compare(expected.values, before.values).largest;
    forEveryStyle([&](const Way& way, const ExecutionPlan& plan) {
      // One stencil is enough to tell the widths apart.
      if (points == 27 && way.ghostWidth > 1) return;
      jacobi3d::Options options;
      options.points = points;
      options.tolerance = 0;
      options.every = 4;
      Progress progress = quiet();
      const auto result =
          evaluation::jacobi3d::runStyle(start, styled(options, way), plan, progress);
      CHECK(result.iterations == kSteps);
      CHECK(compare(result.cube.values, expected.values).largest <= tolerance(1e-5));
      CHECK(result.change == doctest::Approx(change));
    });
  }
}

TEST_CASE("styles: shwa computes the water and the time of its reference") {
  const shwa::Input input = shwa::makeScenario("pollutant", {kRows, kColumns});
  shwa::Options options;
  options.every = 4;
  const auto expected = shwa::referenceRun(input, kSteps, options.courant);
  const auto middle = shwa::referenceRun(input, 4, options.courant);
  REQUIRE_FALSE(compare(shwa::flat(expected.cells), shwa::flat(middle.cells)).different == 0);
  forEveryStyle([&](const Way& way, const ExecutionPlan& plan) {
    Progress progress = quiet();
    double difference = 0;
    int frames = 0;
    // Frames read the water in the middle of the run.
    const auto frame = [&](const shwa::State& state) {
      ++frames;
      if (state.steps == 4) {
        difference = compare(shwa::flat(state.cells), shwa::flat(middle.cells)).largest;
      }
    };
    const auto last =
        evaluation::shwa::runStyle(input, styled(options, way), plan, progress, frame);
    CHECK(compare(shwa::flat(last.cells), shwa::flat(expected.cells)).largest <= tolerance(0.05));
    CHECK(difference <= tolerance(0.05));
    CHECK(frames == 3);
    CHECK(last.time ==
          doctest::Approx(expected.time).epsilon(strictFloatingPoint() ? 1e-12 : 1e-3));
  });
}

TEST_CASE("styles: life computes the generations of its reference, on a torus too") {
  for (const Edges edges : {Edges::Dead, Edges::Torus}) {
    LifeOptions options = soup(kRows, edges);
    options.every = 4;
    const Grid expected = referenceRun(options.start, kSteps, options.rule, edges);
    const Grid middle = referenceRun(options.start, 4, options.rule, edges);
    forEveryStyle([&](const Way& way, const ExecutionPlan& plan) {
      INFO("edges: ", edges == Edges::Torus ? "torus" : "dead");
      if (way.style == Style::Template && edges == Edges::Torus && plan.shares().size() > 1) {
        Progress progress = quiet();
        CHECK_THROWS_WITH_AS(evaluation::life::runStyle(styled(options, way), plan, progress, {}),
                             doctest::Contains("PrepareStencilKernel2DP<1, 1, 1, 1>"),
                             hpl::ArgumentError);
        return;
      }
      Progress progress = quiet();
      std::vector<Grid> frames;
      const Grid last =
          evaluation::life::runStyle(styled(options, way), plan, progress,
                                     [&](const Grid& cells) { frames.push_back(cells); });
      CHECK(last == expected);
      REQUIRE(frames.size() == 3);
      CHECK(frames[0] == options.start);
      CHECK(frames[1] == middle);
    });
  }
}

TEST_CASE("styles: a torus of few rows meets itself") {
  for (const int rows : {1, 2, 5}) {
    LifeOptions options = soup(rows, Edges::Torus);
    const Grid expected = referenceRun(options.start, kSteps, options.rule, Edges::Torus);
    for (const Style style : evaluation::kStyles) {
      INFO("style ", styleName(style), ", ", rows, " rows");
      Progress progress = quiet();
      CHECK(evaluation::life::runStyle(styled(options, {style, 0}), planOf(1, true), progress,
                                       {}) == expected);
    }
  }
}

TEST_CASE("styles: between devices move the ghosts and nothing else") {
  const int devices = deviceCount();
  if (devices < 2) return;
  const auto cube = jacobi3d::start(jacobi3d::Boundary::Sine, kRows);
  const ExecutionPlan plan = planOf(devices, true);
  const auto jacobi = [&](const Way& way, int steps) {
    jacobi3d::Options options;
    options.tolerance = 0;
    Progress progress = quiet();
    evaluation::jacobi3d::runStyle(cube, styled(options, way, steps), plan, progress);
  };
  const auto torus = [&](const Way& way, int steps) {
    Progress progress = quiet();
    evaluation::life::runStyle(styled(soup(kRows, Edges::Torus), way, steps), plan, progress, {});
  };
  // The bytes that eight more iterations move.
  const auto moved = [](const auto& program, Style style, int ghosts) {
    std::uint64_t bytes[2];
    for (const int longer : {0, 1}) {
      bytesMoved();
      program(Way{style, ghosts}, 4 + 8 * longer);
      bytes[longer] = bytesMoved();
    }
    return bytes[1] - bytes[0];
  };
  // One layer in each direction over each border and iteration, whatever the width.
  const auto borders = static_cast<std::uint64_t>(devices - 1);
  for (const Style style : kGhostStyles) {
    for (const int ghosts : {1, 2}) {
      INFO("style ", styleName(style), ", ghosts of width ", ghosts);
      CHECK(moved(jacobi, style, ghosts) == 8 * 2 * borders * kRows * kRows * sizeof(float));
      CHECK(moved(torus, style, ghosts) == 8 * 2 * (borders + 1) * kColumns);
    }
  }
}

TEST_CASE("styles: parts thinner than their ghosts are refused by styles that cut by hand alone") {
  LifeOptions options = soup(3, Edges::Torus);
  Progress progress = quiet();
  const auto run = [&](const Way& way, int devices) {
    return evaluation::life::runStyle(styled(options, way), planOf(devices, true), progress, {});
  };
  CHECK_THROWS_WITH_AS(run({Style::Sync, 4}, 1),
                       "ghosts of width 4: the torus has 3 rows; give at most as many",
                       std::invalid_argument);
  if (deviceCount() < 2) return;
  options = soup(6, Edges::Dead);
  for (const Style style : {Style::Subarrays, Style::Annotations}) {
    CHECK_THROWS_WITH_AS(run({style, 2}, 2), doctest::Contains("a device would own 3 rows"),
                         std::invalid_argument);
  }
  CHECK(run({Style::Sync, 4}, 2) ==
        referenceRun(options.start, kSteps, options.rule, options.edges));
}

}  // namespace grids_tests
