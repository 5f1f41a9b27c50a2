// SPDX-License-Identifier: Apache-2.0
#include "hpl/tune/search.h"

#include <algorithm>
#include <chrono>

#include "hpl/error.h"

namespace hpl::tune {
namespace {

class Searcher {
 public:
  Searcher(const std::vector<Point>& points, const Measure& measure, const Clock& clock,
           const SearchOptions& options, const Observer& observer)
      : points_(points),
        measure_(measure),
        clock_(clock),
        options_(options),
        observer_(observer),
        race_(points.size(), options.race),
        begun_(points.size(), false),
        start_(clock()) {}

  Outcome run() {
    while (const auto leg = race_.next()) {
      if (isLate()) {
        race_.cutRound();
        if (elapsed() >= options_.seconds) break;
        continue;
      }
      race_.start(*leg);
      measure(*leg);
      report(false);
    }
    // Without a race the reference's time is still of interest.
    const double alone = points_.size() == 1 ? measure_(points_[0]) : 0;
    report(true);
    Outcome outcome = this->outcome();
    if (points_.size() == 1) outcome.seconds = outcome.referenceSeconds = alone;
    return outcome;
  }

 private:
  double elapsed() const { return clock_() - start_; }
  bool isLate() const {
    const double limit = race_.rounds() == 0 ? options_.firstRound : 1;
    return elapsed() >= limit * options_.seconds;
  }

  void measure(const Race::Leg& leg) {
    begun_[leg.candidate] = true;
    try {
      race_.record(leg, measure_(points_[leg.candidate]));
    } catch (const Error&) {
      if (leg.candidate == 0) throw;
      race_.fail(leg);
    }
  }

  void report(bool finished) const {
    if (!observer_) return;
    SearchProgress progress;
    progress.points = points_.size();
    progress.begun = static_cast<std::size_t>(std::count(begun_.begin(), begun_.end(), true));
    progress.remaining = race_.remaining();
    progress.round = race_.rounds() + (race_.isDecided() ? 0 : 1);
    progress.seconds = elapsed();
    progress.budget = options_.seconds;
    progress.finished = finished;
    observer_(progress);
  }

  Outcome outcome() const {
    Outcome outcome;
    outcome.best = race_.best();
    const Standing best = race_.standing(outcome.best);
    outcome.seconds = best.seconds;
    outcome.ratio = best.ratio;
    outcome.referenceSeconds = race_.standing(0).seconds;
    outcome.points = points_.size();
    for (std::size_t c = 0; c < points_.size(); ++c) {
      const Standing standing = race_.standing(c);
      outcome.measured += standing.rounds > 0 ? 1 : 0;
      outcome.failed += standing.hasFailed ? 1 : 0;
    }
    outcome.rounds = race_.rounds();
    outcome.decided = race_.isCertain() && outcome.measured + outcome.failed == outcome.points;
    outcome.elapsed = elapsed();
    return outcome;
  }

  const std::vector<Point>& points_;
  const Measure& measure_;
  const Clock& clock_;
  const SearchOptions& options_;
  const Observer& observer_;
  Race race_;
  std::vector<bool> begun_;
  double start_;
};

}  // namespace

Outcome search(const std::vector<Point>& points, const Measure& measure, const Clock& clock,
               const SearchOptions& options, const Observer& observer) {
  if (points.empty())
    throw ArgumentError(
        "tune::search: there is no point to measure; the first one is the reference");
  return Searcher(points, measure, clock, options, observer).run();
}

double secondsNow() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

}  // namespace hpl::tune
