// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/tune_now.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "hpl/error.h"
#include "hpl/launch/detail/findings.h"
#include "hpl/launch/detail/shares.h"
#include "hpl/launch/detail/tune_bar.h"
#include "hpl/launch/detail/variant.h"
#include "hpl/memory/contents.h"
#include "hpl/runtime/detail/runtime.h"
#include "hpl/runtime/log.h"
#include "hpl/runtime/settings.h"

namespace hpl::launch {

TuningBench::TuningBench(KernelEntry& entry, const LaunchOptions& options,
                         const Argument* arguments, std::size_t count)
    : options_(options), original_(arguments), count_(count) {
  // The launch itself says what it leaves open, and what is wrong with it.
  const std::shared_ptr<Plan> own = makePlan(entry, options, *options.device, arguments, count);
  version_ = own->version;
  labels_ = own->labels;
  choice_ = own->choice;
  points_ = {tune::Point()};
  if (!version_->kernel || !own->isTunable) return;
  const auto* end = arguments + count;
  const auto* first = std::find_if(
      arguments, end, [](const Argument& a) { return a.kind == Argument::Kind::Array; });
  const Shape shape = chooseShape(options, first != end ? &first->view->extents : nullptr,
                                  *options.device, version_->name, false, version_->axes.dimension);
  key_ = findingKey(*version_, *options.device, shape, options.fp);
  points_ = variantsOf(*version_, *options.device, shape);
}

/// Copies of whole arrays, so that views stay views and lie as they did.
void TuningBench::copyArguments() {
  std::map<memory::Root*, memory::Root*> copyOf;
  for (std::size_t i = 0; i < count_; ++i) {
    Argument argument = original_[i];
    if (argument.kind == Argument::Kind::Array) {
      memory::Root& root = argument.view->root();
      memory::Root*& copy = copyOf[&root];
      if (copy == nullptr) {
        memory::RootOptions rootOptions;
        rootOptions.shape = root.whole().extents;
        rootOptions.elementSize = root.elementSize();
        rootOptions.type = root.type();
        rootOptions.label = root.label();
        rootOptions.hostMemory = memory::HostMemory::None;
        copies_.push_back(memory::Root::create(std::move(rootOptions)));
        copy = copies_.back().get();
        memory::copy(copy->whole(), root.whole());
      }
      argument.view =
          argument.view == &root.whole() ? &copy->whole() : &copy->view(argument.view->box());
    }
    arguments_.push_back(argument);
  }
}

Plan& TuningBench::planOf(const tune::Point& point) {
  for (const Made& made : made_)
    if (made.point == point) return *made.plan;
  if (made_.empty() && arguments_.empty()) copyArguments();
  const Variant variant = Variant::from(point);
  std::shared_ptr<Plan> plan = makeVariant(version_, labels_, options_, *options_.device,
                                           arguments_.data(), arguments_.size(), {}, &variant);
  secondsOf(*plan, 1);  // the first launch may compile, and moves data
  made_.push_back({point, plan});
  return *plan;
}

double TuningBench::secondsOf(Plan& plan, int launches) {
  scalars_.resize(plan.scalarBytes);
  plan.packScalars(arguments_.data(), scalars_.data());
  const double begin = clock_();
  for (int n = 0; n < launches; ++n) {
    memory::detail::Transaction transaction;
    plan.enqueue(transaction, scalars_.data());
  }
  options_.device->finish();
  return (clock_() - begin) / launches;
}

double TuningBench::measure(const tune::Point& point) {
  Plan& plan = planOf(point);
  if (launches_ == 0) {
    // Of whichever comes first, the default: long enough that waiting for the end is no part of it.
    constexpr double kLongEnough = 3e-3;
    constexpr int kMost = 256;
    const double one = std::min(secondsOf(plan, 1), secondsOf(plan, 1));
    launches_ = static_cast<int>(std::clamp(std::ceil(kLongEnough / one), 1.0, double{kMost}));
  }
  return secondsOf(plan, launches_);
}

std::string TuningBench::choiceOf(const tune::Point& point) const {
  for (const Made& made : made_)
    if (made.point == point) return made.plan->choice;
  return choice_;
}

namespace {

TuneResult run(KernelEntry& entry, TuningBench& bench, const TuneOptions& options) {
  TuneResult result;
  result.choice = result.defaultChoice = bench.choiceOf({});
  result.variants = 1;
  if (bench.points().size() < 2) return result;
  tune::SearchOptions searchOptions;
  searchOptions.seconds = options.seconds;
  TuneBar bar(bench.version().name);
  const tune::Outcome outcome = tune::search(
      bench.points(), [&](const tune::Point& p) { return bench.measure(p); }, &tune::secondsNow,
      searchOptions,
      [&](const tune::SearchProgress& progress) {
        if (options.progress) bar.update(progress);
      });
  const tune::Point& best = bench.points()[outcome.best];
  result.choice = bench.choiceOf(best);
  result.defaultChoice = bench.choiceOf(bench.points().front());
  result.seconds = outcome.seconds;
  result.defaultSeconds = outcome.best == 0 ? outcome.seconds : outcome.seconds / outcome.ratio;
  result.variants = static_cast<int>(outcome.points);
  result.measured = static_cast<int>(outcome.measured);
  result.changed = outcome.best != 0;

  tune::Finding finding;
  finding.best = best;
  finding.ratio = outcome.ratio;
  finding.seconds = outcome.seconds;
  finding.rounds = outcome.rounds;
  finding.complete = outcome.measured + outcome.failed == outcome.points;
  finding.thorough = true;
  finding.note = fmt::format("{} of {} variants measured in {}", outcome.measured, outcome.points,
                             timeText(outcome.elapsed));
  tune::Store& store = findingsOf(bench.device());
  if (store.keep(bench.key(), finding)) result.file = store.file().string();
  // Launches made from now on look again.
  entry.dropPlans();
  const std::string text = fmt::format(
      "kernel '{}' on {}: tuned in {}: {} of {} variants; {}, "
      "{:.2f} times as fast as the default",
      bench.version().name, bench.device().name(), timeText(outcome.elapsed), outcome.measured,
      outcome.points, result.choice, result.speedup());
  if (runtime::settings().explain) {
    std::fputs(("hpl: " + text + "\n").c_str(), stderr);
  } else {
    runtime::log::info(text);
  }
  return result;
}

}  // namespace

TuneResult tune(const EntryHandle& handle, const LaunchOptions& asked, const TuneOptions& options,
                const Argument* arguments, std::size_t count) {
  if (!(options.seconds > 0))
    throw LaunchError(fmt::format(
        "eval(...).tune(...): TuneOptions::seconds is {}; give it some time, 60 by default",
        options.seconds));
  if (isShared(asked, arguments, count))
    throw LaunchError(
        "eval(...).tune(...) tunes for one device; leave out .devices(...) and annotations, and "
        "call it for each kind of device with .device(...) and arrays of the parts' sizes");
  const LaunchOptions resolvedOptions = resolved(asked, false);
  TuningBench bench(*handle.entry, resolvedOptions, arguments, count);
  if (runtime::settings().tune == runtime::TuneMode::Off) {
    TuneResult result;
    result.choice = result.defaultChoice = "HPL_TUNE=off";
    return result;
  }
  return run(*handle.entry, bench, options);
}

void tuneBefore(const EntryHandle& handle, const LaunchOptions& options, const Argument* arguments,
                std::size_t count) {
  TuningBench bench(*handle.entry, options, arguments, count);
  if (bench.points().size() < 2) return;
  const auto known = findingsOf(bench.device()).find(bench.key());
  if (known && known->thorough) return;
  try {
    run(*handle.entry, bench, {});
  } catch (const AllocationError& problem) {
    runtime::log::warn(
        fmt::format("HPL_TUNE=full: kernel '{}' is not tuned, because there is no room for copies "
                    "of its arguments: {}",
                    bench.version().name, problem.what()));
  }
}

}  // namespace hpl::launch
