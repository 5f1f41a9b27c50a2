// SPDX-License-Identifier: Apache-2.0
#include "samples/common/comparison.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace comparison_tests {

using namespace samples;

TEST_CASE("a comparison counts what differs and finds the largest difference") {
  const std::vector<float> a = {1, 2, 3, 0.0f};
  const std::vector<float> b = {1, 2.5f, 1, -0.0f};
  const Comparison comparison = compare(a, b);
  CHECK(comparison.values == 4);
  CHECK(comparison.different == 2);
  CHECK(comparison.largest == 2);
  CHECK(compare(a, a).different == 0);
}

TEST_CASE("what is no number is infinitely far from anything") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> a = {nan, 1};
  const std::vector<float> b = {1, 4};
  CHECK(std::isinf(compare(a, b).largest));
  CHECK(std::isinf(compare(b, a).largest));
  CHECK_FALSE(reportCheck("numbers", compare(a, b), 1e30));
}

TEST_CASE("results of different lengths are refused") {
  const std::vector<unsigned char> a = {1, 2};
  const std::vector<unsigned char> b = {1};
  CHECK_THROWS_WITH_AS(compare(a, b), "compare needs two results of the same length",
                       std::invalid_argument);
}

TEST_CASE("a check allows the tolerance, and none under strict floating point") {
  CHECK(reportCheck("equal", {10, 0, 0}, 0));
  CHECK(reportCheck("close", {10, 1, 0.5}, 1) == !strictFloatingPoint());
  CHECK_FALSE(reportCheck("far", {10, 1, 2}, 1));
}

}  // namespace comparison_tests
