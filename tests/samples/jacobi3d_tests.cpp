// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "samples/common/comparison.h"
#include "samples/jacobi3d/reference.h"
#include "samples/jacobi3d/solve.h"
#include "tests/samples/one_device.h"
#include "tests/samples/parsed.h"

namespace jacobi3d_tests {

using namespace samples;
using jacobi3d::Boundary;
using jacobi3d::Cube;

namespace {

/// The harmonic function in all points.
Cube exactCube(Boundary boundary, int side) {
  Cube cube(side);
  const double step = 1.0 / (side - 1);
  for (int z = 0; z < side; ++z) {
    for (int y = 0; y < side; ++y) {
      for (int x = 0; x < side; ++x) {
        cube.at(z, y, x) =
            static_cast<float>(jacobi3d::exact(boundary, z * step, y * step, x * step));
      }
    }
  }
  return cube;
}

}  // namespace

TEST_CASE("the functions on the boundary are harmonic") {
  constexpr double h = 1e-3;
  for (const Boundary boundary : {Boundary::Saddle, Boundary::Sine}) {
    for (const double at : {0.2, 0.45, 0.8}) {
      const auto u = [&](double z, double y, double x) {
        return jacobi3d::exact(boundary, at + z, 0.9 - at / 2 + y, 0.3 + x);
      };
      const double laplacian = (u(h, 0, 0) + u(-h, 0, 0) + u(0, h, 0) + u(0, -h, 0) + u(0, 0, h) +
                                u(0, 0, -h) - 6 * u(0, 0, 0)) /
                               (h * h);
      CHECK(std::abs(laplacian) < 1e-4);
    }
  }
}

TEST_CASE("the saddle is a fixed point of both stencils") {
  const Cube saddle = exactCube(Boundary::Saddle, 12);
  for (const int points : {7, 27}) {
    const Cube next = jacobi3d::referenceRun(saddle, 1, points);
    CHECK(compare(next.values, saddle.values).largest < 5e-7);
  }
}

TEST_CASE("the iteration converges to the exact solution where the stencil has no error") {
  for (const int points : {7, 27}) {
    const Cube start = jacobi3d::start(Boundary::Saddle, 10);
    CHECK(jacobi3d::largestError(start, Boundary::Saddle) > 0.1);
    const Cube end = jacobi3d::referenceRun(start, 400, points);
    CHECK(jacobi3d::largestError(end, Boundary::Saddle) < 2e-6);
  }
}

TEST_CASE("with half the distance between points the error of 7 points falls to a quarter") {
  double errors[2];
  for (const int level : {0, 1}) {
    const int side = 8 * (1 + level) + 1;
    const int iterations = 300 * (1 + 3 * level);
    const Cube end = jacobi3d::referenceRun(jacobi3d::start(Boundary::Sine, side), iterations, 7);
    errors[level] = jacobi3d::largestError(end, Boundary::Sine);
  }
  INFO("errors ", errors[0], " and ", errors[1]);
  CHECK(errors[0] < 1e-2);
  CHECK(errors[0] / errors[1] == doctest::Approx(4).epsilon(0.1));
}

TEST_CASE("27 points are far more exact: their error is even in all directions") {
  // The leading term of the error is the Laplacian of the Laplacian, 0 for harmonic functions.
  const Cube end = jacobi3d::referenceRun(jacobi3d::start(Boundary::Sine, 9), 300, 27);
  CHECK(jacobi3d::largestError(end, Boundary::Sine) < 5e-6);
}

TEST_CASE("no point leaves the range of the boundary") {
  const Cube start = jacobi3d::start(Boundary::Sine, 9);
  for (const int iterations : {1, 5, 50}) {
    const Cube cube = jacobi3d::referenceRun(start, iterations, 7);
    const auto [low, high] = std::minmax_element(cube.values.begin(), cube.values.end());
    CHECK(*low >= -1e-7f);
    CHECK(*high <= 1.0f);
  }
}

TEST_CASE("the device iterates as the reference does") {
  for (const int points : {7, 27}) {
    for (const int side : {3, 10}) {
      INFO(points, " points, side ", side);
      jacobi3d::Options options;
      options.points = points;
      options.tolerance = 0;
      options.run.iterations = 13;
      const Cube start = jacobi3d::start(Boundary::Saddle, side);
      Progress progress(13, "iterations", Progress::Mode::Off);
      const auto result = jacobi3d::solve(start, options, oneDevice(), progress);
      CHECK(result.iterations == 13);
      const Cube expected = jacobi3d::referenceRun(start, 13, points);
      CHECK(compare(result.cube.values, expected.values).largest <=
            (strictFloatingPoint() ? 0.0 : 1e-5));
      const Cube before = jacobi3d::referenceRun(start, 12, points);
      CHECK(result.change == doctest::Approx(compare(expected.values, before.values).largest));
    }
  }
}

TEST_CASE(
    "the device stops within one look of the first that finds no change above the tolerance") {
  jacobi3d::Options options;
  options.tolerance = 1e-4f;
  options.every = 10;
  options.run.iterations = 1000;
  const Cube start = jacobi3d::start(Boundary::Sine, 10);
  Progress progress(1000, "iterations", Progress::Mode::Off);
  const auto result = jacobi3d::solve(start, options, oneDevice(), progress);
  CHECK(result.iterations % 10 == 0);
  CHECK(result.iterations < 1000);
  CHECK(result.change <= 1e-4f);
  const auto changeAt = [&](int iteration) {
    return compare(jacobi3d::referenceRun(start, iteration, 7).values,
                   jacobi3d::referenceRun(start, iteration - 1, 7).values)
        .largest;
  };
  CHECK(changeAt(result.iterations) <= 1.01e-4);
  // A look decides while the steps to the next one run.
  CHECK(changeAt(result.iterations - 20) > 0.99e-4);
}

TEST_CASE("impossible cubes and stencils are refused") {
  CHECK_THROWS_WITH_AS(Cube(2), "the cube needs at least 3 points per side, got 2",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(jacobi3d::referenceRun(Cube(3), 1, 19),
                       "the stencil has 7 or 27 points, not 19", std::invalid_argument);
}

TEST_CASE("jacobi3d understands its options and says what is wrong with them") {
  const auto parsed =
      parsedBy(jacobi3d::parseOptions, {"--size", "paper", "--points", "27", "--boundary", "saddle",
                                        "--tolerance", "0.5", "--every", "7", "-n", "9"});
  REQUIRE(parsed.options);
  CHECK(parsed.options->side == 512);
  CHECK(parsed.options->points == 27);
  CHECK(parsed.options->boundary == Boundary::Saddle);
  CHECK(parsed.options->tolerance == 0.5f);
  CHECK(parsed.options->every == 7);
  CHECK(parsed.options->run.iterations == 9);
  CHECK(parsedBy(jacobi3d::parseOptions, {"--size", "2"}).errors ==
        "--size 2: expected 'paper' (512) or the points per side, 3 to 1024\n");
  CHECK(parsedBy(jacobi3d::parseOptions, {"--size", "8x8"}).exitCode == 1);
  const auto points = parsedBy(jacobi3d::parseOptions, {"--points", "9"});
  CHECK(points.exitCode == 1);
  CHECK(points.errors.find("--points: 9 not in {7,27}") != std::string::npos);
}

}  // namespace jacobi3d_tests
