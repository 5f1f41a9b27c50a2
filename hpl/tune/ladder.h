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

/// Trying while a program runs: one candidate after the other races against the one that is used,
/// the king, and takes its place if it is faster. Whatever time there is, something is known at its
/// end. A state machine like Race: whoever drives it decides when to measure.
class Ladder {
 public:
  /// Nobody challenges anybody yet: finished.
  Ladder() = default;
  /// `points`: the default first, then those that are to challenge, in this order. `known`: what
  /// was found earlier: its best point begins as king, and what has lost does not run again.
  Ladder(const std::vector<Point>& points, const std::optional<Finding>& known);

  /// What is used without this first: the default, or what was found earlier.
  const std::vector<Point>& points() const noexcept { return points_; }
  bool isFinished() const noexcept { return !race_; }
  std::size_t king() const noexcept { return king_; }
  std::size_t challenger() const noexcept { return challenger_; }
  /// Who is meant by the candidate of a leg, 0 or 1.
  std::size_t candidateOf(const Race::Leg& leg) const noexcept {
    return leg.candidate == 0 ? king_ : challenger_;
  }
  /// How the challenger stands.
  Standing standing() const;

  /// What to measure next; nothing when all legs of the round are under way.
  std::optional<Race::Leg> next() const;
  void start(const Race::Leg& leg);
  /// What a leg has taken; whether that has decided about the challenger.
  bool record(const Race::Leg& leg, double seconds);
  /// The challenger cannot run: it is out.
  void fail();
  /// No more challengers.
  void stop() noexcept { race_.reset(); }

  /// Something has been decided since takeNews().
  bool hasNews() const noexcept { return hasNews_; }
  void dropNews() noexcept { hasNews_ = false; }
  /// What has been found out so far, if anything has since the last time; `note` is for people.
  std::optional<Finding> takeNews(const std::string& note);

 private:
  void nextChallenger();
  void settle(bool wins);

  std::vector<Point> points_;
  /// In earlier processes, too.
  std::vector<Point> lost_;
  /// The king's time by the default's.
  double ratio_ = 1;
  double seconds_ = 0;
  int rounds_ = 0;
  std::size_t king_ = 0;
  std::size_t challenger_ = 0;
  /// Candidate 0 is the king, candidate 1 the challenger.
  std::optional<Race> race_;
  bool hasNews_ = false;
};

}  // namespace hpl::tune
