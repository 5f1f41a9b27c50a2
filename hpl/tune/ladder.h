// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "hpl/tune/race.h"
#include "hpl/tune/space.h"
#include "hpl/tune/store.h"

namespace hpl::tune {

/// Trying while a program runs. One candidate after the other races against the incumbent, the
/// variant in use, and takes its place if it is faster. At any time the best so far is known. A
/// state machine like Race: its driver decides when to measure.
class Ladder {
 public:
  /// Without challengers: finished.
  Ladder() = default;
  /// `points`: the default first, then the challengers, in this order. `known`: an earlier finding.
  /// Its best point begins as incumbent, and points that have lost do not run again.
  Ladder(const std::vector<Point>& points, const std::optional<Finding>& known);

  /// All points, first the one that is used without trying: the default, or an earlier finding.
  const std::vector<Point>& points() const noexcept { return points_; }
  bool isFinished() const noexcept { return !race_; }
  std::size_t incumbent() const noexcept { return incumbent_; }
  std::size_t challenger() const noexcept { return challenger_; }
  /// The point that the candidate of a leg, 0 or 1, stands for.
  std::size_t candidateOf(const Race::Leg& leg) const noexcept {
    return leg.candidate == 0 ? incumbent_ : challenger_;
  }
  /// The challenger's results so far.
  Standing standing() const;

  /// The leg to measure next; empty when all legs of the round are under way.
  std::optional<Race::Leg> next() const;
  void start(const Race::Leg& leg);
  /// Notes the time of a leg. True if that has decided about the challenger.
  bool record(const Race::Leg& leg, double seconds);
  /// The challenger cannot run: it is out.
  void fail();
  /// No more challengers.
  void stop() noexcept { race_.reset(); }

  /// True if a challenger has won or lost since takeNews().
  bool hasNews() const noexcept { return hasNews_; }
  void dropNews() noexcept { hasNews_ = false; }
  /// The finding so far, if it has changed since the last call. `note` is for people.
  std::optional<Finding> takeNews(const std::string& note);

 private:
  void nextChallenger();
  void settle(bool wins);

  std::vector<Point> points_;
  /// In earlier processes, too.
  std::vector<Point> lost_;
  /// The incumbent's time by the default's.
  double ratio_ = 1;
  double seconds_ = 0;
  int rounds_ = 0;
  std::size_t incumbent_ = 0;
  std::size_t challenger_ = 0;
  /// Candidate 0 is the incumbent, candidate 1 the challenger.
  std::optional<Race> race_;
  bool hasNews_ = false;
};

}  // namespace hpl::tune
