// SPDX-License-Identifier: Apache-2.0
#include "hpl/tune/running_race.h"

#include <cmath>

namespace hpl::tune {
namespace {

/// Farther away than any program gets.
constexpr double kNever = 1e15;

}  // namespace

void RunningRace::sleepUntilAllowed(double cost) {
  const double missing = allowance_.neededFor(cost) - used();
  const double units = std::clamp(missing / std::max(perUnit_, 1e-12), 1.0, kNever);
  sleep(static_cast<std::int64_t>(units));
}

void RunningRace::sleepUntilProbe() {
  wakeAt_ = nextProbe_;
  if (perUnit_ <= 0) return;
  const double begins = std::min(std::ceil(allowance_.neededFor(0) / perUnit_), kNever);
  wakeAt_ = std::min(nextProbe_, static_cast<std::int64_t>(begins));
}

void RunningRace::begin(const std::vector<Point>& points, const std::optional<Finding>& known) {
  hasBegun_ = true;
  ladder_ = Ladder(points, known);
  isMade_.assign(ladder_.points().size(), false);
}

double RunningRace::expectedLoss(double unknown) const {
  const Standing standing = ladder_.standing();
  return standing.rounds == 0 ? unknown : std::max(0.02, standing.ratio - 1);
}

void RunningRace::noteMade(std::size_t candidate, double seconds) {
  spend(seconds);
  // The time of a candidate from a cache says little about that of others.
  if (!isMade_[candidate]) making_ = std::max(seconds, making_ / 2);
  isMade_[candidate] = true;
}

void RunningRace::noteTime(const Race::Leg& leg, double seconds, std::int64_t units) {
  const auto count = static_cast<double>(units);
  if (leg.candidate == 0) {
    perUnit_ = seconds / count;
  } else {
    spend(std::max(0.0, seconds - perUnit_ * count));
  }
}

}  // namespace hpl::tune
