// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/tune_now.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "hpl/error.h"
#include "hpl/launch/detail/findings.h"
#include "hpl/launch/detail/shares.h"
#include "hpl/launch/detail/variant.h"
#include "hpl/memory/contents.h"
#include "hpl/runtime/runtime.h"
#include "hpl/runtime/settings.h"

namespace hpl::launch {

TuningBench::TuningBench(KernelEntry& entry, const LaunchOptions& options,
                         const Argument* arguments, std::size_t count, const ShareContext& share)
    : options_(options), share_(share), original_(arguments), count_(count) {
  // Copies are distributed nowhere.
  share_.distributions.clear();
  // The launch itself says what it leaves open, and what is wrong with it.
  const std::shared_ptr<Plan> own =
      makePlan(entry, options, *options.device, arguments, count, share_);
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
        rootOptions.isInternal = true;
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
                                           arguments_.data(), arguments_.size(), share_, &variant);
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

TuneResult tune(const EntryHandle& handle, const LaunchOptions& asked, const TuneOptions& options,
                const Argument* arguments, std::size_t count) {
  hpl::detail::refuseInKernel("eval(f).tune(arguments)");
  checkTuneOptions("eval(...).tune(...)", options);
  if (isShared(asked, arguments, count))
    throw LaunchError(
        "eval(...).tune(...) tunes for one device; leave out .devices(...) and annotations, and "
        "call it for each kind of device with .device(...) and arrays of the parts' sizes");
  if (!mayDecideByTimes()) return nothingTuned(kNoTimes, 0);
  const LaunchOptions resolvedOptions = resolved(asked, false);
  TuningBench bench(*handle.entry, resolvedOptions, arguments, count);
  if (runtime::settings().tune == runtime::TuneMode::Off) return nothingTuned("HPL_TUNE=off", 0);
  TuneResult result = tuneNow(bench, options);
  // Launches made from now on look again.
  if (bench.points().size() > 1) handle.entry->dropPlans();
  return result;
}

void tuneBefore(const EntryHandle& handle, const LaunchOptions& options, const Argument* arguments,
                std::size_t count) {
  TuningBench bench(*handle.entry, options, arguments, count);
  if (tuneFirst(bench)) handle.entry->dropPlans();
}

void tunePartBefore(KernelEntry& entry, const LaunchOptions& options, const Argument* arguments,
                    std::size_t count, const ShareContext& share) {
  TuningBench bench(entry, options, arguments, count, share);
  if (tuneFirst(bench)) entry.dropPlans();
}

}  // namespace hpl::launch
