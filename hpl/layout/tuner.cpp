// SPDX-License-Identifier: Apache-2.0
#include "hpl/layout/tuner.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "hpl/error.h"
#include "hpl/layout/detail/tune_bar.h"
#include "hpl/layout/strategy.h"
#include "hpl/runtime/device_state.h"
#include "hpl/runtime/explain.h"
#include "hpl/runtime/global_list.h"
#include "hpl/runtime/log.h"
#include "hpl/runtime/settings.h"

namespace hpl::layout {
namespace {

tune::Finding findingOf(const Tunable& tunable, const tune::Outcome& outcome) {
  tune::Finding finding;
  finding.best = tunable.points()[outcome.best];
  finding.ratio = outcome.ratio;
  finding.seconds = outcome.seconds;
  finding.rounds = outcome.rounds;
  finding.complete = outcome.measured + outcome.failed == outcome.points;
  finding.thorough = true;
  finding.note = fmt::format("{} of {} variants measured in {}", outcome.measured, outcome.points,
                             timeText(outcome.elapsed));
  return finding;
}

}  // namespace

TuneResult nothingTuned(const std::string& why, int variants) {
  TuneResult result;
  result.choice = result.defaultChoice = why;
  result.variants = variants;
  return result;
}

TuneResult tuneNow(Tunable& tunable, const TuneOptions& options) {
  if (!mayDecideByTimes()) return nothingTuned(kNoTimes, 0);
  if (tunable.points().size() < 2) return nothingTuned(tunable.choiceOf({}), 1);
  tune::SearchOptions searchOptions;
  searchOptions.seconds = options.seconds;
  TuneBar bar(tunable.describe());
  std::optional<QuietTrials> quiet(std::in_place);
  const tune::Outcome outcome = tune::search(
      tunable.points(), [&](const tune::Point& p) { return tunable.measure(p); }, &tune::secondsNow,
      searchOptions,
      [&](const tune::SearchProgress& progress) {
        if (options.progress) bar.update(progress);
      });
  quiet.reset();
  TuneResult result;
  result.choice = tunable.choiceOf(tunable.points()[outcome.best]);
  result.defaultChoice = tunable.choiceOf(tunable.points().front());
  result.seconds = outcome.seconds;
  result.defaultSeconds = outcome.best == 0 ? outcome.seconds : outcome.seconds / outcome.ratio;
  result.variants = static_cast<int>(outcome.points);
  result.measured = static_cast<int>(outcome.measured);
  result.changed = outcome.best != 0;
  tune::Store& store = findingsOf(tunable.device());
  if (store.keep(tunable.key(), findingOf(tunable, outcome))) result.file = store.file().string();

  const std::string text =
      fmt::format("{} on {}: tuned in {}: {} of {} variants; {}, {}", tunable.describe(),
                  tunable.device().name(), timeText(outcome.elapsed), outcome.measured,
                  outcome.points, result.choice,
                  result.changed ? fmt::format("{:.2f} times as fast as the default, {}",
                                               result.speedup(), result.defaultChoice)
                                 : "the default");
  runtime::explainOrLog(text);
  return result;
}

bool tuneFirst(Tunable& tunable) {
  if (!mayDecideByTimes() || tunable.points().size() < 2) return false;
  const auto known = findingsOf(tunable.device()).find(tunable.key());
  if (known && known->thorough) return false;
  try {
    tuneNow(tunable, {});
    return true;
  } catch (const AllocationError& problem) {
    runtime::log::warn(
        fmt::format("HPL_TUNE=full: {} is not tuned, because there is no room for copies "
                    "of its arguments: {}",
                    tunable.describe(), problem.what()));
    return false;
  }
}

void checkTuneOptions(const std::string& call, const TuneOptions& options) {
  if (!(options.seconds > 0))
    throw LaunchError(fmt::format(
        "{}: TuneOptions::seconds is {}; give it some time, 60 by default", call, options.seconds));
}

bool mayDecideByTimes() { return !runtime::hasRanks(); }

std::optional<tune::Finding> findingFor(const runtime::DeviceState& device,
                                        const std::string& key) {
  if (runtime::settings().tune == runtime::TuneMode::Off) return std::nullopt;
  return findingsOf(device).find(key);
}

std::string findingKey(const std::string& subject, FpMode fp, const runtime::DeviceState& device) {
  const char* const mode = fp == STRICT ? "strict" : fp == FAST ? "fast" : "default";
  return fmt::format("{} {} {} units", subject, mode, device.properties().computeUnits);
}

}  // namespace hpl::layout
