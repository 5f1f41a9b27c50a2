// SPDX-License-Identifier: Apache-2.0
#include "hpl/tune/ladder.h"

#include <algorithm>

namespace hpl::tune {
namespace {

RaceOptions raceOptions() {
  RaceOptions options;
  // The incumbent's measurements cost nothing, so every one of the challenger has its own.
  options.block = 1;
  return options;
}

}  // namespace

Ladder::Ladder(const std::vector<Point>& points, const std::optional<Finding>& known)
    : points_{points.empty() ? Point() : points.front()} {
  if (known) {
    lost_ = known->lost;
    ratio_ = known->ratio;
    seconds_ = known->seconds;
    rounds_ = known->rounds;
    points_.front() = known->best;
  }
  for (std::size_t k = 1; k < points.size(); ++k)
    if (!(points[k] == points_.front()) &&
        std::find(lost_.begin(), lost_.end(), points[k]) == lost_.end())
      points_.push_back(points[k]);
  nextChallenger();
}

void Ladder::nextChallenger() {
  race_.reset();
  if (++challenger_ < points_.size()) race_.emplace(2, raceOptions());
}

/// The challenger takes the incumbent's place, or is out.
void Ladder::settle(bool wins) {
  rounds_ += race_->rounds();
  if (wins) {
    // The default is no candidate for those who come later.
    if (!(points_[incumbent_] == Point())) lost_.push_back(points_[incumbent_]);
    ratio_ *= race_->standing(1).ratio;
    seconds_ = race_->standing(1).seconds;
    incumbent_ = challenger_;
  } else {
    lost_.push_back(points_[challenger_]);
    if (seconds_ == 0) seconds_ = race_->standing(0).seconds;
  }
  hasNews_ = true;
  nextChallenger();
}

Standing Ladder::standing() const { return race_ ? race_->standing(1) : Standing(); }

std::optional<Race::Leg> Ladder::next() const { return race_ ? race_->next() : std::nullopt; }

void Ladder::start(const Race::Leg& leg) {
  if (race_) race_->start(leg);
}

bool Ladder::record(const Race::Leg& leg, double seconds) {
  if (!race_) return false;
  race_->record(leg, seconds);
  if (!race_->isDecided()) return false;
  settle(race_->best() == 1);
  return true;
}

void Ladder::fail() {
  if (race_) settle(false);
}

std::optional<Finding> Ladder::takeNews(const std::string& note) {
  if (!hasNews_) return std::nullopt;
  hasNews_ = false;
  Finding finding;
  finding.best = points_[incumbent_];
  finding.ratio = ratio_;
  finding.seconds = seconds_;
  finding.rounds = rounds_;
  finding.complete = isFinished();
  finding.lost = lost_;
  finding.note = note;
  return finding;
}

}  // namespace hpl::tune
