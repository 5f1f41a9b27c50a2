// SPDX-License-Identifier: Apache-2.0
#include "hpl/tune/ladder.h"

#include <doctest/doctest.h>

namespace ladder_tests {

using namespace hpl::tune;

namespace {

Point point(std::int64_t number) { return {{"p", number}}; }

/// The default and `last` others.
std::vector<Point> pointsUpTo(std::int64_t last) {
  std::vector<Point> points{Point()};
  for (std::int64_t p = 1; p <= last; ++p) points.push_back(point(p));
  return points;
}

/// Measures until no challenger is left; `seconds` are by the number of the point, 0 for the
/// default. Returns how many times each was measured.
std::vector<int> run(Ladder& ladder, const std::vector<double>& seconds) {
  std::vector<int> measured(seconds.size());
  for (int leg = 0; !ladder.isFinished() && leg < 10000; ++leg) {
    const auto next = ladder.next();
    REQUIRE(next);
    const Point& who = ladder.points()[ladder.candidateOf(*next)];
    const auto number = static_cast<std::size_t>(who.value("p"));
    ++measured[number];
    ladder.start(*next);
    ladder.record(*next, seconds[number]);
  }
  REQUIRE(ladder.isFinished());
  return measured;
}

}  // namespace

TEST_CASE("nobody challenges an empty ladder") {
  Ladder ladder;
  CHECK(ladder.isFinished());
  CHECK_FALSE(ladder.next());
  CHECK_FALSE(ladder.takeNews(""));
  ladder.fail();
  CHECK_FALSE(ladder.hasNews());
}

TEST_CASE(
    "whoever is faster than the incumbent takes its place, and is challenged by the next one") {
  Ladder ladder(pointsUpTo(4), {});
  CHECK(ladder.incumbent() == 0);
  CHECK(ladder.challenger() == 1);
  const std::vector<int> measured = run(ladder, {1.0, 1.2, 0.5, 0.8, 0.25});
  CHECK(ladder.points()[ladder.incumbent()] == point(4));
  // Those that lose are not measured for long.
  CHECK(measured[1] < measured[2]);
  const auto finding = ladder.takeNews("a note");
  REQUIRE(finding);
  CHECK(finding->best == point(4));
  CHECK(finding->ratio == doctest::Approx(0.25));
  CHECK(finding->seconds == doctest::Approx(0.25));
  CHECK(finding->complete);
  CHECK_FALSE(finding->thorough);
  CHECK(finding->note == "a note");
  // The default is no candidate for those who come later, so it is not listed.
  CHECK(finding->lost == std::vector<Point>{point(1), point(3), point(2)});
  CHECK_FALSE(ladder.takeNews("again"));
}

TEST_CASE("a ladder goes on where an earlier one stopped") {
  Ladder first(pointsUpTo(4), {});
  std::optional<Finding> known;
  while (!known) {
    const auto leg = first.next();
    first.start(*leg);
    first.record(*leg, first.candidateOf(*leg) == 0 ? 1.0 : 0.5);
    if (first.challenger() == 3) known = first.takeNews("");
  }
  CHECK(known->best == point(1));
  CHECK_FALSE(known->complete);
  Ladder second(pointsUpTo(4), known);
  CHECK(second.points() == std::vector<Point>{point(1), point(3), point(4)});
  const std::vector<int> measured = run(second, {1.0, 0.5, 0.5, 0.6, 0.6});
  CHECK(measured[0] == 0);
  CHECK(measured[2] == 0);
  CHECK(second.points()[second.incumbent()] == point(1));
  const auto finding = second.takeNews("");
  REQUIRE(finding);
  CHECK(finding->best == point(1));
  CHECK(finding->ratio == doctest::Approx(0.5));
  CHECK(finding->complete);
}

TEST_CASE("a challenger that cannot run is out, and the next one begins") {
  Ladder ladder(pointsUpTo(2), {});
  ladder.fail();
  CHECK(ladder.challenger() == 2);
  CHECK(ladder.hasNews());
  ladder.fail();
  CHECK(ladder.isFinished());
  const auto finding = ladder.takeNews("");
  REQUIRE(finding);
  CHECK(finding->best == Point());
  CHECK(finding->lost == std::vector<Point>{point(1), point(2)});
}

TEST_CASE("a ladder that is stopped keeps its incumbent") {
  Ladder ladder(pointsUpTo(3), {});
  while (ladder.challenger() == 1) {
    const auto leg = ladder.next();
    ladder.start(*leg);
    ladder.record(*leg, leg->candidate == 0 ? 1.0 : 0.5);
  }
  ladder.stop();
  CHECK(ladder.isFinished());
  CHECK(ladder.incumbent() == 1);
  CHECK_FALSE(ladder.next());
}

}  // namespace ladder_tests
