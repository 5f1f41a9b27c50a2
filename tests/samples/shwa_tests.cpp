// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

#include "samples/common/comparison.h"
#include "samples/shwa/draw.h"
#include "samples/shwa/reference.h"
#include "samples/shwa/scenario.h"
#include "samples/shwa/simulate.h"
#include "samples/shwa/stoker.h"
#include "tests/samples/one_device.h"
#include "tests/samples/parsed.h"

namespace shwa_tests {

using namespace samples;
using shwa::Cell;
using shwa::Input;
using shwa::State;

namespace {

constexpr float kCourant = 0.35f;

/// A basin with walls, 1 m cells, ground and depth from functions of (row, column).
template <class Ground, class Depth>
Input basin(Extent extent, const Ground& ground, const Depth& depth) {
  Input input{Raster<float>(extent, shwa::kWallHeight), 1.0f, Raster<Cell>(extent)};
  for (int row = 1; row + 1 < extent.height; ++row) {
    for (int column = 1; column + 1 < extent.width; ++column) {
      input.ground.at(row, column) = static_cast<float>(ground(row, column));
      input.water.at(row, column).depth = static_cast<float>(depth(row, column));
    }
  }
  return input;
}

/// Rows and columns exchanged.
Raster<Cell> transposed(const Raster<Cell>& cells) {
  Raster<Cell> result(cells.width(), cells.height());
  for (int row = 0; row < cells.height(); ++row) {
    for (int column = 0; column < cells.width(); ++column) {
      const Cell& cell = cells.at(row, column);
      result.at(column, row) = {cell.depth, cell.alongY, cell.alongX, cell.pollutant};
    }
  }
  return result;
}

struct DamBreakErrors {
  double depth;    ///< mean difference, m
  double contact;  ///< difference of the place where the polluted water ends, m
};

DamBreakErrors damBreakErrors(int columns) {
  const Input input = shwa::makeScenario("dam-break", {3, columns + 2});
  const State state = shwa::referenceRun(input, columns * 3 / 4, kCourant);
  const shwa::DamBreakSolution exact(shwa::kDamBehind, shwa::kDamBefore, shwa::kGravity);
  REQUIRE(exact.boreVelocity() * state.time < 480);
  REQUIRE(state.time > 15);
  DamBreakErrors errors{0, -500};
  for (int column = 1; column <= columns; ++column) {
    const Cell& cell = state.cells.at(1, column);
    const double distance = (column - 0.5) * input.cellSize - 500;
    errors.depth += std::abs(cell.depth - exact.depth(distance, state.time)) / columns;
    errors.contact += input.cellSize * cell.pollutant / cell.depth;
  }
  errors.contact = std::abs(errors.contact - exact.middleVelocity() * state.time);
  return errors;
}

}  // namespace

TEST_CASE("a lake at rest stays at rest exactly, islands and shores included") {
  const Input input = shwa::makeScenario("lake-at-rest", {40, 60});
  const State state = shwa::referenceRun(input, 200, kCourant);
  CHECK(state.cells == input.water);
  CHECK(std::any_of(input.water.cells().begin(), input.water.cells().end(),
                    [](const Cell& cell) { return cell.depth == 0; }));
  CHECK(state.time > 10);
}

TEST_CASE("a lake over ground of any height stays at rest up to rounding") {
  std::mt19937 engine(11);
  const auto ground = [&](int, int) { return static_cast<double>(engine() % 1000000) / 3e5; };
  Input input = basin({30, 40}, ground, [](int, int) { return 0; });
  for (std::size_t i = 0; i < input.water.size(); ++i) {
    input.water.data()[i].depth = std::max(0.0f, 2.345678f - input.ground.data()[i]);
  }
  const State state = shwa::referenceRun(input, 300, kCourant);
  CHECK(shwa::largestVelocity(state.cells) < 1e-4);
}

TEST_CASE("no water and no pollutant gets lost, and no depth gets negative, where shores move") {
  const Input input = shwa::makeScenario("pollutant", {50, 66});
  const State state = shwa::referenceRun(input, 400, kCourant);
  CHECK(shwa::waterVolume(state.cells, input.cellSize) ==
        doctest::Approx(shwa::waterVolume(input.water, input.cellSize)).epsilon(1e-6));
  CHECK(shwa::pollutantVolume(state.cells, input.cellSize) ==
        doctest::Approx(shwa::pollutantVolume(input.water, input.cellSize)).epsilon(1e-6));
  int dry = 0;
  for (const Cell& cell : state.cells.cells()) {
    CHECK(cell.depth >= 0);
    CHECK(cell.pollutant >= 0);
    CHECK(cell.pollutant <= cell.depth * 1.0001f);
    dry += cell.depth == 0 ? 1 : 0;
  }
  CHECK(dry > 300);
  // The flood has reached places that were dry.
  CHECK(dry < std::count_if(
                  input.water.cells().begin(), input.water.cells().end(),
                  [](const Cell& cell) { return cell.depth == 0; }));
}

TEST_CASE("a dam break approaches Stoker's exact solution as cells get smaller") {
  const DamBreakErrors coarse = damBreakErrors(200);
  const DamBreakErrors fine = damBreakErrors(800);
  INFO("depth ", coarse.depth, " and ", fine.depth, ", contact ", coarse.contact, " and ",
       fine.contact);
  CHECK(coarse.depth < 0.1);
  CHECK(fine.depth < 0.03);
  CHECK(fine.depth < 0.45 * coarse.depth);
  CHECK(coarse.contact < 2);
  CHECK(fine.contact < 1);
}

TEST_CASE("a dam break onto dry ground approaches Ritter's solution") {
  // Depth 4/9 of the original one at the dam, and no water beyond 2 sqrt(g h) t.
  const Input input = basin(
      {3, 402}, [](int, int) { return 0; },
      [](int, int column) { return column <= 200 ? 4.0 : 0.0; });
  const State state = shwa::referenceRun(input, 250, kCourant);
  const double celerity = std::sqrt(shwa::kGravity * 4);
  REQUIRE(celerity * state.time < 190);
  CHECK(state.cells.at(1, 200).depth == doctest::Approx(16.0 / 9).epsilon(0.05));
  CHECK(state.cells.at(1, 201).depth == doctest::Approx(16.0 / 9).epsilon(0.05));
  for (int column = 201; column <= 400; ++column) {
    const double distance = column - 200.5;
    const double ray = std::min(distance / state.time, 2 * celerity);
    const double exact = std::pow(2 * celerity - ray, 2) / (9 * shwa::kGravity);
    CHECK(std::abs(state.cells.at(1, column).depth - exact) < 0.06);
  }
}

TEST_CASE("rows and columns are alike: a transposed basin gives the transposed water") {
  std::mt19937 engine(5);
  const auto ground = [&](int, int) { return static_cast<double>(engine() % 1000) / 400; };
  const auto depth = [&](int, int) { return static_cast<double>(engine() % 3); };
  Input input = basin({12, 17}, ground, depth);
  for (std::size_t i = 0; i < input.water.size(); ++i) {
    Cell& cell = input.water.data()[i];
    cell.pollutant = cell.depth * static_cast<float>(engine() % 100) / 100;
  }
  Input turned{Raster<float>(17, 12), 1.0f, transposed(input.water)};
  for (int row = 0; row < 12; ++row) {
    for (int column = 0; column < 17; ++column) {
      turned.ground.at(column, row) = input.ground.at(row, column);
    }
  }
  const State state = shwa::referenceRun(input, 100, kCourant);
  CHECK(transposed(shwa::referenceRun(turned, 100, kCourant).cells) == state.cells);
  CHECK_FALSE(state.cells == input.water);
}

TEST_CASE("the device simulates as the reference does, and hands out the frames asked for") {
  for (const Extent extent : {Extent{3, 3}, Extent{9, 17}, Extent{40, 33}}) {
    INFO(extent.width, " x ", extent.height);
    const Input input = shwa::makeScenario("pollutant", extent);
    shwa::Options options;
    options.run.iterations = 23;
    options.every = 10;
    std::vector<State> frames;
    Progress progress(23, "steps", Progress::Mode::Off);
    const State state = shwa::simulate(input, options, oneDevice(), progress,
                                       [&](const State& frame) { frames.push_back(frame); });
    REQUIRE(frames.size() == 3);
    const double tolerance = strictFloatingPoint() ? 0.0 : 1e-3;
    for (int i = 0; i < 3; ++i) {
      const State expected = shwa::referenceRun(input, 10 * i, kCourant);
      CHECK(frames[static_cast<std::size_t>(i)].steps == 10 * i);
      CHECK(
          compare(shwa::flat(frames[static_cast<std::size_t>(i)].cells), shwa::flat(expected.cells))
              .largest <= tolerance);
    }
    const State expected = shwa::referenceRun(input, 23, kCourant);
    CHECK(compare(shwa::flat(state.cells), shwa::flat(expected.cells)).largest <= tolerance);
    CHECK(state.time == doctest::Approx(expected.time));
    CHECK(state.steps == 23);
  }
}

TEST_CASE("water is drawn in blues, polluted water in reds, land in the colours of land") {
  Input input = basin(
      {5, 6}, [](int, int column) { return column; },
      [](int, int column) { return column <= 2 ? 3 - column : 0; });
  input.water.at(1, 1).pollutant = 2;
  const shwa::Painter painter(input, 9);
  CHECK(painter.width() == 8);
  CHECK(painter.height() == 6);
  const Image image = painter.image(input.water);
  REQUIRE(image.palette.size() == 256);
  const auto colorAt = [&](int x, int y) { return image.palette[*image.pixel(x, y)]; };
  CHECK(colorAt(0, 0).red > colorAt(0, 0).blue);
  CHECK(colorAt(0, 3).blue > colorAt(0, 3).red);
  CHECK(*image.pixel(6, 0) == 63);
  CHECK(*image.pixel(4, 0) < 63);
  // A large basin is drawn with every third cell.
  CHECK(shwa::Painter(basin(
                          {32, 62}, [](int, int) { return 0; }, [](int, int) { return 1; }),
                      20)
            .width() == 20);
}

TEST_CASE("shwa understands its options and says what is wrong with them") {
  const auto parsed =
      parsedBy(shwa::parseOptions, {"--scenario", "dam-break", "--size", "400x30", "-n", "250",
                                    "--courant", "0.2", "--gif", "a.gif", "--delay", "9"});
  REQUIRE(parsed.options);
  CHECK(parsed.options->scenario == "dam-break");
  CHECK(parsed.options->extent == Extent{30, 400});
  CHECK(parsed.options->run.iterations == 250);
  CHECK(parsed.options->courant == 0.2f);
  CHECK(parsed.options->every == 3);
  CHECK(parsed.options->delay == 9);
  CHECK(parsedBy(shwa::parseOptions, {"--size", "paper"}).options->extent == Extent{2000, 2000});
  const auto wrong = parsedBy(shwa::parseOptions, {"--scenario", "flood"});
  CHECK(wrong.exitCode == 1);
  CHECK(wrong.errors.find("flood not in {dam-break,pollutant,lake-at-rest}") != std::string::npos);
  CHECK(parsedBy(shwa::parseOptions, {"--courant", "0.6"}).exitCode == 1);
  CHECK(parsedBy(shwa::parseOptions, {"--size", "2"}).errors.find("each side from 3 to 16384") !=
        std::string::npos);
  CHECK_THROWS_WITH_AS(
      shwa::makeScenario("flood", {9, 9}),
      "there is no scenario 'flood'; those that exist: dam-break, pollutant, lake-at-rest",
      std::invalid_argument);
  CHECK_THROWS_WITH_AS(shwa::makeScenario("pollutant", {2, 9}),
                       "a basin needs at least 3 x 3 cells, walls included", std::invalid_argument);
}

}  // namespace shwa_tests
