// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "hpl/launch/detail/shares.h"

namespace shares_tests {

using hpl::launch::sharesOf;

TEST_CASE("shares are in proportion to speeds") {
  const std::vector<double> shares = sharesOf({3, 1, 4}, 0.1);
  CHECK(shares[0] == doctest::Approx(0.375));
  CHECK(shares[1] == doctest::Approx(0.125));
  CHECK(shares[2] == doctest::Approx(0.5));
}

TEST_CASE("a device that seems to be slow gets as much as its neighbours want of it") {
  const std::vector<double> shares = sharesOf({1000, 1, 1000}, 0.02);
  CHECK(shares[1] == 0.02);
  CHECK(shares[0] == doctest::Approx(0.49));
  CHECK(shares[2] == doctest::Approx(0.49));
}

TEST_CASE("shares add up to the whole, keep the order of the speeds, and none is too small") {
  const unsigned seed = 11;
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 500; ++round) {
    std::vector<double> speeds(1 + random() % 5);
    for (double& speed : speeds) speed = 1.0 / (1 + random() % (random() % 2 == 0 ? 4 : 100000));
    const double least = 0.99 / static_cast<double>(speeds.size()) * (random() % 11) / 10;
    const std::vector<double> shares = sharesOf(speeds, least);
    CHECK(std::accumulate(shares.begin(), shares.end(), 0.0) == doctest::Approx(1));
    for (std::size_t a = 0; a < shares.size(); ++a) {
      CHECK(shares[a] >= least);
      for (std::size_t b = 0; b < shares.size(); ++b)
        if (speeds[a] <= speeds[b]) CHECK(shares[a] <= shares[b] * (1 + 1e-12));
    }
  }
}

TEST_CASE("where no shares would do, they are in proportion to speeds all the same") {
  const std::vector<double> shares = sharesOf({3, 1}, 0.6);
  CHECK(shares[0] == doctest::Approx(0.75));
}

}  // namespace shares_tests
