// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/tile_race.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "hpl/error.h"
#include "hpl/layout/tuner.h"
#include "hpl/runtime/device.h"
#include "hpl/runtime/explain.h"
#include "hpl/runtime/quirks.h"
#include "hpl/runtime/settings.h"
#include "hpl/strategies/overlapped.h"
#include "stencil_templates/detail/tile_choice.h"
#include "stencil_templates/detail/tile_space.h"
#include "stencil_templates/detail/time_findings.h"

namespace hpl::stencils {
namespace {

using layout::onlineOptions;

/// Seconds that a device stands still while it is waited for.
constexpr double kWaiting = 50e-6;
/// How much longer a leg is than that of a kernel, so that waiting is no part of it.
constexpr double kLonger = 4;

/// Two passes: programs end in an even number of them, and arrays take both parts.
std::int64_t twoPasses(const TimeTile& tile) { return 2 * std::int64_t{std::max(1, tile.depth)}; }

/// The tile that the largest part is done in where each device chooses its own.
TimeTile named(const TileProblem& problem, const TimeTile& tile) {
  if (tile.depth < 2 || tile.cells[0] > 0) return tile;
  return bestTile(problem, tile.depth, tile.form).tile;
}

}  // namespace

TileRace::TileRace(TileRaceSubject subject)
    : subject_(std::move(subject)),
      tiles_{subject_.usual},
      // The first steps may compile and move data.
      race_({onlineOptions().start, onlineOptions().share, onlineOptions().making},
            2 * twoPasses(subject_.usual)) {}

std::int64_t TileRace::quietSteps() const {
  return race_.hasBegun() && race_.ladder().isFinished() ? INT64_MAX : race_.quiet();
}

std::int64_t TileRace::legSteps(const TimeTile& tile) const {
  const std::int64_t least = twoPasses(tile);
  if (race_.perUnit() <= 0) return least;
  const double steps = std::ceil(kLonger * onlineOptions().measurement / race_.perUnit());
  return roundedUp(std::max(least, static_cast<std::int64_t>(std::min(steps, 1e6))), least);
}

void TileRace::advance(Stepper& work, std::int64_t steps) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return work.advance(subject_.usual, steps);
  while (steps > 0) {
    std::int64_t done = 0;
    if (quietSteps() == 0) {
      if (!race_.hasBegun() && race_.mayBegin()) begin();
      done = race_.hasBegun() ? race(work, steps) : probe(work, steps);
    }
    if (done == 0) done = doQuietly(work, steps);
    steps -= done;
  }
}

/// Trials that do not fit any more wait for the next iteration.
std::int64_t TileRace::doQuietly(Stepper& work, std::int64_t steps) {
  const TimeTile& tile = tileOf(race_.ladder().incumbent());
  const std::int64_t quiet = quietSteps();
  if (quiet > 0 && quiet < steps) steps = std::min(steps, roundedUp(quiet, twoPasses(tile)));
  work.advance(tile, steps);
  race_.count(steps);
  return steps;
}

double TileRace::secondsOf(Stepper& work, const TimeTile& tile, std::int64_t steps) {
  work.wait();
  const double begin = subject_.clock();
  work.advance(tile, steps);
  work.wait();
  const double seconds = subject_.clock() - begin;
  race_.count(steps);
  race_.spend(kWaiting);
  return seconds;
}

/// Finds out how long a step takes, and again after four times as many steps.
std::int64_t TileRace::probe(Stepper& work, std::int64_t most) {
  const std::int64_t steps = legSteps(subject_.usual);
  if (steps > most) return 0;
  race_.setPerUnit(secondsOf(work, subject_.usual, steps) / static_cast<double>(steps));
  race_.noteProbe();
  race_.sleepUntilProbe();
  return steps;
}

void TileRace::begin() {
  race_.begin(subject_.points(), subject_.known);
  for (std::size_t k = 1; k < race_.ladder().points().size(); ++k) {
    const TimeTile tile = stencils::tileOf(race_.ladder().points()[k]);
    tiles_.push_back(tile.depth == 1 ? subject_.single : tile);
  }
  race_.markMade(0);
}

/// The likely cost of a leg; for a challenger about which nothing is known, twice the incumbent's.
double TileRace::costOf(const tune::Race::Leg& leg) const {
  if (leg.candidate == 0) return kWaiting;
  const std::size_t challenger = race_.ladder().challenger();
  const TimeTile& tile = tileOf(challenger);
  const double loss = race_.expectedLoss() * race_.perUnit();
  if (race_.isMade(challenger)) return kWaiting + loss * static_cast<double>(legSteps(tile));
  return race_.making() + loss * static_cast<double>(twoPasses(tile) + legSteps(tile));
}

