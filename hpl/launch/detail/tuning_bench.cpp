// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/tuning_bench.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "hpl/error.h"
#include "hpl/launch/detail/mapped_launch.h"
#include "hpl/launch/detail/shares.h"
#include "hpl/launch/detail/specialised.h"
#include "hpl/layout/findings.h"
#include "hpl/layout/variant.h"
#include "hpl/memory/contents.h"
#include "hpl/runtime/runtime.h"
#include "hpl/runtime/settings.h"

namespace hpl::launch {

namespace {

/// Copies are distributed nowhere.
ShareContext undistributed(ShareContext share) {
  share.distributions.clear();
  return share;
}

}  // namespace

TuningBench::TuningBench(KernelEntry& entry, const LaunchOptions& options, Arguments arguments,
                         const ShareContext& share)
    : share_(undistributed(share)) {
  // The launch itself says what it leaves open, and what is wrong with it.
  const std::shared_ptr<DevicePlan> own =
      makePlan(entry, options, *options.device, arguments, share_);
  request_ = requestOf(own->version, options, *options.device, arguments, share_);
  choice_ = own->choice;
  points_ = {tune::Point()};
  const KernelVersion& version = *request_.version;
  if (!version.kernel || !own->isTunable) return;
  const Shape shape = layout::chooseShape(request_.domains, request_.firstArray(), *options.device,
                                          version.name, false, version.axes);
  key_ = layout::findingKey(version, *options.device, shape, options.fp);
  points_ = layout::variantsOf(version, *options.device, shape);
}

/// Copies of whole arrays, so that views stay views and lie as they did.
void TuningBench::copyArguments() {
  std::map<memory::Root*, memory::Root*> copyOf;
  for (Argument argument : request_.arguments) {
    if (argument.kind == Argument::Kind::Array) {
      memory::Root& root = argument.view->root();
      memory::Root*& copy = copyOf[&root];
      if (copy == nullptr) {
        copies_.push_back(memory::scratchLike(root, root.whole().extents));
        copy = copies_.back().get();
        memory::copy(copy->whole(), root.whole());
      }
      argument.view =
          argument.view == &root.whole() ? &copy->whole() : &copy->view(argument.view->box());
    }
    arguments_.push_back(argument);
  }
}

DevicePlan& TuningBench::planOf(const tune::Point& point) {
  for (const Made& made : made_)
    if (made.point == point) return *made.plan;
  if (made_.empty() && arguments_.empty()) copyArguments();
  LaunchRequest request = request_;
  request.arguments = arguments_;
  const std::shared_ptr<DevicePlan> plan = makeVariant(request, share_, Variant::from(point));
  secondsOf(*plan, 1);  // the first launch may compile, and moves data
  made_.push_back({point, plan});
  return *plan;
}

double TuningBench::secondsOf(DevicePlan& plan, int launches) {
  scalars_.resize(plan.scalarBytes);
  plan.packScalars(arguments_, scalars_.data());
  const double begin = clock_();
  for (int n = 0; n < launches; ++n) {
    memory::detail::Transaction transaction;
    plan.enqueueItself(transaction, scalars_.data());
  }
  request_.device->finish();
  return (clock_() - begin) / launches;
}

double TuningBench::measure(const tune::Point& point) {
  DevicePlan& plan = planOf(point);
  if (launches_ == 0) {
    // As many as take this long, or kMost: waiting for the end is no part of the time then.
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
                Arguments arguments) {
  hpl::detail::refuseInKernel("eval(f).tune(arguments)");
  layout::checkTuneOptions("eval(...).tune(...)", options);
  if (MappedLaunch::isNeeded(arguments)) {
    const MappedLaunch boxes(handle, asked, arguments);
    return tune(boxes.handle(), boxes.options(), options, boxes.arguments());
  }
  if (isShared(asked, arguments))
    throw LaunchError(
        "eval(...).tune(...) tunes for one device; leave out .devices(...) and annotations, and "
        "call it for each kind of device with .device(...) and arrays of the parts' sizes");
  if (!layout::mayDecideByTimes()) return layout::nothingTuned(layout::kNoTimes, 0);
  LaunchOptions launched = resolved(asked, false);
  KernelEntry* entry = handle.entry;
  specialise(entry, launched, arguments);
  TuningBench bench(*entry, launched, arguments);
  if (runtime::settings().tune == runtime::TuneMode::Off)
    return layout::nothingTuned("HPL_TUNE=off", 0);
  TuneResult result = layout::tuneNow(bench, options);
  // Launches made from now on look again.
  if (bench.points().size() > 1) entry->dropPlans();
  return result;
}

void tuneBefore(KernelEntry& entry, const LaunchOptions& options, Arguments arguments) {
  TuningBench bench(entry, options, arguments);
  if (layout::tuneFirst(bench)) entry.dropPlans();
}

void tunePartBefore(KernelEntry& entry, const LaunchOptions& options, Arguments arguments,
                    const ShareContext& share) {
  TuningBench bench(entry, options, arguments, share);
  if (layout::tuneFirst(bench)) entry.dropPlans();
}

}  // namespace hpl::launch
