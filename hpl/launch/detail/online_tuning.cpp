// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/online_tuning.h"

#include <algorithm>
#include <map>

#include "hpl/error.h"
#include "hpl/launch/detail/findings.h"
#include "hpl/launch/detail/online_race.h"
#include "hpl/runtime/quirks.h"
#include "hpl/runtime/runtime.h"
#include "hpl/tune/search.h"

namespace hpl::launch {
namespace {

/// All races; never destroyed, because plans of static FRunners may outlive any static of ours.
struct Races {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<OnlineRace>> byKey;

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
bool canBeKept(const Plan& plan, const Argument* arguments) {
  constexpr std::size_t kInline = 16;
  for (std::size_t i = 0; i < plan.argumentCount; ++i) {
    const bool isScalar = arguments[i].kind == Argument::Kind::Scalar;
    if (!isScalar && arguments[i].kind != Argument::Kind::Array) return false;
    if (isScalar && ir::sizeOf(arguments[i].type) > kInline) return false;
  }
  return true;
}

}  // namespace

OnlineOptions& onlineOptions() {
  static OnlineOptions options;
  return options;
}

OnlineTuning::OnlineTuning(std::shared_ptr<OnlineRace> race, bool isPart, const Shape& shape,
                           const ShareContext& share)
    : race_(std::move(race)), isPart_(isPart), shape_(shape), share_(share) {}

OnlineTuning::~OnlineTuning() = default;

std::unique_ptr<OnlineTuning> OnlineTuning::create(const Plan& plan, const Shape& shape,
                                                   const Argument* arguments,
                                                   const ShareContext& share) {
  const runtime::Settings& settings = runtime::settings();
  if (settings.tune != runtime::TuneMode::Quick || !canBeKept(plan, arguments)) return nullptr;
  if (runtime::quirksOf(plan.device->properties()).isSimulator) return nullptr;
  const auto known = findingFor(plan, shape);
  if (known && known->complete) return nullptr;

  Races& races = Races::get();
  const std::lock_guard lock(races.mutex);
  const bool isPart = plan.isSlice || !share.distributions.empty();
  // Tests change the folder.
  auto& race = races.byKey[(isPart ? "parts" : std::to_string(plan.device->serial())) + " " +
                           findingsOf(*plan.device).file().string() + " " +
                           findingKey(*plan.version, *plan.device, shape, plan.options.fp)];
  if (!race) race = std::make_shared<OnlineRace>(plan, shape);
  std::unique_ptr<OnlineTuning> tuning(new OnlineTuning(race, isPart, shape, share));
  tuning->arguments_.assign(arguments, arguments + plan.argumentCount);
  return tuning;
}

/// Scalars are packed once for whichever variant runs.
bool OnlineTuning::fits(const Plan& own, const Plan& variant) const {
  if (own.scalarBytes != variant.scalarBytes || own.scalars.size() != variant.scalars.size())
    return false;
  for (std::size_t i = 0; i < own.scalars.size(); ++i) {
    const Plan::ScalarArg& a = own.scalars[i];
    const Plan::ScalarArg& b = variant.scalars[i];
    if (a.parameter != b.parameter || a.at != b.at || a.bytes != b.bytes) return false;
  }
  return true;
}

OnlineTuning::Slot& OnlineTuning::slot(std::size_t candidate) {
  if (slots_.size() <= candidate) slots_.resize(candidate + 1);
  return slots_[candidate];
}

/// The king of the race, as soon as this plan has made it.
OnlineTuning::Turn OnlineTuning::usual() {
  const std::size_t king = race_->king();
  if (king == 0) return {};
  const Slot& slot = this->slot(king);
  if (!slot.plan && !slot.isBroken) needed_.store(static_cast<int>(king));
  return {slot.plan};
}

OnlineTuning::Turn OnlineTuning::next(const Plan& own) {
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

/// Calls launch(plan) for whatever is next, timed where the race wants it.
template <class Launch>
void OnlineTuning::run(Plan& own, Launch launch) {
  const Turn turn = next(own);
  Plan& plan = turn.variant ? *turn.variant : own;
  if (!turn.isTimed) return launch(plan);
  cl::Event event;
  plan.timedEvent = &event;
  const double begin = tune::secondsNow();
  try {
    launch(plan);
  } catch (...) {
    plan.timedEvent = nullptr;
    throw;
  }
  plan.timedEvent = nullptr;
  race_->noteLaunch(turn.wish, turn.isWarming, std::move(event), tune::secondsNow() - begin);
  slot(turn.candidate).isWarm = true;
}

void OnlineTuning::prepare(Plan& own) {
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
  std::shared_ptr<Plan> made;
  const double begin = tune::secondsNow();
  if (variant) {
    try {
      made = makeVariant(own.version, own.labels, own.options, *own.device, arguments_.data(),
                         arguments_.size(), share_, &*variant);
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

void OnlineTuning::enqueue(Plan& own, memory::detail::Transaction& transaction,
                           const std::byte* packed) {
  run(own, [&](Plan& plan) { plan.enqueue(transaction, packed); });
}

cl::Event OnlineTuning::submit(Plan& own, const memory::detail::WaitList& waits,
                               const std::byte* packed) {
  cl::Event done;
  run(own, [&](Plan& plan) {
    if (&plan != &own) {
      plan.placements = own.placements;
      plan.placeArrays();
    }
    done = plan.submit(waits, packed);
  });
  return done;
}

}  // namespace hpl::launch