/// Lets the challenger do its first steps, which compile. One that cannot is out.
std::int64_t TileRace::make(Stepper& work) {
  const std::size_t challenger = race_.ladder().challenger();
  const TimeTile& tile = tileOf(challenger);
  const std::int64_t launches = work.launches();
  const double begin = subject_.clock();
  double took = 0;
  try {
    took = secondsOf(work, tile, twoPasses(tile));
  } catch (const Error&) {
    // Steps that were begun are the program's own trouble.
    if (work.launches() != launches) throw;
    race_.spend(subject_.clock() - begin);
    race_.ladder().fail();
    keepNews();
    race_.sleepUntilAllowed(0);
    return 0;
  }
  race_.noteMade(challenger,
                 std::max(0.0, took - race_.perUnit() * static_cast<double>(twoPasses(tile))));
  return twoPasses(tile);
}

std::int64_t TileRace::race(Stepper& work, std::int64_t most) {
  const auto leg = race_.ladder().next();
  if (!leg) return 0;
  const double cost = costOf(*leg);
  if (!race_.allows(cost)) {
    race_.sleepUntilAllowed(cost);
    return 0;
  }
  const std::size_t candidate = race_.ladder().candidateOf(*leg);
  const TimeTile& tile = tileOf(candidate);
  if (!race_.isMade(candidate)) return twoPasses(tile) > most ? 0 : make(work);
  const std::int64_t steps = std::min(legSteps(tile), most / twoPasses(tile) * twoPasses(tile));
  if (steps == 0) return 0;
  race_.ladder().start(*leg);
  const double seconds = secondsOf(work, tile, steps);
  race_.noteTime(*leg, seconds, steps);
  if (race_.ladder().record(*leg, seconds / static_cast<double>(steps))) keepNews();
  return steps;
}

void TileRace::keepNews() {
  const double begin = subject_.clock();
  const auto finding = race_.ladder().takeNews(
      fmt::format("tried while iterations ran; the last process lost {} by it",
                  layout::timeText(race_.spent())));
  if (!finding) return;
  subject_.store->keep(subject_.key, *finding);
  if (finding->complete) {
    const std::string text =
        fmt::format("{}: {}, of {} that were tried while it ran{}", subject_.name,
                    subject_.describe(tileOf(race_.ladder().incumbent())), finding->lost.size() + 1,
                    finding->best == tune::Point() ? "" : layout::remarkOn(*finding) + " per step");
    runtime::explainOrLog(text);
  }
  race_.spend(subject_.clock() - begin);
}

std::shared_ptr<TileRace> raceFor(const TimeWish& wish, const TimeRecipe& recipe,
                                  const launch::LaunchOptions& options,
                                  const std::array<std::int64_t, 3>& extents, const TimeTile& usual,
                                  const TimeTile& single) {
  const runtime::Settings& settings = runtime::settings();
  const std::vector<Device> devices = devicesOf(options);
  if (!layout::mayDecideByTimes()) return nullptr;
  if (settings.tune != runtime::TuneMode::Quick || settings.checkBounds || wish.tile.depth > 0 ||
      wish.steps < kManySteps || !areAlike(devices) || !hasEqualBands(options) ||
      !reluctance(options).empty() || !whyNotJoined(recipe).empty())
    return nullptr;
  const Device& device = devices.front();
  // A simulator's times say nothing.
  if (runtime::quirksOf(device.getProperties()).isSimulator) return nullptr;
  const TileProblem problem = problemOf(recipe, device, extents, devices.size(), wish.steps);
  TileRaceSubject subject;
  subject.key = timeTileKey(wish, recipe, options, device, problem.extents);
  subject.known = layout::findingFor(device.state(), subject.key);
  if (subject.known) {
    if (subject.known->complete || subject.known->thorough) return nullptr;
    const tune::Point& best = subject.known->best;
    if (!(best == tune::Point()) && !misfit(problem, tileOf(best)).empty()) subject.known.reset();
  }
  subject.name = wish.name;
  subject.store = &layout::findingsOf(device.state());
  subject.usual = usual;
  subject.single = single;
  // The program that the problem names lives no longer than the recipe.
  const auto program = std::make_shared<const strategies::TimeProgram>(recipe.program());
  TileProblem kept = problem;
  kept.program = program.get();
  int deepest = 1;
  for (const int depth : depthsLookedAt())
    if (recipe.whyTooFar(depth, extents).empty()) deepest = std::max(deepest, depth);
  subject.points = [program, kept, steps = wish.steps, usual, deepest] {
    std::vector<tune::Point> points = tilesToTry(kept, steps, named(kept, usual));
    std::erase_if(
        points, [&](const tune::Point& point) { return stencils::tileOf(point).depth > deepest; });
    return points;
  };
  subject.describe = [program, kept](const TimeTile& tile) {
    return describe(kept, tile.depth > 1 ? named(kept, tile) : TimeTile());
  };
  return std::make_shared<TileRace>(std::move(subject));
}

}  // namespace hpl::stencils
