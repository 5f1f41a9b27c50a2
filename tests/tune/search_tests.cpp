// SPDX-License-Identifier: Apache-2.0
#include "hpl/tune/search.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "hpl/error.h"
#include "tests/seeds.h"
#include "tests/tune/fake_machine.h"

namespace search_tests {

using namespace hpl::tune;
using hpl::tune::test::FakeMachine;

namespace {

int total(const std::vector<int>& counts) {
  return std::accumulate(counts.begin(), counts.end(), 0);
}

/// 40 points between 0.7 and 4 times the reference's 10 ms; number 23 is the fastest.
std::vector<double> landscape() {
  std::vector<double> truth{0.010};
  for (int i = 1; i < 40; ++i) truth.push_back(0.0085 + 0.0008 * ((i * 7) % 40));
  truth[23] = 0.007;
  return truth;
}

}  // namespace

TEST_CASE("without noise the fastest point wins after few measurements") {
  FakeMachine machine{.truth = landscape()};
  const Outcome outcome = machine.search();
  CHECK(outcome.best == 23);
  CHECK(outcome.ratio == doctest::Approx(0.7));
  CHECK(outcome.seconds == doctest::Approx(0.007));
  CHECK(outcome.referenceSeconds == doctest::Approx(0.010));
  CHECK(outcome.decided);
  CHECK(outcome.rounds == 3 + 5);
  CHECK(outcome.measured == 40);
  // Far fewer than 40 points in 3 rounds.
  CHECK(total(machine.measurements) < 100);
  CHECK(outcome.elapsed == doctest::Approx(machine.now));
}

TEST_CASE("noise, drift and outliers do not change who wins") {
  int wins = 0;
  for (const unsigned seed : Seeds(1, 50)) {
    FakeMachine machine{
        .truth = landscape(), .noise = 0.05, .drift = 0.2, .outlierEvery = 12, .seed = seed};
    const Outcome outcome = machine.search();
    // Never one that is slower than the reference.
    CHECK(machine.truth[outcome.best] <= machine.truth[0]);
    // Within a few per cent of the best: that is what tuning is for.
    if (machine.truth[outcome.best] <= 1.03 * 0.007) ++wins;
  }
  // With one measurement in twelve three times too long, two of three rounds may be hit.
  CHECK(wins >= 45);
}

TEST_CASE("a machine that becomes slower and slower is no reason to prefer who ran first") {
  FakeMachine machine{.truth = {0.010, 0.012, 0.010, 0.0125, 0.009, 0.011}, .drift = 5};
  const Outcome outcome = machine.search();
  CHECK(outcome.best == 4);
  CHECK(outcome.ratio == doctest::Approx(0.9).epsilon(0.03));
}

TEST_CASE("where all points are equally fast the reference stays") {
  int mistakes = 0;
  for (const unsigned seed : Seeds(1, 30)) {
    FakeMachine machine{.truth = std::vector<double>(20, 0.01), .noise = 0.03, .seed = seed};
    const Outcome outcome = machine.search();
    mistakes += outcome.best != 0 ? 1 : 0;
  }
  // A mistake costs nothing here; it may happen to one program in thirty.
  CHECK(mistakes <= 2);
}

TEST_CASE("a gain below the tolerance is none") {
  FakeMachine machine{.truth = {0.0100, 0.0099}};
  CHECK(machine.search().best == 0);
  SearchOptions finer;
  finer.race.tolerance = 0.005;
  CHECK(machine.search(finer).best == 1);
}

TEST_CASE("of two points that are equally good one wins, and the search ends") {
  FakeMachine machine{.truth = {0.010, 0.008, 0.008}, .noise = 0.01};
  const Outcome outcome = machine.search();
  CHECK(outcome.best != 0);
  CHECK(outcome.rounds < RaceOptions{}.maxRounds + RaceOptions{}.maxFinal);
  CHECK(outcome.decided);
}

TEST_CASE("the search ends in time, with the reference when nothing is certain yet") {
  SearchOptions options;
  options.seconds = 0.5;
  FakeMachine slow{.truth = landscape(), .beginning = 0.2};
  const Outcome outcome = slow.search(options);
  CHECK(slow.now <= 0.5 + 0.2 + 0.05);
  CHECK_FALSE(outcome.decided);
  CHECK(outcome.measured < 10);
  CHECK(outcome.best == 0);

  // The first points come first: with time for some of them the best of these wins.
  std::vector<double> truth(40, 0.010);
  truth[2] = 0.006;
  truth[39] = 0.001;
  FakeMachine partly{.truth = truth, .beginning = 0.1};
  options.seconds = 1.5;
  CHECK(partly.search(options).best == 2);
  CHECK(partly.measurements[39] == 0);
}

TEST_CASE("points that cannot run are left out, and the reference must run") {
  FakeMachine machine{.truth = {0.010, 0.001, 0.008}};
  const auto measure = [&](const Point& point) {
    if (point.value("p") == 1) throw hpl::LaunchError("too many registers");
    return machine.measure(point);
  };
  const auto clock = [&] { return machine.now; };
  const Outcome outcome = search(machine.points(), measure, clock);
  CHECK(outcome.best == 2);
  CHECK(outcome.failed == 1);
  const auto never = [](const Point&) -> double { throw hpl::LaunchError("no device"); };
  CHECK_THROWS_WITH_AS(search(machine.points(), never, clock), "no device", hpl::LaunchError);
}

TEST_CASE("a single point is the reference and is measured") {
  FakeMachine machine{.truth = {0.010}};
  const Outcome outcome = machine.search();
  CHECK(outcome.best == 0);
  CHECK(outcome.referenceSeconds == doctest::Approx(0.010));
  CHECK_THROWS_WITH_AS(search(
                           {}, [](const Point&) { return 1.0; }, [] { return 0.0; }),
                       "tune::search: there is no point to measure; the first one is the reference",
                       hpl::ArgumentError);
}

TEST_CASE("the observer hears of every measurement, and of the end") {
  FakeMachine machine{.truth = landscape()};
  std::size_t calls = 0;
  SearchProgress last;
  machine.search({}, [&](const SearchProgress& progress) {
    CHECK(progress.begun >= last.begun);
    CHECK(progress.seconds >= last.seconds);
    CHECK_FALSE(last.finished);
    last = progress;
    ++calls;
  });
  CHECK(last.finished);
  CHECK(last.begun == 40);
  CHECK(last.points == 40);
  CHECK(calls == static_cast<std::size_t>(total(machine.measurements)) + 1);
}

}  // namespace search_tests
