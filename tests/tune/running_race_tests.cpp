// SPDX-License-Identifier: Apache-2.0
// Trying while a program runs, without a program: units that take as long as a table says.
#include "hpl/tune/running_race.h"
#include "tests/seeds.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace running_race_tests {

using namespace hpl::tune;

namespace {

std::vector<Point> points(int count) {
  std::vector<Point> list;
  for (int k = 0; k < count; ++k) {
    Point point;
    if (k > 0) point.set("tile", k);
    list.push_back(point);
  }
  return list;
}

/// A program that does units of work and tries others, as the library's two races do.
struct Program {
  RunningRace race;
  /// Seconds of a unit by tile; 0: cannot be made.
  std::vector<double> seconds;
  /// Seconds of making one.
  double making = 0.05;
  std::mt19937 random{1};
  /// Seconds of the work beyond those that the incumbents alone would have taken.
  double lost = 0;
  std::int64_t unitsPerLeg = 10;

  double timeOf(std::size_t candidate, std::int64_t units) {
    const Point& point =
        race.ladder().points().empty() ? Point() : race.ladder().points()[candidate];
    const double noise = 1 + 0.002 * (static_cast<double>(random() % 1000) / 1000 - 0.5);
    return seconds[static_cast<std::size_t>(point.value("tile"))] * static_cast<double>(units) *
           noise;
  }

  void trial() {
    const auto leg = race.ladder().next();
    REQUIRE(leg);
    const std::size_t candidate = race.ladder().candidateOf(*leg);
    const double cost = leg->candidate == 0 ? 0
                                            : (race.isMade(candidate) ? 0 : race.making()) +
                                                  race.expectedLoss() * race.perUnit() *
                                                      static_cast<double>(unitsPerLeg);
    if (!race.allows(cost)) return race.sleepUntilAllowed(cost);
    const auto tile = static_cast<std::size_t>(race.ladder().points()[candidate].value("tile"));
    if (!race.isMade(candidate)) {
      lost += making;
      if (seconds[tile] == 0) {
        race.spend(making);
        race.ladder().fail();
        return;
      }
      race.noteMade(candidate, making);
    }
    race.ladder().start(*leg);
    const double took = timeOf(candidate, unitsPerLeg);
    lost += std::max(0.0, took - race.perUnit() * static_cast<double>(unitsPerLeg));
    race.count(unitsPerLeg);
    race.noteTime(*leg, took, unitsPerLeg);
    race.ladder().record(*leg, took / static_cast<double>(unitsPerLeg));
    race.sleep(0);
  }

  void run(std::int64_t units) {
    while (race.done() < units) {
      if (race.quiet() > 0) {
        race.count(race.quiet());
        continue;
      }
      if (race.hasBegun() && race.ladder().isFinished()) return;
      if (race.hasBegun()) {
        trial();
      } else if (race.mayBegin()) {
        race.begin(points(static_cast<int>(seconds.size())), std::nullopt);
        race.markMade(0);
      } else {
        race.setPerUnit(timeOf(0, 1));
        race.count();
        race.noteProbe();
        race.sleepUntilProbe();
      }
    }
  }
};

}  // namespace

TEST_CASE("a running race looks first when it is told to, then after four times as many units") {
  RunningRace race({1, 0.03, 0.2}, 4);
  CHECK(!race.count(3));
  CHECK(race.quiet() == 1);
  CHECK(race.count());
  CHECK(race.isProbeDue());
  race.noteProbe();
  race.sleepUntilProbe();
  CHECK(race.quiet() == 12);
  CHECK(!race.mayBegin());
  // A unit takes half a second: the race may begin at once, before the next probe.
  race.setPerUnit(0.5);
  race.sleepUntilProbe();
  CHECK(race.quiet() == 0);
  CHECK(race.mayBegin());
  race.setPerUnit(0.1);
  race.sleepUntilProbe();
  CHECK(race.quiet() == 6);
  CHECK(!race.mayBegin());
  race.count(6);
  CHECK(race.mayBegin());
}

TEST_CASE("a running race sleeps until the share of the time used pays for a trial") {
  RunningRace race({1, 0.01, 0.2}, 1);
  race.count(100);
  race.setPerUnit(0.01);
  CHECK(race.used() == doctest::Approx(1));
  CHECK(race.allows(0.01));
  CHECK(!race.allows(0.02));
  race.sleepUntilAllowed(0.02);
  CHECK(race.quiet() == 100);
  race.count(100);
  CHECK(race.allows(0.02));
  race.spend(0.02);
  CHECK(!race.allows(0.001));
  // One unit at least, and no overflow where a unit takes no time.
  race.sleepUntilAllowed(0);
  CHECK(race.quiet() >= 1);
  race.setPerUnit(0);
  race.sleepUntilAllowed(1e30);
  CHECK(race.quiet() > 1'000'000);
}

TEST_CASE("a running race expects of the unknown the worst, and of the known what it was") {
  RunningRace race({0, 1, 0.2}, 1);
  race.setPerUnit(1);
  race.begin(points(2), std::nullopt);
  CHECK(race.expectedLoss() == 1);
  CHECK(race.expectedLoss(30) == 30);
  CHECK(race.making() == 0.2);
  race.noteMade(1, 0.6);
  CHECK(race.isMade(1));
  CHECK(race.making() == 0.6);
  // The second time says nothing of what others will take.
  race.noteMade(1, 0.001);
  CHECK(race.making() == 0.6);
  CHECK(race.spent() == doctest::Approx(0.601));
  race.noteMade(0, 0.001);
  CHECK(race.making() == 0.3);
  for (int leg = 0; leg < 2; ++leg) {
    const auto next = race.ladder().next();
    REQUIRE(next);
    race.ladder().start(*next);
    race.noteTime(*next, next->candidate == 0 ? 10 : 15, 10);
    race.ladder().record(*next, next->candidate == 0 ? 1 : 1.5);
  }
  CHECK(race.perUnit() == 1);
}

TEST_CASE("running races end with the fastest candidate and lose no more than their share") {
  for (const unsigned seed : Seeds(1, 20)) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::vector<double> seconds{0.001};
    std::size_t fastest = 0;
    for (int k = 1; k < 5; ++k) {
      // Apart enough to be told, one in five cannot be made.
      seconds.push_back(random() % 5 == 0 ? 0
                                          : 0.0004 + 0.0002 * static_cast<double>(random() % 12));
      if (seconds.back() > 0 && seconds.back() < 0.97 * seconds[fastest])
        fastest = seconds.size() - 1;
    }
    Program program{RunningRace({0.5, 0.03, 0.05}, 4), seconds};
    program.random.seed(seed);
    program.run(40'000'000);
    CHECK(program.race.ladder().isFinished());
    const Point& best = program.race.ladder().points()[program.race.ladder().incumbent()];
    CHECK(seconds[static_cast<std::size_t>(best.value("tile"))] <= 1.03 * seconds[fastest]);
    // The trial that may run before its cost is known: there is one at a time.
    CHECK(program.lost <= 0.03 * program.race.used() + program.making + 0.05);
  }
}

}  // namespace running_race_tests
