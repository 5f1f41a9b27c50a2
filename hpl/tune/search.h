// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "hpl/tune/race.h"
#include "hpl/tune/space.h"

/// A race that is run at once, in a limited time.
namespace hpl::tune {

struct SearchOptions {
  /// Time limit of the search, after which it ends with the best point that is certain by then.
  /// Beginning with a point (compiling a kernel) counts.
  double seconds = 60;
  /// The fraction of it for the first round. Points that the round does not reach are left out, so
  /// put the most promising ones first.
  double firstRound = 0.7;
  RaceOptions race;
};

struct SearchProgress {
  /// Number of points, and of those that have begun.
  std::size_t points = 0;
  std::size_t begun = 0;
  /// Points still in the race, and the number of the round.
  std::size_t remaining = 0;
  int round = 1;
  double seconds = 0;
  double budget = 0;
  bool finished = false;
};

struct Outcome {
  /// Position of the fastest point; 0, the reference, unless another one is faster beyond doubt.
  std::size_t best = 0;
  /// Seconds of both, and the median of their ratios over the rounds.
  double seconds = 0;
  double referenceSeconds = 0;
  double ratio = 1;
  std::size_t points = 0;
  std::size_t measured = 0;
  std::size_t failed = 0;
  int rounds = 0;
  /// Every point was tried, and neither time nor rounds ran out before it was certain.
  bool decided = false;
  double elapsed = 0;
};

/// Seconds of one measurement of a point. Throws hpl::Error for a point that cannot run.
using Measure = std::function<double(const Point&)>;
/// Seconds since some moment.
using Clock = std::function<double()>;
using Observer = std::function<void(const SearchProgress&)>;

/// Finds the fastest of `points`. The first is the reference: the point used without tuning, and
/// kept unless another one is faster by more than RaceOptions::tolerance. Throws ArgumentError
/// without points, and what `measure` throws for the reference.
Outcome search(const std::vector<Point>& points, const Measure& measure, const Clock& clock,
               const SearchOptions& options = {}, const Observer& observer = {});

/// The clock of the machine.
double secondsNow();

}  // namespace hpl::tune
