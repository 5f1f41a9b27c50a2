// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hpl/layout/tuner.h"
#include "stencil_templates/detail/time_choice.h"

namespace hpl::stencils {

/// The time tiles that an iteration may have on one device, to be measured. Every measurement
/// computes the same steps of the same cells: what it reads is the user's and stays as it is, what
/// it writes are scratch arrays.
class TileBench : public layout::Tunable {
 public:
  /// `options` name one device. There is no choice where the user or the settings have made it, or
  /// steps cannot be joined.
  TileBench(const TimeWish& wish, const TimeRecipe& recipe, const launch::LaunchOptions& options,
            const std::array<std::int64_t, 3>& extents);

  const std::vector<tune::Point>& points() const override { return points_; }
  /// Seconds per step, the mean over a few milliseconds.
  double measure(const tune::Point& point) override;
  std::string choiceOf(const tune::Point& point) const override;
  const std::string& key() const override { return key_; }
  runtime::DeviceState& device() const override { return device_.state(); }
  std::string describe() const override { return wish_.name; }
  /// Measures by another clock than the machine's; benchmarks on busy machines do.
  void setClock(tune::Clock clock) { clock_ = std::move(clock); }

 protected:
  /// Launches up to tile.depth steps from the user's arrays into scratch arrays.
  virtual FRunner launch(const TimeTile& tile, int steps) = 0;

 private:
  struct Made {
    tune::Point point;
    /// By steps.
    std::map<std::int64_t, FRunner> runners;
  };

  Made& madeFor(const tune::Point& point);
  TimeTile tileFor(const tune::Point& point) const;
  double secondsOf(Made& made, std::int64_t steps);

  TimeWish wish_;
  Device device_;
  TileProblem problem_;
  std::string key_;
  std::vector<tune::Point> points_;
  TimeTile usual_;
  /// Why there is no choice.
  std::string reason_;
  std::vector<Made> made_;
  tune::Clock clock_ = &tune::secondsNow;
  /// Per measurement; 0: not known yet.
  std::int64_t steps_ = 0;
};

/// Whether HPL_TUNE=full has launches with these options tuned before the first one.
bool isTunedFirst(const launch::LaunchOptions& options);
/// Tunes as tune() of an iteration or a program does: `call` is what the user wrote.
TuneResult tuneTiles(const std::string& call, TileBench& bench, const TuneOptions& options);

}  // namespace hpl::stencils
