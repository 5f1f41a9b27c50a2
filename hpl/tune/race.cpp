// SPDX-License-Identifier: Apache-2.0
#include "hpl/tune/race.h"

#include <algorithm>
#include <cmath>

#include "hpl/error.h"

namespace hpl::tune {
namespace {

double median(std::vector<double> values) {
  if (values.empty()) return 1;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// Between which of the sorted values the median of what they are drawn from lies: an interval of
/// ranks around the middle, whatever the distribution (normal approximation of the sign test).
struct Interval {
  double low = 1;
  double high = 1;
};
Interval medianInterval(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  const double rank = std::floor(count / 2 - 0.82 * std::sqrt(count));
  const auto low = static_cast<std::size_t>(std::max(0.0, rank));
  return {values[low], values[values.size() - 1 - low]};
}

}  // namespace

Race::Race(std::size_t candidates, RaceOptions options)
    : options_(options), runners_(candidates), decided_(candidates < 2) {
  if (candidates == 0) throw ArgumentError("tune::Race needs the reference, candidate 0");
  if (options_.block == 0) throw ArgumentError("tune::RaceOptions::block must be at least 1");
  if (!decided_) beginRound();
}

std::optional<Race::Leg> Race::next() const {
  if (decided_) return std::nullopt;
  for (std::size_t i = 0; i < round_.size(); ++i)
    if (round_[i].state == State::Waiting) return Leg{firstNumber_ + i, round_[i].candidate};
  return std::nullopt;
}

void Race::start(const Leg& leg) {
  if (leg.number >= firstNumber_ && leg.number < firstNumber_ + round_.size())
    round_[leg.number - firstNumber_].state = State::UnderWay;
}

void Race::record(const Leg& leg, double seconds) {
  if (decided_ || leg.number < firstNumber_ || leg.number >= firstNumber_ + round_.size()) return;
  Entry& entry = round_[leg.number - firstNumber_];
  entry.state = State::Done;
  entry.seconds = seconds;
  endRoundIfComplete();
}

void Race::fail(const Leg& leg) {
  if (leg.candidate == 0)
    throw ArgumentError("tune::Race: the reference, candidate 0, must be able to run");
  runners_[leg.candidate].isOut = runners_[leg.candidate].hasFailed = true;
  if (decided_ || leg.number < firstNumber_ || leg.number >= firstNumber_ + round_.size()) return;
  round_[leg.number - firstNumber_].state = State::Failed;
  endRoundIfComplete();
}

void Race::cutRound() {
  if (decided_) return;
  for (Entry& entry : round_) {
    if (entry.state == State::Done || entry.state == State::Failed) continue;
    if (entry.candidate != 0) runners_[entry.candidate].isOut = true;
    entry.state = State::Failed;
  }
  endRound();
}

void Race::beginRound() {
  std::vector<std::size_t> order;
  for (std::size_t c = 1; c < runners_.size(); ++c)
    if (!runners_[c].isOut) order.push_back(c);
  // There and back: a candidate that profits from running early runs late the next time.
  if (rounds_ % 2 == 1) std::reverse(order.begin(), order.end());
  firstNumber_ += round_.size();
  round_.clear();
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i % options_.block == 0) round_.push_back({0});
    round_.push_back({order[i]});
  }
  round_.push_back({0});
}

void Race::endRoundIfComplete() {
  const bool complete = std::all_of(round_.begin(), round_.end(), [](const Entry& e) {
    return e.state == State::Done || e.state == State::Failed;
  });
  if (complete) endRound();
}

/// The mean of the reference's times next to a leg.
double Race::referenceFor(std::size_t position) const {
  double sum = 0;
  int count = 0;
  const auto take = [&](std::size_t i) {
    if (round_[i].candidate != 0 || round_[i].state != State::Done) return false;
    sum += round_[i].seconds;
    ++count;
    return true;
  };
  for (std::size_t i = position; i-- > 0;)
    if (take(i)) break;
  for (std::size_t i = position + 1; i < round_.size(); ++i)
    if (take(i)) break;
  return count > 0 ? sum / count : 0;
}

