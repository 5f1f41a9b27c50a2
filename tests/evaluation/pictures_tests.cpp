// SPDX-License-Identifier: Apache-2.0
// The host styles of canny and gauss, on all numbers of devices that there are up to four. ctest
// runs these cases under several HPL_DEVICES.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>

#include "perf/evaluation/canny/host.h"
#include "perf/evaluation/gauss/host.h"
#include "perf/evaluation/row_parts.h"
#include "samples/canny/reference.h"
#include "samples/common/comparison.h"
#include "samples/common/test_picture.h"
#include "samples/gauss/reference.h"
#include "samples/gauss/weights.h"

namespace pictures_tests {

using namespace samples;
using evaluation::Style;
using evaluation::styleName;
using evaluation::Way;

namespace {

constexpr Style kDistributed[] = {Style::Subarrays, Style::Annotations, Style::Sync,
                                  Style::Auto,      Style::Stencil,     Style::Template};

/// The size of all pictures in which edges are sought: kernels depend on the size, and each device
/// builds its own, which takes nearly all of the time of these tests.
constexpr int kRows = 75, kColumns = 41;

int deviceCount() { return std::min(4, hpl::getDeviceNumber(hpl::Device().type())); }

/// Shares of which no two are equal.
std::vector<double> unevenWeights(int devices) {
  const std::vector<double> weights = {3, 2, 4, 2.5};
  return {weights.begin(), weights.begin() + devices};
}

Raster<float> randomPicture(Extent extent, unsigned seed) {
  std::mt19937 engine(seed);
  Raster<float> picture(extent);
  for (std::size_t i = 0; i < picture.size(); ++i) {
    picture.data()[i] = static_cast<float>(engine() % 256);
  }
  return picture;
}

/// A way to run on these devices.
struct Run : Way {
  RunOptions run;
};

/// To be shown where a check fails.
std::string describe(const Run& run) {
  return std::string(styleName(run.style)) + ", " + std::to_string(run.run.devices) + " devices, " +
         std::to_string(run.run.weights.size()) + " weights, ghosts of width " +
         std::to_string(run.ghostWidth);
}

void checkSmoothed(const Raster<float>& picture, const Run& run, const Raster<float>& expected) {
  INFO(describe(run));
  evaluation::gauss::Options options{{}, run};
  options.run = run.run;
  Progress progress(run.run.iterations, "iterations", Progress::Mode::Off);
  const Raster<float> result =
      evaluation::gauss::runStyle(picture, options, planOf(run, run.run), progress);
  CHECK(compare(result.cells(), expected.cells()).largest <= (strictFloatingPoint() ? 0.0 : 1e-3));
}

Raster<unsigned char> edges(const Raster<unsigned char>& picture, const Run& run, bool hysteresis) {
  evaluation::canny::Options options{{}, run};
  options.run = run.run;
  options.low = 15;
  options.high = 90;
  options.hysteresis = hysteresis;
  Progress progress(run.run.iterations, "pictures", Progress::Mode::Off);
  return evaluation::canny::runStyle(picture, options, planOf(run, run.run), progress);
}

/// Calls check(run) for each style, number of devices from `fewest` on, width of the ghosts, and
/// for equal and uneven shares.
template <class Check>
void forEachRun(int iterations, int fewest, const std::vector<int>& widths, Check check) {
  for (const Style style : kDistributed) {
    for (int devices = fewest; devices <= deviceCount(); ++devices) {
      for (const int width : evaluation::hasGhosts(style) ? widths : std::vector<int>{0}) {
        for (const bool uneven : {false, true}) {
          if (uneven && style == Style::Template) continue;  // prepares equal shares
          Run run{{style, width}, {}};
          run.run.iterations = iterations;
          run.run.devices = devices;
          if (uneven) run.run.weights = unevenWeights(devices);
          check(run);
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("gauss: every style smoothes as the reference does, on one to four devices") {
  // Parts of 30 rows or more for ghosts of three radii, and a number that 2, 3 and 4 do not divide.
  const Raster<float> picture = randomPicture({211, 23}, 5);
  constexpr int kIterations = 7;
  const Raster<float> expected =
      samples::gauss::referenceRun(picture, kIterations, samples::gauss::gaussianWeights(2.0));
  forEachRun(kIterations, 1, {0, 5, 7, 10, 15},
             [&](const Run& run) { checkSmoothed(picture, run, expected); });
}

TEST_CASE("gauss: measured weights change the speed and not the result") {
  const Raster<float> picture = randomPicture({600, 20}, 6);
  const Raster<float> expected =
      samples::gauss::referenceRun(picture, 3, samples::gauss::gaussianWeights(2.0));
  Run run;
  run.run.iterations = 3;
  run.run.measuredWeights = true;
  for (const Style style : {Style::Sync, Style::Auto}) {
    run.style = style;
    checkSmoothed(picture, run, expected);
  }
}

TEST_CASE("canny: every style finds the edges that the reference finds, on one to four devices") {
  const Raster<unsigned char> picture = testPicture({kRows, kColumns});
  const Raster<unsigned char> labels = samples::canny::referenceLabels(picture, 15, 90);
  // Two frames: the second one begins with ghosts of the first.
  forEachRun(2, 1, {0, 3, 4, 6}, [&](const Run& run) {
    INFO(describe(run));
    CHECK(edges(picture, run, false) == labels);
  });
}

TEST_CASE("canny: an edge is followed through the parts of all devices") {
  // A step that gets lower from row to row: strong at its upper end only.
  Raster<unsigned char> picture(kRows, kColumns, 50);
  for (int row = 0; row < kRows; ++row) {
    for (int column = 6; column < kColumns; ++column) {
      picture.at(row, column) = static_cast<unsigned char>(50 + std::max(40, 205 - 5 * row));
    }
  }
  const Raster<unsigned char> labels = samples::canny::referenceLabels(picture, 15, 90);
  const Raster<unsigned char> linked = samples::canny::referenceHysteresis(labels);
  REQUIRE(labels.at(40, 6) == 128);
  REQUIRE(linked.at(67, 6) == 255);
  forEachRun(1, deviceCount(), {2, 5}, [&](const Run& run) {
    INFO(describe(run));
    CHECK(edges(picture, run, true) == linked);
  });
}

TEST_CASE("canny: weak edges in noise are linked across the parts' borders") {
  std::mt19937 engine(11);
  Raster<unsigned char> picture(kRows, kColumns);
  for (std::size_t i = 0; i < picture.size(); ++i) {
    picture.data()[i] = static_cast<unsigned char>(100 + engine() % 70);
  }
  const Raster<unsigned char> labels = samples::canny::referenceLabels(picture, 15, 90);
  const Raster<unsigned char> linked = samples::canny::referenceHysteresis(labels);
  REQUIRE(labels != linked);
  forEachRun(2, deviceCount(), {2, 3, 4}, [&](const Run& run) {
    INFO(describe(run));
    CHECK(edges(picture, run, true) == linked);
  });
}

TEST_CASE("canny: ghosts of two rows are exchanged after the first kernel, ghosts of four never") {
  if (deviceCount() < 2) return;
  const Raster<unsigned char> picture = testPicture({kRows, kColumns});
  Run run;
  run.style = Style::Sync;
  run.run.devices = 2;
  const auto moved = [&](int frames) {
    run.run.iterations = frames;
    hpl::getProfile();
    edges(picture, run, false);
    return hpl::getProfile().bytesDeviceToDevice;
  };
  // The picture itself is distributed once.
  run.ghostWidth = 2;
  CHECK(moved(4) - moved(1) == std::uint64_t{3 * 2 * 2 * kColumns * sizeof(short)});
  run.ghostWidth = 4;
  CHECK(moved(4) - moved(1) == 0);
}

TEST_CASE(
    "rows are owned by the method of largest remainders, and parts have ghosts on both sides") {
  if (deviceCount() < 3) return;
  std::vector<hpl::Device> devices = hpl::devices(hpl::Device().type());
  devices.resize(3, devices.front());
  const hpl::ExecutionPlan equal(devices, hpl::PlanSearch::NONE);
  CHECK(evaluation::ownedRows(11, equal) == std::vector<int>{4, 4, 3});
  CHECK(evaluation::ownedRows(12, equal) == std::vector<int>{4, 4, 4});
  const hpl::ExecutionPlan uneven({{devices[0], 1}, {devices[1], 5}, {devices[2], 2}});
  CHECK(evaluation::ownedRows(16, uneven) == std::vector<int>{2, 10, 4});
  CHECK(evaluation::ownedRows(17, uneven) == std::vector<int>{2, 11, 4});  // 2.125, 10.625, 4.25
  const std::vector<hpl::Range> parts = evaluation::rowParts(16, uneven, 1);
  REQUIRE(parts.size() == 3);
  CHECK(parts[0].first == 0);
  CHECK(parts[0].last == 2);
  CHECK(parts[1].first == 1);
  CHECK(parts[1].last == 12);
  CHECK(parts[2].first == 11);
  CHECK(parts[2].last == 15);
  CHECK_THROWS_WITH_AS(evaluation::rowParts(16, uneven, 2),
                       "ghosts of width 2: a device would own 2 rows, and ghosts updated by hand "
                       "need twice their width; use fewer devices, other weights or narrower "
                       "ghosts",
                       std::invalid_argument);
}

TEST_CASE("styles have names, and others are refused with the list of them") {
  for (const Style style : evaluation::kStyles)
    CHECK(evaluation::styleOf(styleName(style)) == style);
  CHECK_THROWS_WITH_AS(evaluation::styleOf("Sync"),
                       "style Sync: expected single, subarrays, annotations, sync, auto, stencil "
                       "or template",
                       std::invalid_argument);
}

TEST_CASE("ghosts narrower than the stencil, and weights that a style cannot use, are refused") {
  CHECK(evaluation::ghostWidth({Style::Sync, 0}, 5) == 5);
  CHECK(evaluation::ghostWidth({Style::Sync, 7}, 5) == 7);
  CHECK_THROWS_WITH_AS(evaluation::ghostWidth({Style::Sync, 4}, 5),
                       "ghosts of width 4: the stencil reads 5 rows up and down; give 5 or more",
                       std::invalid_argument);
  RunOptions run;
  run.measuredWeights = true;
  CHECK_THROWS_WITH_AS(evaluation::planOf({Style::Annotations, 0}, run),
                       "measured weights: style annotations updates ghosts by hand and needs "
                       "numbers to know where they are; styles sync and auto can measure",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(evaluation::planOf({Style::Template, 0}, run),
                       "weights: style template prepares equal shares", std::invalid_argument);
}

}  // namespace pictures_tests
