// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "hpl/tune/search.h"
#include "stencil_templates/detail/tile_race.h"

namespace hpl::stencils {

/// Two ways to do the steps of an iteration: in one launch whose groups keep their tiles, and in
/// launches one after another.
struct KeptOrStreamed {
  TimeTile kept;
  TimeTile streamed;
};

/// Whether one launch for all steps goes on to pay. The model knows no other programs: where the
/// system stops a group, its neighbours wait for it, for milliseconds. So iterations that have used
/// some time do a few of their steps the other way, by turns, and go on with what took less time,
/// what stopped groups lost included; later they look again. Trying takes a small share of the
/// time. Shared by all iterations of one kind; one at a time takes part. HPL_TUNE=quick.
class KeptRace {
 public:
  /// Seconds: used before the first trial, and a leg of one. The share of all time that trials may
  /// take; how much less time the other way must take; the number of times of the best launch after
  /// which one has been stopped.
  struct Rules {
    double start = 2;
    double leg = 5e-3;
    double share = 0.02;
    double worthwhile = 0.95;
    double stopped = 4;
    double loss = 5e-3;
    /// Seconds of the first launches, as the model expects them.
    double first = 0.06;
  };

  /// `expected`: seconds per step of one launch, which the model may miss by half.
  KeptRace(std::string name, double expected, tune::Clock clock = &tune::secondsNow)
      : KeptRace(std::move(name), expected, std::move(clock), Rules{}) {}
  KeptRace(std::string name, double expected, tune::Clock clock, const Rules& rules)
      : name_(std::move(name)),
        expected_(expected),
        clock_(std::move(clock)),
        rules_(rules),
        least_(2 * expected) {}

  /// Does `steps` steps. Throws what `work` throws.
  void advance(Stepper& work, const KeptOrStreamed& ways, std::int64_t steps);

 private:
  enum Way : std::size_t { Kept, Streamed };

  static const TimeTile& tileOf(const KeptOrStreamed& ways, Way way) {
    return way == Kept ? ways.kept : ways.streamed;
  }
  bool isDue() const;
  /// Both return the steps that they have done.
  std::int64_t goOn(Stepper& work, const KeptOrStreamed& ways, std::int64_t steps);
  std::int64_t doLeg(Stepper& work, const KeptOrStreamed& ways, std::int64_t steps);
  double secondsOf(Stepper& work, const TimeTile& tile, std::int64_t steps);
  void noteKept(double seconds, std::int64_t steps);
  void decide();
  double meanOf(Way way) const;

  std::mutex mutex_;
  std::string name_;
  double expected_;
  tune::Clock clock_;
  Rules rules_;
  Way way_ = Kept;

  /// Since the last decision, in one launch: seconds and steps, but for the first launch of all,
  /// which compiles.
  double seconds_ = 0;
  std::int64_t steps_ = 0;
  bool isWarm_ = false;
  double least_;
  bool wasStopped_ = false;
  /// Times of all trials: when they began to count, and how long they took.
  double begin_ = -1;
  double trials_ = 0;
  /// When the next trial is due, unless a group was stopped.
  double due_ = 0;
  double keptPause_ = 0;
  double streamedPause_ = 0;
  /// The present trial: its legs, and by way their seconds and steps.
  std::size_t legs_ = 0;
  std::array<double, 2> legSeconds_{};
  std::array<std::int64_t, 2> legSteps_{};
};

}  // namespace hpl::stencils