void Race::endRound() {
  std::vector<double> own;
  for (std::size_t i = 0; i < round_.size(); ++i) {
    const Entry& entry = round_[i];
    if (entry.state != State::Done) continue;
    if (entry.candidate == 0) {
      own.push_back(entry.seconds);
      continue;
    }
    const double reference = referenceFor(i);
    Runner& runner = runners_[entry.candidate];
    if (reference <= 0) {
      runner.isOut = true;
      continue;
    }
    runner.ratios.push_back(entry.seconds / reference);
    runner.seconds.push_back(entry.seconds);
  }
  ++rounds_;
  if (!own.empty()) runners_[0].seconds.push_back(median(own));
  runners_[0].ratios.push_back(1);
  eliminate();
  if (!decided_) beginRound();
}

std::size_t Race::leader() const {
  std::size_t first = 0;
  double least = 1;
  for (std::size_t c = 1; c < runners_.size(); ++c) {
    if (runners_[c].isOut || runners_[c].ratios.empty()) continue;
    const double ratio = median(runners_[c].ratios);
    if (ratio < least) {
      least = ratio;
      first = c;
    }
  }
  return first;
}

/// Round by round, how many times as long as `other` the candidate has taken. Every candidate in
/// the race has run in every round.
std::vector<double> Race::against(std::size_t candidate, std::size_t other) const {
  std::vector<double> result;
  const std::vector<double>& a = runners_[candidate].ratios;
  const std::vector<double>& b = runners_[other].ratios;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) result.push_back(a[i] / b[i]);
  return result;
}

void Race::eliminate() {
  if (finalist_ != 0) return judgeFinal();
  const std::size_t first = leader();
  for (std::size_t c = 1; c < runners_.size(); ++c) {
    Runner& runner = runners_[c];
    if (runner.isOut || c == first) continue;
    const Interval interval = medianInterval(against(c, first));
    if (rounds_ == 1) runner.isOut = interval.low > options_.hopeless;
    if (rounds_ == 2) runner.isOut = interval.low > options_.distant;
    // Slower beyond doubt, or not worth looking for the difference.
    if (rounds_ >= options_.minRounds) runner.isOut = interval.low > 1 - options_.tolerance;
    if (rounds_ >= options_.maxRounds) runner.isOut = true;
  }
  if (remaining() > 2 || (first != 0 && remaining() == 2 && rounds_ < options_.minRounds)) return;
  if (first == 0) {
    // One that is behind so far may still be the better one.
    decided_ = remaining() == 1;
    certain_ = decided_ && rounds_ < options_.maxRounds;
    return;
  }
  finalist_ = first;
  runners_[first].ratios.clear();
  runners_[first].seconds.clear();
}

void Race::judgeFinal() {
  ++finalRounds_;
  if (runners_[finalist_].isOut) {
    decided_ = true;
    return;
  }
  if (finalRounds_ < options_.minFinal) return;
  const Interval interval = medianInterval(runners_[finalist_].ratios);
  const bool slower = interval.low > 1 - options_.tolerance;
  certain_ = best() != 0 || slower;
  decided_ = certain_ || finalRounds_ >= options_.maxFinal;
}

std::size_t Race::remaining() const {
  return static_cast<std::size_t>(
      std::count_if(runners_.begin(), runners_.end(), [](const Runner& r) { return !r.isOut; }));
}

std::size_t Race::best() const {
  if (finalist_ == 0 || finalRounds_ < options_.minFinal || runners_[finalist_].isOut) return 0;
  const std::vector<double>& ratios = runners_[finalist_].ratios;
  const bool faster = median(ratios) < 1 - options_.tolerance &&
                      medianInterval(ratios).high < 1 - options_.tolerance / 2;
  return faster ? finalist_ : 0;
}

Standing Race::standing(std::size_t candidate) const {
  const Runner& runner = runners_[candidate];
  Standing standing;
  standing.ratio = median(runner.ratios);
  const Interval interval = medianInterval(runner.ratios);
  standing.low = interval.low;
  standing.high = interval.high;
  standing.seconds = runner.seconds.empty() ? 0 : median(runner.seconds);
  standing.rounds = static_cast<int>(runner.ratios.size());
  standing.isOut = runner.isOut;
  standing.hasFailed = runner.hasFailed;
  return standing;
}

}  // namespace hpl::tune
