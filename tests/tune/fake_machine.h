// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <random>
#include <vector>

#include "hpl/tune/search.h"

namespace hpl::tune::test {

/// A machine whose clock only moves while it measures, with known true times and the troubles of
/// real machines.
struct FakeMachine {
  /// True seconds of the points, which have their position as dimension "p".
  std::vector<double> truth;
  /// Relative standard deviation of every measurement.
  double noise = 0;
  /// All times grow by this factor per second of the clock: a machine that others make busy.
  double drift = 0;
  /// One measurement in this many takes three times as long.
  int outlierEvery = 0;
  /// Seconds to begin with a point.
  double beginning = 0;
  unsigned seed = 1;

  double now = 0;
  std::vector<int> measurements = std::vector<int>(truth.size(), 0);
  std::mt19937 random{seed};

  std::vector<Point> points() const {
    std::vector<Point> result;
    for (std::size_t p = 0; p < truth.size(); ++p)
      result.push_back({{"p", static_cast<std::int64_t>(p)}});
    return result;
  }

  double measure(const Point& point) {
    const auto p = static_cast<std::size_t>(point.value("p"));
    if (measurements[p]++ == 0) now += beginning;
    double seconds = truth[p] * (1 + drift * now);
    if (noise > 0) seconds *= std::max(0.1, std::normal_distribution<double>(1, noise)(random));
    if (outlierEvery > 0 && random() % static_cast<unsigned>(outlierEvery) == 0) seconds *= 3;
    now += seconds;
    return seconds;
  }

  Outcome search(const SearchOptions& options = {}, const Observer& observer = {}) {
    return tune::search(
        points(), [this](const Point& p) { return measure(p); }, [this] { return now; }, options,
        observer);
  }
};

}  // namespace hpl::tune::test
