// SPDX-License-Identifier: Apache-2.0
// The host styles of canny and gauss, on all numbers of devices that there are up to four. ctest
// runs these cases under several HPL_DEVICES.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>

#include "samples/canny/host.h"
#include "samples/canny/reference.h"
#include "samples/common/comparison.h"
#include "samples/common/plan_choice.h"
#include "samples/common/row_parts.h"
#include "samples/common/test_picture.h"
#include "samples/gauss/host.h"
#include "samples/gauss/reference.h"
#include "samples/gauss/weights.h"
#include "tests/samples/parsed.h"

using namespace samples;

namespace {

constexpr Style kDistributed[] = {Style::Subarrays, Style::Annotations, Style::Sync,
                                  Style::Auto,      Style::Stencil,     Style::Template};

/// Of all pictures in which edges are sought: kernels depend on the size, and each device builds
/// its own, which takes nearly all of the time of these tests.
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

Raster<float> smoothed(const Raster<float>& picture, const RunOptions& run) {
  gauss::Options options;
  options.run = run;
  Progress progress(run.iterations, "iterations", Progress::Mode::Off);
  return gauss::runStyle(picture, options, choosePlan(run), progress);
}

void checkSmoothed(const Raster<float>& picture, const RunOptions& run,
                   const Raster<float>& expected) {
  INFO(styleName(run.style), ", ", run.devices, " devices, ", run.weights.size(), " weights, ",
       run.ghostWidth, " ghosts");
  const Raster<float> result = smoothed(picture, run);
  CHECK(compare(result.cells(), expected.cells()).largest <= (strictFloatingPoint() ? 0.0 : 1e-3));
}

Raster<unsigned char> edges(const Raster<unsigned char>& picture, const RunOptions& run,
                            bool hysteresis) {
  canny::Options options;
  options.run = run;
  options.low = 15;
  options.high = 90;
  options.hysteresis = hysteresis;
  Progress progress(run.iterations, "pictures", Progress::Mode::Off);
  return canny::runStyle(picture, options, choosePlan(run), progress);
}

/// Calls check(run) for each style, number of devices from `fewest` on, width of the ghosts, and
/// for equal and uneven shares.
template <class Check>
void forEachRun(int iterations, int fewest, const std::vector<int>& widths, Check check) {
  for (const Style style : kDistributed) {
    for (int devices = fewest; devices <= deviceCount(); ++devices) {
      for (const int width :
           style == Style::Auto || style == Style::Stencil ? std::vector<int>{0} : widths) {
        for (const bool uneven : {false, true}) {
          if (uneven && style == Style::Template) continue;  // prepares equal shares
          RunOptions run;
          run.iterations = iterations;
          run.style = style;
          run.devices = devices;
          run.ghostWidth = width;
          if (uneven) run.weights = unevenWeights(devices);
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
      gauss::referenceRun(picture, kIterations, gauss::gaussianWeights(2.0));
  forEachRun(kIterations, 1, {0, 5, 7, 10, 15},
             [&](const RunOptions& run) { checkSmoothed(picture, run, expected); });
}

TEST_CASE("gauss: measured weights change the speed and not the result") {
  const Raster<float> picture = randomPicture({600, 20}, 6);
  const Raster<float> expected = gauss::referenceRun(picture, 3, gauss::gaussianWeights(2.0));
  RunOptions run;
  run.iterations = 3;
  run.measuredWeights = true;
  for (const Style style : {Style::Sync, Style::Auto}) {
    run.style = style;
    checkSmoothed(picture, run, expected);
  }
}

TEST_CASE("canny: every style finds the edges that the reference finds, on one to four devices") {
  const Raster<unsigned char> picture = testPicture({kRows, kColumns});
  const Raster<unsigned char> labels = canny::referenceLabels(picture, 15, 90);
  // Two frames: the second one begins with ghosts of the first.
  forEachRun(2, 1, {0, 3, 4, 6}, [&](const RunOptions& run) {
    INFO(styleName(run.style), ", ", run.devices, " devices, ", run.weights.size(), " weights, ",
         run.ghostWidth, " ghosts");
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
  const Raster<unsigned char> labels = canny::referenceLabels(picture, 15, 90);
  const Raster<unsigned char> linked = canny::referenceHysteresis(labels);
  REQUIRE(labels.at(40, 6) == 128);
  REQUIRE(linked.at(67, 6) == 255);
  forEachRun(1, deviceCount(), {2, 5}, [&](const RunOptions& run) {
    INFO(styleName(run.style), ", ", run.devices, " devices, ", run.weights.size(), " weights, ",
         run.ghostWidth, " ghosts");
    CHECK(edges(picture, run, true) == linked);
  });
}

TEST_CASE("canny: weak edges in noise are linked across the parts' borders") {
  std::mt19937 engine(11);
  Raster<unsigned char> picture(kRows, kColumns);
  for (std::size_t i = 0; i < picture.size(); ++i) {
    picture.data()[i] = static_cast<unsigned char>(100 + engine() % 70);
  }
  const Raster<unsigned char> labels = canny::referenceLabels(picture, 15, 90);
  const Raster<unsigned char> linked = canny::referenceHysteresis(labels);
  REQUIRE(labels != linked);
  forEachRun(2, deviceCount(), {2, 3, 4}, [&](const RunOptions& run) {
    INFO(styleName(run.style), ", ", run.devices, " devices, ", run.weights.size(), " weights, ",
         run.ghostWidth, " ghosts");
    CHECK(edges(picture, run, true) == linked);
  });
}

TEST_CASE("canny: ghosts of two rows are exchanged after the first kernel, ghosts of four never") {
  if (deviceCount() < 2) return;
  const Raster<unsigned char> picture = testPicture({kRows, kColumns});
  RunOptions run;
  run.style = Style::Sync;
  run.devices = 2;
  const auto moved = [&](int frames) {
    run.iterations = frames;
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
  CHECK(ownedRows(11, equal) == std::vector<int>{4, 4, 3});
  CHECK(ownedRows(12, equal) == std::vector<int>{4, 4, 4});
  const hpl::ExecutionPlan uneven({{devices[0], 1}, {devices[1], 5}, {devices[2], 2}});
  CHECK(ownedRows(16, uneven) == std::vector<int>{2, 10, 4});
  CHECK(ownedRows(17, uneven) == std::vector<int>{2, 11, 4});  // 2.125, 10.625, 4.25
  const std::vector<hpl::Range> parts = rowParts(16, uneven, 1);
  REQUIRE(parts.size() == 3);
  CHECK(parts[0].first == 0);
  CHECK(parts[0].last == 2);
  CHECK(parts[1].first == 1);
  CHECK(parts[1].last == 12);
  CHECK(parts[2].first == 11);
  CHECK(parts[2].last == 15);
  CHECK_THROWS_WITH_AS(rowParts(16, uneven, 2),
                       "--ghost-width 2: a device would own 2 rows, and ghosts updated by hand "
                       "need twice their width; use fewer --devices, other --weights or narrower "
                       "ghosts",
                       std::invalid_argument);
}

TEST_CASE("the options of several devices are understood") {
  const auto parsed = parsedBy(
      gauss::parseOptions,
      {"--style", "sync", "--devices", "3", "--weights", "1,0.5,2", "--ghost-width", "10"});
  REQUIRE(parsed.options);
  CHECK(parsed.options->run.style == Style::Sync);
  CHECK(parsed.options->run.devices == 3);
  CHECK(parsed.options->run.weights == std::vector<double>{1, 0.5, 2});
  CHECK(parsed.options->run.ghostWidth == 10);
  const auto measured = parsedBy(canny::parseOptions, {"--style", "auto", "--weights", "measured"});
  REQUIRE(measured.options);
  CHECK(measured.options->run.measuredWeights);
  CHECK(measured.options->run.weights.empty());
  CHECK(parsedBy(canny::parseOptions, {}).options->run.style == Style::Single);
}

TEST_CASE("wrong options of several devices are refused with the option and the reason") {
  struct Wrong {
    std::vector<const char*> arguments;
    const char* message;
  };
  const Wrong list[] = {
      {{"--style", "Sync"},
       "--style Sync: expected single, subarrays, annotations, sync, auto, stencil or template\n"},
      {{"--devices", "0", "--style", "sync"}, "--devices 0: expected a number from 1 on\n"},
      {{"--devices", "2"}, "--devices: style single runs on one device; choose another --style\n"},
      {{"--weights", "1,2"},
       "--weights: style single runs on one device; choose another --style\n"},
      {{"--ghost-width", "9"},
       "--ghost-width: style single runs on one device; choose another --style\n"},
      {{"--style", "sync", "--weights", "1,,2"},
       "--weights 1,,2: expected 'measured', or positive numbers separated by commas, one for each "
       "device\n"},
      {{"--style", "sync", "--weights", "1,0"},
       "--weights 1,0: expected 'measured', or positive numbers separated by commas, one for each "
       "device\n"},
      {{"--style", "sync", "--weights", "1,2", "--devices", "3"},
       "--weights: 2 numbers for 3 devices (--devices); give one for each\n"},
      {{"--style", "annotations", "--weights", "measured"},
       "--weights measured: style annotations updates ghosts by hand and needs numbers to know "
       "where they are; styles sync and auto can measure\n"},
      {{"--style", "template", "--weights", "1,2"},
       "--weights: style template prepares equal shares; choose another --style\n"},
      {{"--style", "auto", "--ghost-width", "9"},
       "--ghost-width: style auto has no ghosts to widen; the library moves what is needed\n"},
      {{"--style", "sync", "--device", "0"},
       "--device 0: style sync runs on all devices of a type: give gpu, cpu or accelerator, and "
       "--devices for some of them\n"},
      {{"--style", "sync", "--ghost-width", "4"},
       "--ghost-width 4: the stencil reads 5 rows up and down; give 5 or more\n"},
  };
  for (const Wrong& wrong : list) {
    const auto parsed = parsedBy(gauss::parseOptions, wrong.arguments);
    CHECK_FALSE(parsed.options);
    CHECK(parsed.exitCode == 1);
    CHECK(parsed.errors == wrong.message);
  }
}

TEST_CASE("devices and weights that do not fit this machine are refused") {
  const int there = hpl::getDeviceNumber(hpl::Device().type());
  RunOptions run;
  run.style = Style::Sync;
  run.devices = there + 1;
  const std::string tooMany = "--devices " + std::to_string(there + 1) + ": there are " +
                              std::to_string(there) + " of type ";
  CHECK_THROWS_WITH_AS(choosePlan(run), doctest::Contains(tooMany.c_str()), std::invalid_argument);
  run.devices = 0;
  run.weights.assign(static_cast<std::size_t>(there) + 1, 1.0);
  const std::string unequal = "--weights: " + std::to_string(there + 1) + " numbers for " +
                              std::to_string(there) + " devices";
  CHECK_THROWS_WITH_AS(choosePlan(run), doctest::Contains(unequal.c_str()), std::invalid_argument);
}
