// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/launch_memory.h"

#include <algorithm>

namespace hpl::memory::detail {

namespace {

ExplicitParts::Part partOf(DeviceState& device, const DeviceUse& use) {
  return {&device, use.cells(), use.view->parent()};
}

// Which launches wrote explicit parts last is counted apart from what a snapshot holds. Whether the
// launch changes no more of that than the count.
bool repeatsPart(DeviceState& device, const DeviceUse& use) {
  if (!use.makesPart()) return true;
  const RootState& state = use.view->root().state();
  return !state.partsAreNew && state.active == state.explicitParts.distribution() &&
         state.explicitParts.repeats(partOf(device, use));
}

bool allRepeatParts(std::span<const DeviceLaunch> launches) {
  return std::all_of(launches.begin(), launches.end(), [](const DeviceLaunch& launch) {
    return std::all_of(launch.uses.begin(), launch.uses.end(),
                       [&](const DeviceUse& use) { return repeatsPart(*launch.device, use); });
  });
}

// Parts that are written together count as one cut.
bool writesSeveralParts(std::span<const DeviceLaunch> launches) {
  std::vector<const Root*> written;
  for (const DeviceLaunch& launch : launches)
    for (const DeviceUse& use : launch.uses)
      if (use.makesPart()) written.push_back(&use.view->root());
  std::sort(written.begin(), written.end());
  return std::adjacent_find(written.begin(), written.end()) != written.end();
}

}  // namespace

void LaunchMemory::observe(std::span<const DeviceLaunch> launches) {
  isLearning_ = !writesSeveralParts(launches) && allRepeatParts(launches);
  placed_ = nullptr;
  if (!isLearning_) return;
  if (!learning_) learning_ = std::make_unique<KnownLaunch>();
  learning_->before.clear();
  for (const DeviceLaunch& launch : launches) {
    for (const DeviceUse& use : launch.uses) {
      RootState& state = use.view->root().state();
      auto& before = learning_->before;
      const bool isNoted = std::any_of(before.begin(), before.end(), [&](const Snapshot& snapshot) {
        return &snapshot.state() == &state;
      });
      if (!isNoted) before.emplace_back().take(state);
    }
  }
}

void LaunchMemory::observePrepared(std::span<const DeviceLaunch> launches,
                                   std::span<Replica* const> used) {
  if (!isLearning_) return;
  const auto& before = learning_->before;
  isLearning_ =
      std::all_of(before.begin(), before.end(), [](const Snapshot& root) { return root.holds(); });
  if (!isLearning_) return;
  learning_->used.assign(used.begin(), used.end());
  learning_->placements.clear();
  for (const DeviceLaunch& launch : launches)
    learning_->placements.insert(learning_->placements.end(), launch.placements.begin(),
                                 launch.placements.end());
}

void LaunchMemory::learn() {
  if (!isLearning_) return;
  isLearning_ = false;
  KnownLaunch& fresh = *learning_;
  fresh.after.resize(fresh.before.size());
  fresh.changes.resize(fresh.before.size());
  for (std::size_t i = 0; i < fresh.before.size(); ++i) {
    fresh.after[i].take(fresh.before[i].state());
    if (!fresh.after[i].sameLayout(fresh.before[i])) return;
    fresh.changes[i] = !(fresh.after[i] == fresh.before[i]);
  }
  placed_ = learning_.get();
  if (known_.size() < kMostKnown) {
    known_.push_back(std::move(learning_));
  } else {
    std::swap(known_[next_++ % kMostKnown], learning_);
  }
}

const KnownLaunch* LaunchMemory::find() const {
  for (const auto& known : known_) {
    if (std::all_of(known->before.begin(), known->before.end(),
                    [](const Snapshot& root) { return root.holds(); }))
      return known.get();
  }
  return nullptr;
}

void LaunchMemory::reserveWaits(std::span<DeviceLaunch> launches) {
  if (waits_.size() == launches.size()) return;
  waits_.resize(launches.size());
  for (Waits& waits : waits_) waits.reserve();
  for (DeviceLaunch& launch : launches) launch.waits.reserve(Waits::kUsual);
}

bool Transaction::prepareKnown(std::span<DeviceLaunch> launches, LaunchMemory& memory,
                               bool& moved) {
  const KnownLaunch* known = memory.find();
  if (known == nullptr || !allRepeatParts(launches)) return false;
  memory.reserveWaits(launches);
  std::size_t next = 0;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    Waits& waits = memory.waits_[i];
    waits.clear();
    for (const DeviceUse& use : launches[i].uses) {
      collectConflicts(use.view->root().state(), known->used[next++]->storage(), use.cells(),
                       use.write, {launches[i].device, true}, waits, Forget::IfMany);
      if (waits.mustBlock()) return false;
    }
  }
  auto placement = known->placements.begin();
  moved = memory.placed_ != known;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    memory.waits_[i].relayTo(*launches[i].device);
    launches[i].waits.swap(memory.waits_[i].events);
    if (!moved) continue;
    for (Placement& own : launches[i].placements) own = *placement++;
  }
  // Until all of them have been used, nobody can tell which hold.
  if (moved) memory.placed_ = nullptr;
  known_ = known;
  return true;
}

void Transaction::commitKnown(std::span<DeviceLaunch> launches, LaunchMemory& memory) {
  memory.placed_ = known_;
  auto replica = known_->used.begin();
  for (DeviceLaunch& launch : launches) {
    const Stamp stamp = record(*launch.device, std::move(launch.event));
    for (std::size_t i = 0; i < launch.uses.size(); ++i, ++replica) {
      const DeviceUse& use = launch.uses[i];
      Ticket& ticket = launch.tickets[i];
      if (ticket.replica != *replica) {
        ticket.replica = *replica;
        ticket.slot = &slotFor(**replica, use.cells(), use.write);
      }
      ticket.slot->stamp = stamp;
      if (use.makesPart()) {
        const ExplicitParts::Part part = partOf(*launch.device, use);
        use.view->root().state().explicitParts.note({&part, 1});
      }
      if ((*replica)->zeroCopy) (*replica)->root->state().noteAliasUser(*launch.device);
    }
  }
  noteSeveralAliasUsers(launches);
  for (std::size_t i = 0; i < known_->after.size(); ++i) {
    if (!known_->changes[i]) continue;
    known_->after[i].restore();
    known_->after[i].state().bumpEpoch();
  }
  dateTickets(launches);
}

}  // namespace hpl::memory::detail
