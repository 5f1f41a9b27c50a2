// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "hpl/tune/running_race.h"
#include "hpl/tune/search.h"
#include "stencil_templates/detail/time_choice.h"

namespace hpl::stencils {

/// Does the steps of an iteration, in tiles that its caller chooses.
class Stepper {
 public:
  Stepper() = default;
  virtual ~Stepper() = default;
  Stepper(const Stepper&) = delete;
  Stepper& operator=(const Stepper&) = delete;

  /// Enqueues `steps` steps.
  virtual void advance(const TimeTile& tile, std::int64_t steps) = 0;
  /// The number of its launches so far.
  virtual std::int64_t launches() const = 0;
  /// Returns when all of it is done.
  virtual void wait() = 0;
};

/// The subject of a race.
struct TileRaceSubject {
  /// "stencil 'heat'".
  std::string name;
  /// Chooses what is tried when it begins: the default, whose tile is `usual`, first.
  std::function<std::vector<tune::Point>()> points;
  /// The earlier finding, and the place where new ones are kept.
  std::optional<tune::Finding> known;
  tune::Store* store = nullptr;
  std::string key;
  TimeTile usual;
  /// The tile of a step by itself.
  TimeTile single;
  /// "16 steps per pass in tiles of 128 x 512".
  std::function<std::string(const TimeTile&)> describe;
  tune::Clock clock = &tune::secondsNow;
};

/// HPL_TUNE=quick: iterations that have used much time do some of their steps in other tiles, or
/// one after another, and go on with what is faster. Every step is one that the program has asked
/// for, so nothing is computed in vain; what slow tiles lose, what their compilation takes, and
/// waiting before and after what is timed, is a small share of the time used so far
/// (layout::OnlineOptions). Shared by all iterations of one kind; one at a time takes part.
class TileRace {
 public:
  explicit TileRace(TileRaceSubject subject);

  /// Does `steps` steps. Throws what `work` throws, but for tiles that cannot be made: they are
  /// out.
  void advance(Stepper& work, std::int64_t steps);

 private:
  /// Steps until something else than doing them is due.
  std::int64_t quietSteps() const;
  std::int64_t legSteps(const TimeTile& tile) const;
  const TimeTile& tileOf(std::size_t candidate) const { return tiles_[candidate]; }
  /// All of these return the steps that they have done.
  std::int64_t doQuietly(Stepper& work, std::int64_t steps);
  std::int64_t probe(Stepper& work, std::int64_t most);
  std::int64_t make(Stepper& work);
  std::int64_t race(Stepper& work, std::int64_t most);
  double secondsOf(Stepper& work, const TimeTile& tile, std::int64_t steps);
  double costOf(const tune::Race::Leg& leg) const;
  void begin();
  void keepNews();

  std::mutex mutex_;
  TileRaceSubject subject_;
  /// By candidate of the ladder; the usual one alone until something is tried.
  std::vector<TimeTile> tiles_;
  /// Counts steps.
  tune::RunningRace race_;
};

/// The race for iterations of this kind, which use `usual` without it, and `single` for steps by
/// themselves; null where nothing is to be tried: HPL_TUNE is not quick, the choice is not the
/// library's, there are few steps, several devices that differ or take unequal parts, or everything
/// is known already.
std::shared_ptr<TileRace> raceFor(const TimeWish& wish, const TimeRecipe& recipe,
                                  const launch::LaunchOptions& options,
                                  const std::array<std::int64_t, 3>& extents, const TimeTile& usual,
                                  const TimeTile& single);

}  // namespace hpl::stencils
