// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <stdexcept>

#include "samples/common/comparison.h"
#include "samples/gauss/reference.h"
#include "samples/gauss/smooth.h"
#include "samples/gauss/weights.h"
#include "tests/samples/one_device.h"
#include "tests/samples/parsed.h"

namespace gauss_tests {

using namespace samples;

namespace {

Raster<float> randomPicture(Extent extent, unsigned seed) {
  std::mt19937 engine(seed);
  Raster<float> picture(extent);
  for (std::size_t i = 0; i < picture.size(); ++i) {
    picture.data()[i] = static_cast<float>(engine() % 256);
  }
  return picture;
}

/// One convolution in double, first along rows, then along columns, of the inner pixels.
Raster<double> separable(const Raster<float>& picture, double sigma) {
  double line[11];
  double sum = 0;
  for (int i = 0; i < 11; ++i) sum += line[i] = std::exp(-(i - 5) * (i - 5) / (2 * sigma * sigma));
  Raster<double> rows(picture.extent());
  Raster<double> both(picture.extent());
  for (int row = 0; row < picture.height(); ++row) {
    for (int column = 5; column < picture.width() - 5; ++column) {
      for (int i = 0; i < 11; ++i) {
        rows.at(row, column) += line[i] / sum * picture.at(row, column + i - 5);
      }
    }
  }
  for (int row = 5; row < picture.height() - 5; ++row) {
    for (int column = 5; column < picture.width() - 5; ++column) {
      for (int i = 0; i < 11; ++i) {
        both.at(row, column) += line[i] / sum * rows.at(row + i - 5, column);
      }
    }
  }
  return both;
}

}  // namespace

TEST_CASE("the weights add up to 1 and fall off as a Gaussian does") {
  for (const double sigma : {0.5, 1.4, 2.0, 9.0}) {
    const auto weights = gauss::gaussianWeights(sigma);
    CHECK(std::accumulate(weights.begin(), weights.end(), 0.0) == doctest::Approx(1));
    const float middle = weights[60];
    CHECK(weights[61] / middle == doctest::Approx(std::exp(-0.5 / (sigma * sigma))));
    CHECK(weights[60 + 11] == weights[61]);
    CHECK(weights[60 - 11 * 2 - 1] / middle == doctest::Approx(std::exp(-2.5 / (sigma * sigma))));
  }
  CHECK_THROWS_WITH_AS(gauss::gaussianWeights(0), "the width of a Gaussian must be positive",
                       std::invalid_argument);
}

TEST_CASE("the filter equals two filters of one dimension, computed in double") {
  const Raster<float> picture = randomPicture({31, 40}, 3);
  for (const double sigma : {0.7, 2.0, 5.0}) {
    const Raster<double> expected = separable(picture, sigma);
    const Raster<float> result = gauss::referenceRun(picture, 1, gauss::gaussianWeights(sigma));
    for (int row = 0; row < 31; ++row) {
      for (int column = 0; column < 40; ++column) {
        const bool inner = row >= 5 && row < 26 && column >= 5 && column < 35;
        const double value =
            inner ? expected.at(row, column) : static_cast<double>(picture.at(row, column));
        CHECK(std::abs(result.at(row, column) - value) < 1e-4);
      }
    }
  }
}

TEST_CASE("a point spreads as heat does: each iteration adds the same variance") {
  constexpr int side = 121;
  constexpr double sigma = 1.2;  // 11 x 11 weights hold all of it
  Raster<float> picture(side, side);
  picture.at(60, 60) = 1000;
  for (const int iterations : {1, 4, 9}) {
    const Raster<float> spread =
        gauss::referenceRun(picture, iterations, gauss::gaussianWeights(sigma));
    double mass = 0;
    double variance = 0;
    for (int row = 0; row < side; ++row) {
      for (int column = 0; column < side; ++column) {
        mass += spread.at(row, column);
        variance += spread.at(row, column) * (column - 60.0) * (column - 60.0);
      }
    }
    CHECK(mass == doctest::Approx(1000).epsilon(1e-5));
    CHECK(variance / mass == doctest::Approx(iterations * sigma * sigma).epsilon(1e-3));
  }
}

TEST_CASE("the device smoothes as the reference does") {
  unsigned seed = 1;
  for (const Extent extent : {Extent{11, 11}, Extent{13, 30}, Extent{23, 37}}) {
    for (const int iterations : {0, 1, 6}) {
      INFO(extent.width, " x ", extent.height, ", ", iterations, " iterations, seed ", seed);
      const Raster<float> picture = randomPicture(extent, seed++);
      gauss::Options options;
      options.run.iterations = iterations;
      Progress progress(iterations, "iterations", Progress::Mode::Off);
      const Raster<float> result = gauss::smooth(picture, options, oneDevice(), progress);
      const Raster<float> expected =
          gauss::referenceRun(picture, iterations, gauss::gaussianWeights(options.sigma));
      CHECK(compare(result.cells(), expected.cells()).largest <=
            (strictFloatingPoint() ? 0.0 : 1e-3));
    }
  }
}

TEST_CASE("a filter of another size is refused") {
  const std::vector<float> nine(9);
  CHECK_THROWS_WITH_AS(gauss::referenceRun(Raster<float>(12, 12), 1, nine),
                       "the filter needs 11 x 11 weights, got 9", std::invalid_argument);
}

TEST_CASE("gauss understands its options and says what is wrong with them") {
  const auto parsed = parsedBy(gauss::parseOptions,
                               {"-s", "paper", "-n", "1000", "--sigma", "1.5", "--png", "b.png"});
  REQUIRE(parsed.options);
  CHECK(parsed.options->extent == Extent{4096, 4096});
  CHECK(parsed.options->run.iterations == 1000);
  CHECK(parsed.options->sigma == 1.5);
  CHECK(parsed.options->png == "b.png");
  const auto small = parsedBy(gauss::parseOptions, {"--size", "10"});
  CHECK(small.exitCode == 1);
  CHECK(small.errors.find("--size 10: expected") == 0);
  CHECK(small.errors.find("each side from 11 to 32768") != std::string::npos);
  CHECK(parsedBy(gauss::parseOptions, {"-n", "-1"}).exitCode == 1);
}

}  // namespace gauss_tests
