// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "hpl/tune/allowance.h"
#include "hpl/tune/ladder.h"

namespace hpl::tune {

/// Limits on the cost of a RunningRace, in seconds of the program's work.
struct RunningCosts {
  /// Time used before anything is tried, and the share of the time used that trying may cost.
  double start = 1;
  double share = 0.03;
  /// Seconds that making a candidate takes until one has been made.
  double making = 0.2;
};

/// The books of trying while a program runs: a Ladder, what it has cost and may cost, and when to
/// look again. Work is counted in units (launches of a kernel, steps of an iteration), costs in
/// seconds. Without a clock: its driver measures, and knows what a candidate is.
///
/// First the driver probes how long a unit takes, again after four times as many units; once the
/// work has used RunningCosts::start it begins the ladder. In between there is nothing to do but to
/// count.
class RunningRace {
 public:
  /// `firstLook`: units before the first probe; they may compile and move data.
  RunningRace(const RunningCosts& costs, std::int64_t firstLook)
      : allowance_(costs.start, costs.share),
        making_(costs.making),
        wakeAt_(firstLook),
        nextProbe_(firstLook) {}

  // ---- units ----

  /// Counts units that were done. True if something else than work is due.
  bool count(std::int64_t units = 1) noexcept {
    done_ += units;
    return done_ >= wakeAt_;
  }
  std::int64_t done() const noexcept { return done_; }
  /// Units until something else is due.
  std::int64_t quiet() const noexcept { return std::max<std::int64_t>(0, wakeAt_ - done_); }
  /// Nothing is due for that many units.
  void sleep(std::int64_t units) noexcept { wakeAt_ = done_ + units; }
  /// Nothing is due until a trial of this cost may run; one unit at least.
  void sleepUntilAllowed(double cost);

  // ---- the time of a unit ----

  /// Seconds; 0: not known yet.
  double perUnit() const noexcept { return perUnit_; }
  void setPerUnit(double seconds) noexcept { perUnit_ = seconds; }
  /// By all units so far.
  double used() const noexcept { return static_cast<double>(done_) * perUnit_; }
  bool isProbeDue() const noexcept { return done_ >= nextProbe_; }
  /// A probe begins now, or has taken place.
  void noteProbe() noexcept { nextProbe_ = 4 * std::max(nextProbe_, done_); }
  /// Nothing is due until the next probe, or until the race may begin.
  void sleepUntilProbe();

  // ---- trying ----

  /// True if the work has used enough time for trying to begin.
  bool mayBegin() const noexcept { return perUnit_ > 0 && allowance_.hasBegun(used()); }
  /// As Ladder's constructor. No candidate counts as made.
  void begin(const std::vector<Point>& points, const std::optional<Finding>& known);
  bool hasBegun() const noexcept { return hasBegun_; }
  /// Without points until it has begun.
  Ladder& ladder() noexcept { return ladder_; }
  const Ladder& ladder() const noexcept { return ladder_; }

  /// True if a trial of this cost may run now.
  bool allows(double cost) const noexcept { return allowance_.covers(cost, used()); }
  /// Adds other seconds that trying took.
  void spend(double seconds) noexcept { allowance_.spend(seconds); }
  double spent() const noexcept { return allowance_.spent(); }

  /// By how much longer a unit of the challenger is likely to take, as a part of a unit: `unknown`
  /// where it has not been measured, 0.02 at least.
  double expectedLoss(double unknown = 1) const;
  /// The likely seconds of making another candidate.
  double making() const noexcept { return making_; }
  bool isMade(std::size_t candidate) const { return isMade_[candidate]; }
  void markMade(std::size_t candidate) { isMade_[candidate] = true; }
  /// Making it has taken so long; the first time that counts for others, too.
  void noteMade(std::size_t candidate, double seconds);
  /// Notes the seconds of `units` units of a leg: the incumbent's tell how long a unit takes, and
  /// the challenger's beyond that are spent.
  void noteTime(const Race::Leg& leg, double seconds, std::int64_t units);

 private:
  Ladder ladder_;
  bool hasBegun_ = false;
  Allowance allowance_;
  double making_;
  std::vector<bool> isMade_;
  double perUnit_ = 0;
  std::int64_t done_ = 0;
  std::int64_t wakeAt_;
  std::int64_t nextProbe_;
};

}  // namespace hpl::tune
