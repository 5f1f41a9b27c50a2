// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/online_tuning.h"

#include <algorithm>
#include <map>

#include "hpl/error.h"
#include "hpl/layout/findings.h"
#include "hpl/runtime/quirks.h"
#include "hpl/runtime/runtime.h"
#include "hpl/tune/search.h"

namespace hpl::launch {
namespace {

/// All races; never destroyed, because plans of static FRunners may outlive any static of ours.
struct Races {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<layout::OnlineRace>> byKey;

  static Races& get() {
    static Races* races = [] {
      auto* fresh = new Races;
      runtime::Runtime::atShutdown(&Races::stopAll);
      return fresh;
    }();
    return *races;
  }
  /// Keeps what unfinished races have found, for later processes to go on from.
  static void stopAll() {
    Races& self = get();
    const std::lock_guard lock(self.mutex);
    for (auto& [key, race] : self.byKey) {
      std::optional<tune::Finding> news;
      {
        const memory::detail::Transaction transaction;
        if (!race->isFinished()) race->poll();
        news = race->takeNews();
        race->stop();
      }
      if (news) race->keep(*news);
    }
  }
};

/// Arguments live as long as the call that made them; these are needed later.
bool canBeKept(Arguments arguments) {
  constexpr std::size_t kInline = 16;
  return std::all_of(arguments.begin(), arguments.end(), [](const Argument& argument) {
    if (argument.kind == Argument::Kind::Array) return true;
    return argument.kind == Argument::Kind::Scalar && ir::sizeOf(argument.type) <= kInline;
  });
}

/// Whether a launch that is laid out like this tries other variants.
bool mayTry(const LaunchRequest& request, const LaidOut& laidOut) {
  if (!laidOut.layout.isTunable || !laidOut.layout.isRewritten) return false;
  if (runtime::settings().tune != runtime::TuneMode::Quick || !canBeKept(request.arguments))
    return false;
  if (runtime::quirksOf(request.device->properties()).isSimulator) return false;
  const auto known = layout::findingFor(request, laidOut.shape);
  return !known || !known->complete;
}

}  // namespace

OnlineTuning::OnlineTuning(std::shared_ptr<layout::OnlineRace> race, bool isPart,
                           const LaunchRequest& request, const Shape& shape,
                           const ShareContext& share)
    : race_(std::move(race)),
      isPart_(isPart),
      shape_(shape),
      share_(share),
      arguments_(request.arguments.begin(), request.arguments.end()),
      request_(request) {
  request_.arguments = arguments_;
}

OnlineTuning::~OnlineTuning() = default;

std::unique_ptr<OnlineTuning> OnlineTuning::create(const LaunchRequest& request,
                                                   const LaidOut& laidOut,
                                                   const ShareContext& share) {
  if (!mayTry(request, laidOut)) return nullptr;
  Races& races = Races::get();
  const std::lock_guard lock(races.mutex);
  const runtime::DeviceState& device = *request.device;
  const bool isPart = request.slice || !share.distributions.empty();
  // Tests change the folder.
  auto& race = races.byKey[(isPart ? "parts" : std::to_string(device.serial())) + " " +
                           layout::findingsOf(device).file().string() + " " +
                           layout::findingKey(*request.version, device, laidOut.shape, request.fp)];
  if (!race) race = std::make_shared<layout::OnlineRace>(request, laidOut.shape);
  return std::unique_ptr<OnlineTuning>(
      new OnlineTuning(race, isPart, request, laidOut.shape, share));
}

/// Scalars are packed once for whichever variant runs.
bool OnlineTuning::fits(const DevicePlan& own, const DevicePlan& variant) const {
  if (own.scalarBytes != variant.scalarBytes || own.scalars.size() != variant.scalars.size())
    return false;
  for (std::size_t i = 0; i < own.scalars.size(); ++i) {
    const DevicePlan::ScalarArg& a = own.scalars[i];
    const DevicePlan::ScalarArg& b = variant.scalars[i];
    if (a.parameter != b.parameter || a.at != b.at || a.bytes != b.bytes) return false;
  }
  return true;
}

OnlineTuning::Slot& OnlineTuning::slot(std::size_t candidate) {
  if (slots_.size() <= candidate) slots_.resize(candidate + 1);
  return slots_[candidate];
}

/// The incumbent of the race, as soon as this plan has made it.
OnlineTuning::Turn OnlineTuning::usual() {
  const std::size_t incumbent = race_->incumbent();
  if (incumbent == 0) return {};
  const Slot& slot = this->slot(incumbent);
  if (!slot.plan && !slot.isBroken) needed_.store(static_cast<int>(incumbent));
  return {slot.plan};
}

OnlineTuning::Turn OnlineTuning::next(const DevicePlan& own) {
  const bool takesPart = !isPart_ || race_->isLedBy(*own.device, shape_);
  if (race_->isFinished() || !takesPart || !race_->isDue()) return usual();
  race_->poll();
  const auto wish = race_->wish();
  if (race_->hasNews()) needed_.store(0);
  if (!wish) return usual();
  const Slot& wished = slot(*wish);
  if (*wish != 0 && !wished.plan) {
    if (!wished.isBroken && race_->mayMake(*wish)) needed_.store(static_cast<int>(*wish));
    return usual();
  }
  const bool isWarming = *wish != 0 && !wished.isWarm;
  return {*wish == 0 ? nullptr : wished.plan, true, *wish, race_->wishNumber(), isWarming};
}

/// Calls launch(plan, timing) for whatever is next, timed where the race wants it.
template <class Launch>
cl::Event OnlineTuning::run(DevicePlan& own, Launch launch) {
  const Turn turn = next(own);
  DevicePlan& plan = turn.variant ? *turn.variant : own;
  if (!turn.isTimed) return launch(plan, Timing::None);
  const double begin = tune::secondsNow();
  cl::Event event = launch(plan, Timing::Own);
  race_->noteLaunch(turn.wish, turn.isWarming, event, tune::secondsNow() - begin);
  slot(turn.candidate).isWarm = true;
  return event;
}

void OnlineTuning::prepare(DevicePlan& own) {
  const std::lock_guard lock(preparing_);
  const int needed = needed_.load();
  if (needed < 0) return;
  const auto candidate = static_cast<std::size_t>(needed);
  std::optional<Variant> variant;
  {
    const memory::detail::Transaction transaction;
    if (candidate != 0 && !slot(candidate).plan)
      variant = Variant::from(race_->points()[candidate]);
  }
  std::shared_ptr<DevicePlan> made;
  const double begin = tune::secondsNow();
  if (variant) {
    try {
      made = makeVariant(request_, share_, *variant);
      if (!fits(own, *made)) made = nullptr;
    } catch (const Error&) {
      // Then it is out of the race.
    }
  }
  const double took = tune::secondsNow() - begin;
  std::optional<tune::Finding> news;
  {
    const memory::detail::Transaction transaction;
    if (made) {
      race_->noteMade(candidate, took);
      slot(candidate).plan = std::move(made);
    } else if (variant) {
      slot(candidate).isBroken = true;
      race_->noteFailed(candidate, took);
    }
    news = race_->takeNews();
    needed_.store(-1);
  }
  if (!news) return;
  const double beginKeeping = tune::secondsNow();
  race_->keep(*news);
  const memory::detail::Transaction transaction;
  race_->noteCost(tune::secondsNow() - beginKeeping);
}

void OnlineTuning::enqueue(DevicePlan& own, memory::detail::Transaction& transaction,
                           const std::byte* packed) {
  run(own, [&](DevicePlan& plan, Timing timing) {
    return plan.enqueueItself(transaction, packed, timing);
  });
}

cl::Event OnlineTuning::submit(DevicePlan& own, const memory::detail::WaitList& waits,
                               const std::byte* packed) {
  return run(own, [&](DevicePlan& plan, Timing timing) {
    if (&plan != &own) {
      plan.placements = own.placements;
      plan.placeArrays();
    }
    return plan.submitItself(waits, packed, true, timing);
  });
}

}  // namespace hpl::launch
