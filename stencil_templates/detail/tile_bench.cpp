// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/tile_bench.h"

#include <algorithm>
#include <cmath>

#include "hpl/runtime/settings.h"
#include "stencil_templates/detail/tile_space.h"
#include "stencil_templates/detail/time_findings.h"

namespace hpl::stencils {

TileBench::TileBench(const TimeWish& wish, const TimeRecipe& recipe,
                     const launch::LaunchOptions& options,
                     const std::array<std::int64_t, 3>& extents)
    : wish_(wish),
      device_(devicesOf(options).front()),
      problem_(problemOf(recipe, device_, extents, 1, wish.steps)),
      points_{tune::Point()},
      usual_(wish.tile),
      reason_(reluctance(options)) {
  if (const std::string why = whyNotJoined(recipe); !why.empty()) reason_ = why;
  if (runtime::settings().checkBounds) reason_ = "HPL_CHECK=bounds checks every access";
  if (wish.tile.depth > 0) reason_ = "timeTile(...) has made the choice";
  if (wish.steps < 2) reason_ = "there are no steps to be joined";
  if (!reason_.empty()) return;
  key_ = timeTileKey(wish, recipe, options, device_, extents);
  usual_ = bestDepth(problem_, wish.steps, reason_).tile;
  points_ = tilesToMeasure(problem_, wish.steps);
}

TimeTile TileBench::tileFor(const tune::Point& point) const {
  return point == tune::Point() ? usual_ : tileOf(point);
}

TileBench::Made& TileBench::madeFor(const tune::Point& point) {
  for (Made& made : made_)
    if (made.point == point) return made;
  Made made{point, {}};
  secondsOf(made, std::min<std::int64_t>(wish_.steps, tileFor(point).depth));  // compiles
  made_.push_back(std::move(made));
  return made_.back();
}

/// As iterations do: passes share the steps evenly.
double TileBench::secondsOf(Made& made, std::int64_t steps) {
  const TimeTile tile = tileFor(made.point);
  const double begin = clock_();
  for (std::int64_t left = steps; left > 0;) {
    const std::int64_t one = std::min(left, wish_.steps);
    const std::int64_t launches = (one + tile.depth - 1) / tile.depth;
    const std::int64_t now =
        wish_.steps < kManySteps ? (one + launches - 1) / launches : std::int64_t{tile.depth};
    if (const auto known = made.runners.find(now); known != made.runners.end()) {
      known->second.run();
    } else {
      made.runners[now] = launch(tile, static_cast<int>(now));
    }
    left -= now;
  }
  device_.sync();
  return clock_() - begin;
}

double TileBench::measure(const tune::Point& point) {
  Made& made = madeFor(point);
  if (steps_ == 0) {
    // The default limits, whichever comes first: long enough that waiting for the end is no part of
    // it.
    constexpr double kLongEnough = 3e-3;
    constexpr double kMost = 4096;
    const std::int64_t some = std::min<std::int64_t>(wish_.steps, tileFor(point).depth);
    const double one = std::min(secondsOf(made, some), secondsOf(made, some));
    steps_ = some * static_cast<std::int64_t>(
                        std::clamp(std::ceil(kLongEnough / std::max(one, 1e-9)), 1.0, kMost));
  }
  const std::int64_t pass = wish_.steps < kManySteps ? wish_.steps : tileFor(point).depth;
  const std::int64_t steps = (steps_ + pass - 1) / pass * pass;
  return secondsOf(made, steps) / static_cast<double>(steps);
}

std::string TileBench::choiceOf(const tune::Point& point) const {
  const std::string choice = stencils::describe(problem_, tileFor(point));
  return points_.size() > 1 ? choice : reason_;
}

bool isTunedFirst(const launch::LaunchOptions& options) {
  return runtime::settings().tune == runtime::TuneMode::Full && !isForSeveralDevices(options);
}

TuneResult tuneTiles(const std::string& call, TileBench& bench, const TuneOptions& options) {
  layout::checkTuneOptions(call, options);
  if (runtime::settings().tune == runtime::TuneMode::Off)
    return layout::nothingTuned("HPL_TUNE=off", 0);
  return layout::tuneNow(bench, options);
}

}  // namespace hpl::stencils
