// SPDX-License-Identifier: Apache-2.0
#include "hpl/tune/race.h"

#include <doctest/doctest.h>

#include "hpl/error.h"

namespace race_tests {

using namespace hpl::tune;

namespace {

/// One round in which everybody takes what `seconds` says.
void runRound(Race& race, const std::vector<double>& seconds) {
  const int before = race.rounds();
  while (race.rounds() == before && !race.isDecided()) {
    const auto leg = race.next();
    REQUIRE(leg);
    race.start(*leg);
    race.record(*leg, seconds[leg->candidate]);
  }
}

std::vector<std::size_t> order(const Race& original) {
  Race race = original;
  std::vector<std::size_t> result;
  while (const auto leg = race.next()) {
    race.start(*leg);
    result.push_back(leg->candidate);
  }
  return result;
}

}  // namespace

TEST_CASE("the reference runs before, between and after the candidates, which run there and back") {
  RaceOptions options;
  options.block = 2;
  Race race(4, options);
  CHECK(order(race) == std::vector<std::size_t>{0, 1, 2, 0, 3, 0});
  runRound(race, {1, 1, 1, 1});
  CHECK(order(race) == std::vector<std::size_t>{0, 3, 2, 0, 1, 0});
}

TEST_CASE("legs may come back in any order, and late ones are ignored") {
  Race race(3);
  std::vector<Race::Leg> legs;
  while (const auto leg = race.next()) {
    race.start(*leg);
    legs.push_back(*leg);
  }
  REQUIRE(legs.size() == 4);
  for (std::size_t i = legs.size(); i-- > 0;) race.record(legs[i], legs[i].candidate == 1 ? 2 : 1);
  CHECK(race.rounds() == 1);
  race.record(legs[0], 1000);
  CHECK(race.rounds() == 1);
  CHECK(race.standing(1).ratio == doctest::Approx(2));
  CHECK(race.standing(1).seconds == doctest::Approx(2));
}

TEST_CASE("who is far behind leaves early, who is a little behind after three rounds") {
  Race race(4);
  const std::vector<double> seconds{1, 10, 1.5, 1.1};
  runRound(race, seconds);
  CHECK(race.standing(1).isOut);
  CHECK(race.remaining() == 3);
  runRound(race, seconds);
  CHECK(race.standing(2).isOut);
  CHECK_FALSE(race.standing(3).isOut);
  runRound(race, seconds);
  CHECK(race.isDecided());
  CHECK(race.best() == 0);
}

TEST_CASE("the best candidate runs a final against the reference, which alone counts") {
  Race race(3);
  for (int round = 0; round < 3; ++round) runRound(race, {1, 0.8, 1.2});
  CHECK_FALSE(race.isDecided());
  CHECK(race.best() == 0);
  CHECK(order(race) == std::vector<std::size_t>{0, 1, 0});
  SUBCASE("it is as fast as before") {
    for (int round = 0; round < 5; ++round) runRound(race, {1, 0.85, 0});
    CHECK(race.isDecided());
    CHECK(race.best() == 1);
    CHECK(race.standing(1).ratio == doctest::Approx(0.85));
  }
  SUBCASE("it was lucky") {
    for (int round = 0; round < 5; ++round) runRound(race, {1, 1.01, 0});
    CHECK(race.isDecided());
    CHECK(race.best() == 0);
  }
  CHECK(race.isCertain());
}

TEST_CASE("a difference within the spread of the rounds is not decided before the last round") {
  RaceOptions options;
  options.maxFinal = 9;
  Race race(2, options);
  for (int round = 0; round < 12; ++round) {
    CHECK_FALSE(race.isDecided());
    runRound(race, {1, round < 3 || round % 2 == 0 ? 0.9 : 1.1});
  }
  CHECK(race.isDecided());
  CHECK_FALSE(race.isCertain());
  CHECK(race.best() == 0);
}

TEST_CASE("candidates that cannot be told apart meet in a limited number of rounds") {
  RaceOptions options;
  options.maxRounds = 6;
  Race race(3, options);
  for (int round = 0; round < 6; ++round) {
    CHECK(race.remaining() == 3);
    runRound(race, {1, round % 2 == 0 ? 0.7 : 0.9, round % 2 == 0 ? 0.9 : 0.7});
  }
  CHECK(race.remaining() == 2);
  while (!race.isDecided()) runRound(race, {1, 0.8, 0.8});
  CHECK(race.best() != 0);
}

TEST_CASE("a round that is cut leaves out who was not measured") {
  Race race(3);
  for (int i = 0; i < 2; ++i) {
    const auto leg = race.next();
    race.start(*leg);
    race.record(*leg, 1);
  }
  race.cutRound();
  CHECK(race.rounds() == 1);
  CHECK_FALSE(race.standing(1).isOut);
  CHECK(race.standing(2).isOut);
  CHECK_FALSE(race.standing(2).hasFailed);
}

TEST_CASE("a race with nobody but the reference is decided at once") {
  Race race(1);
  CHECK(race.isDecided());
  CHECK_FALSE(race.next());
  CHECK(race.best() == 0);
}

TEST_CASE("a race without a reference is refused, and so is a reference that fails") {
  CHECK_THROWS_WITH_AS(Race(0), "tune::Race needs the reference, candidate 0", hpl::ArgumentError);
  Race race(2);
  CHECK_THROWS_WITH_AS(race.fail(*race.next()),
                       "tune::Race: the reference, candidate 0, must be able to run",
                       hpl::ArgumentError);
}

}  // namespace race_tests
