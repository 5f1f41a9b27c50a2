// SPDX-License-Identifier: Apache-2.0
#include "samples/shwa/stoker.h"

#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>

namespace shwa_stoker_tests {

using samples::shwa::DamBreakSolution;

TEST_CASE("mass and momentum are conserved across the bore of a dam break") {
  constexpr double g = 9.81;
  for (const double before : {0.1, 2.0, 9.5}) {
    const DamBreakSolution dam(10, before, g);
    const double h = dam.middleDepth();
    const double u = dam.middleVelocity();
    const double s = dam.boreVelocity();
    CHECK(h > before);
    CHECK(h < 10);
    CHECK(s * (h - before) == doctest::Approx(h * u));
    CHECK(s * h * u == doctest::Approx(h * u * u + g / 2 * (h * h - before * before)));
    // u + 2c is the same everywhere left of the bore.
    for (const double x : {-120.0, -60.0, -9.0, 5.0, s * 10 - 1e-6}) {
      CHECK(dam.velocity(x, 10) + 2 * std::sqrt(g * dam.depth(x, 10)) ==
            doctest::Approx(2 * std::sqrt(g * 10)));
    }
    CHECK(dam.depth(s * 10 + 1e-6, 10) == before);
    CHECK(dam.velocity(s * 10 + 1e-6, 10) == 0);
  }
}

TEST_CASE("the solution of a dam break contains as much water as there was") {
  const DamBreakSolution dam(10, 2, 9.81);
  double water = 0;
  for (int i = 0; i < 100000; ++i) water += 0.01 * dam.depth(-500 + 0.01 * (i + 0.5), 20);
  CHECK(water == doctest::Approx(500 * 10 + 500 * 2).epsilon(1e-5));
}

TEST_CASE("a dam without a difference of depths is refused") {
  const char* message = "a dam break needs 0 < depth before the dam < depth behind it";
  CHECK_THROWS_WITH_AS(DamBreakSolution(1, 1, 9.81), message, std::invalid_argument);
  CHECK_THROWS_WITH_AS(DamBreakSolution(1, 0, 9.81), message, std::invalid_argument);
}

}  // namespace shwa_stoker_tests
