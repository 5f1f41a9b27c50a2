// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/launch_memory.h"

#include <algorithm>

namespace hpl::memory::detail {

namespace {

// Explicit parts are counted from launch to launch.
bool isRepeatable(const DeviceUse& use) {
  return !use.write || !use.mayBePart || use.distribution != nullptr;
}

}  // namespace

void LaunchMemory::observe(std::span<const DeviceLaunch> launches) {
  isLearning_ = true;
  placed_ = nullptr;
  if (!learning_) learning_ = std::make_unique<KnownLaunch>();
  learning_->before.clear();
  for (const DeviceLaunch& launch : launches) {
    for (const DeviceUse& use : launch.uses) {
      isLearning_ = isLearning_ && isRepeatable(use);
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
  const auto& before = learning_->before;
  isLearning_ = isLearning_ && std::all_of(before.begin(), before.end(),
                                           [](const Snapshot& root) { return root.holds(); });
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

bool Transaction::prepareKnown(std::span<DeviceLaunch> launches, LaunchMemory& memory,
                               bool& moved) {
  const KnownLaunch* known = memory.find();
  if (known == nullptr) return false;
  memory.waits_.resize(launches.size());
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
      launch.tickets[i].slot->stamp = stamp;
      if ((*replica)->zeroCopy) (*replica)->root->state().noteAliasUser(*launch.device);
    }
  }
  for (std::size_t i = 0; i < known_->after.size(); ++i) {
    if (!known_->changes[i]) continue;
    known_->after[i].restore();
    known_->after[i].state().bumpEpoch();
  }
  dateTickets(launches);
}

}  // namespace hpl::memory::detail
