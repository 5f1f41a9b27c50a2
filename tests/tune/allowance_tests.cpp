// SPDX-License-Identifier: Apache-2.0
#include "hpl/tune/allowance.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "hpl/tune/race.h"

namespace allowance_tests {

using namespace hpl::tune;

TEST_CASE("nothing is tried before the start, and then a share of what was used") {
  Allowance allowance(1.0, 0.03);
  CHECK_FALSE(allowance.covers(0.001, 0.9));
  CHECK(allowance.covers(0.03, 1.0));
  CHECK_FALSE(allowance.covers(0.031, 1.0));
  CHECK(allowance.neededFor(0.001) == doctest::Approx(1));
  CHECK(allowance.neededFor(0.3) == doctest::Approx(10));
  allowance.spend(0.03);
  CHECK_FALSE(allowance.covers(0.001, 1.0));
  CHECK(allowance.covers(0.03, 2.0));
  CHECK(allowance.spent() == doctest::Approx(0.03));
}

TEST_CASE("a program that tries as it is allowed to loses no more than the share") {
  // A kernel of 2 ms, ten challengers between half and three times its time, each to be compiled.
  constexpr double kKernel = 2e-3;
  constexpr double kCompiling = 0.15;
  Allowance allowance(1.0, 0.03);
  double used = 0;
  double worst = 0;
  double firstTry = 0;
  int settled = 0;
  for (int challenger = 0; challenger < 10; ++challenger) {
    const double factor = 0.5 + 0.25 * challenger;
    Race race(2);
    bool made = false;
    while (const auto leg = race.next()) {
      // An unknown candidate is taken for twice as slow.
      const Standing standing = race.standing(1);
      const double loss = standing.rounds > 0 ? standing.ratio - 1 : 1.0;
      const double guess =
          leg->candidate == 0 ? 0 : (made ? 0 : kCompiling) + kKernel * (loss > 0 ? loss : 0);
      while (!allowance.covers(guess, used)) used += kKernel;
      if (firstTry == 0) firstTry = used;
      const double seconds = leg->candidate == 0 ? kKernel : factor * kKernel;
      if (leg->candidate != 0 && factor > 1) allowance.spend(seconds - kKernel);
      if (leg->candidate != 0 && !made) allowance.spend(kCompiling);
      made = made || leg->candidate != 0;
      used += kKernel;
      race.start(*leg);
      race.record(*leg, seconds);
      worst = std::max(worst, allowance.spent() / used);
    }
    CHECK(race.best() == (factor < 0.98 ? 1u : 0u));
    ++settled;
  }
  CHECK(settled == 10);
  CHECK(firstTry >= 1.0);
  CHECK(worst <= 0.0302);
}

}  // namespace allowance_tests
