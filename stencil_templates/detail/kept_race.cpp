// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/kept_race.h"

#include <fmt/format.h>

#include <algorithm>

#include "hpl/runtime/explain.h"

namespace hpl::stencils {
namespace {

/// The first leg compiles and is not counted; then three of either way, by turns.
constexpr std::size_t kLegs = 7;
/// Fewer steps say nothing.
constexpr std::int64_t kLeastSteps = 16;
/// Seconds without a look at the clock, and at most between trials.
constexpr double kUnwatched = 0.25;
constexpr double kLongestPause = 64;

}  // namespace

double KeptRace::meanOf(Way way) const {
  return legSeconds_[way] / static_cast<double>(std::max<std::int64_t>(1, legSteps_[way]));
}

bool KeptRace::isDue() const {
  if (legs_ > 0) return true;
  if (begin_ < 0 || steps_ == 0) return way_ == Streamed && clock_() >= due_;
  const double now = clock_();
  if (now < begin_ + rules_.start && !(wasStopped_ && trials_ == 0)) return false;
  // The cost of a trial, as far as that is known.
  const double trial = static_cast<double>(kLegs) * rules_.leg;
  if (!(wasStopped_ && trials_ == 0) && trials_ + trial > rules_.share * (now - begin_))
    return false;
  return wasStopped_ || now >= due_;
}

void KeptRace::advance(Stepper& work, const KeptOrStreamed& ways, std::int64_t steps) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return work.advance(ways.kept, steps);
  while (steps > 0) {
    const bool isTrial = isDue() && steps >= kLeastSteps;
    steps -= isTrial ? doLeg(work, ways, steps) : goOn(work, ways, steps);
  }
}

double KeptRace::secondsOf(Stepper& work, const TimeTile& tile, std::int64_t steps) {
  work.wait();
  const double begin = clock_();
  work.advance(tile, steps);
  work.wait();
  return clock_() - begin;
}

void KeptRace::noteKept(double seconds, std::int64_t steps) {
  if (begin_ < 0) begin_ = clock_();
  if (!std::exchange(isWarm_, true)) return;
  seconds_ += seconds;
  steps_ += steps;
  const double each = seconds / static_cast<double>(steps);
  least_ = std::min(least_, each);
  if (each > rules_.stopped * least_ && seconds - least_ * static_cast<double>(steps) > rules_.loss)
    wasStopped_ = true;
}

std::int64_t KeptRace::goOn(Stepper& work, const KeptOrStreamed& ways, std::int64_t steps) {
  if (way_ == Streamed) {
    // Launches that are not waited for; long iterations come back to look at the clock.
    const double each = meanOf(Streamed);
    const double most = each > 0 ? std::max(1.0, kUnwatched / each) : 1e9;
    if (static_cast<double>(steps) > most) steps = static_cast<std::int64_t>(most);
    work.advance(ways.streamed, steps);
    return steps;
  }
  const double most = std::max(1.0, steps_ > 0 ? kUnwatched * static_cast<double>(steps_) / seconds_
                                               : rules_.first / expected_);
  if (static_cast<double>(steps) > most) steps = static_cast<std::int64_t>(most);
  noteKept(secondsOf(work, ways.kept, steps), steps);
  return steps;
}

std::int64_t KeptRace::doLeg(Stepper& work, const KeptOrStreamed& ways, std::int64_t steps) {
  const Way way = legs_ % 2 == 0 ? Streamed : Kept;
  // As long as nothing is known, launches may take a few times as long.
  const double each = legSteps_[way] > 0 ? meanOf(way) : least_ * (way == Kept ? 1 : 4);
  const std::int64_t least =
      std::max(kLeastSteps, std::int64_t{2} * std::max(1, tileOf(ways, way).depth));
  const std::int64_t wanted =
      legs_ == 0 ? least : std::max(least, static_cast<std::int64_t>(rules_.leg / each));
  steps = std::min(steps, wanted);
  const double seconds = secondsOf(work, tileOf(ways, way), steps);
  trials_ += seconds;
  if (legs_ == 0) {
    legSeconds_ = {};
    legSteps_ = {};
  } else {
    legSeconds_[way] += seconds;
    legSteps_[way] += steps;
  }
  if (++legs_ == kLegs) decide();
  return steps;
}

void KeptRace::decide() {
  legs_ = 0;
  const double streamed = meanOf(Streamed);
  // With what was lost since the last time, where this way was in use.
  const double own = meanOf(Kept);
  const double kept =
      way_ == Kept && steps_ > 0 ? std::max(own, seconds_ / static_cast<double>(steps_)) : own;
  const Way before = way_;
  if (way_ == Kept && streamed < rules_.worthwhile * kept) way_ = Streamed;
  if (before == Streamed && kept < rules_.worthwhile * streamed) way_ = Kept;
  // Seldom stops may be missed by a trial: who comes back to launches stays longer.
  double& pause = way_ == Streamed ? streamedPause_ : keptPause_;
  if (way_ == Kept && before == Streamed) pause = 0;
  pause = std::clamp(2 * pause, rules_.start, kLongestPause);
  due_ = clock_() + pause;
  seconds_ = 0;
  steps_ = 0;
  wasStopped_ = false;
  if (way_ == before) return;
  runtime::explainOrLog(fmt::format(
      "{}: from now on {}: {:.2f} us per step, and {:.2f} us {}", name_,
      way_ == Streamed ? "its steps are launches, since groups of one launch were stopped"
                       : "its steps are one launch again",
      1e6 * (way_ == Streamed ? streamed : kept), 1e6 * (way_ == Streamed ? kept : streamed),
      way_ == Streamed ? "in one launch" : "in launches"));
}

}  // namespace hpl::stencils
