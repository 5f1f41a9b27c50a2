// SPDX-License-Identifier: Apache-2.0
// Where an operation's cells lie: buffers are found, made, enlarged and kept until it has ended.
#include "hpl/memory/detail/execution.h"

#include <algorithm>
#include <utility>

#include "hpl/error.h"
#include "hpl/memory/detail/placement.h"
#include "hpl/memory/detail/planned.h"
#include "hpl/memory/detail/session.h"
#include "hpl/memory/detail/spill.h"
#include "hpl/runtime/dry_run.h"
#include "hpl/runtime/global_list.h"
#include "hpl/trace/timeline.h"

namespace hpl::memory::detail {

using coherence::Step;
using coherence::Transfer;

namespace {

// The box that the buffer of one end of a transfer has to hold: for a part's values all of the
// part, since its next launch needs the rest.
Box needOf(const RootState& state, SpaceId space, const Box& cells, Value value) {
  const coherence::Distribution* active = state.known->active().get();
  if (value == Value::OfArray || active == nullptr) return cells;
  const int part = active->partOn(space, cells);
  return part < 0 ? cells : active->fullOf(part);
}

}  // namespace

// Whether the cells that the transfer moves wait in the host's memory, and need not go back to
// their device before. Messages are read from buffers.
bool Execution::comesFromWaiting(const Transfer& transfer) const {
  if (runtime::hasRanks() || transfer.from == kHosts) return false;
  const Replica* replica = replicaOf(static_cast<std::size_t>(transfer.fromOperand), transfer.from);
  return replica != nullptr && isWaiting(*replica, transfer.source(), transfer.read);
}

// Sources that no buffer of their device can hold beside what it holds already: all of it waits,
// and they move from there.
void Execution::gatherSources() {
  if (runtime::hasRanks()) return;
  for (const Transfer transfer : step_->transfers) {
    if (transfer.from == kHosts) continue;
    Replica* replica = replicaOf(static_cast<std::size_t>(transfer.fromOperand), transfer.from);
    if (replica == nullptr || replica->spill == nullptr || isSpilled(*replica)) continue;
    const Box source = transfer.source();
    if (replica->pins > 0 || replica->box.contains(source)) continue;
    const auto bytes = static_cast<std::size_t>(hull(replica->box, source).volume()) *
                       replica->root->elementSize();
    if (bytes > replica->device().maxAllocation()) spill(lock_, *replica);
  }
}

// Whether the device's buffer holds these cells of the operand; if so, it goes on doing that until
// the operation ends.
bool Execution::holds(std::size_t operand, SpaceId space, const Box& cells) {
  Replica* replica = replicaOf(operand, space);
  if (replica == nullptr || isSpilled(*replica) || !replica->box.contains(cells)) return false;
  keep(*replica);
  return true;
}

// A buffer that held the cells may have made room for another one since, and come back for another
// purpose without them, which takes a part of what was waiting, too.
bool Execution::tryPlaceEnds() {
  const auto tryHold = [&](int operand, SpaceId space, const Box& cells) {
    const auto number = static_cast<std::size_t>(operand);
    return holds(number, space, cells) ||
           tryPlace({number, &memoryOf(space), cells, true, Fit::Loose});
  };
  for (const Transfer transfer : step_->transfers) {
    if (transfer.to == kHosts || isElsewhere(transfer.to)) continue;
    if (!tryHold(transfer.toOperand, transfer.to, transfer.target)) return false;
  }
  for (bool isDone = false; !isDone;) {
    isDone = true;
    for (const Transfer transfer : step_->transfers) {
      if (transfer.from == kHosts || isElsewhere(transfer.from)) continue;
      const auto operand = static_cast<std::size_t>(transfer.fromOperand);
      if (holds(operand, transfer.from, transfer.source()) || comesFromWaiting(transfer)) continue;
      if (!tryHold(transfer.fromOperand, transfer.from, transfer.source())) return false;
      isDone = false;
    }
  }
  return true;
}

void Execution::addTransferPlaces(std::vector<Place>& places) const {
  const auto add = [&](int operand, SpaceId space, const Box& cells, Value value) {
    if (space == kHosts || isElsewhere(space)) return;
    const auto number = static_cast<std::size_t>(operand);
    RootState& state = *roots_[number];
    const Replica* replica = state.findIn(space);
    // A buffer that may shrink to its part would no longer hold the cells.
    const bool stays = replica != nullptr && replica->buffer() != nullptr && !replica->mayShrink;
    if (stays && replica->box.contains(cells)) return;
    places.push_back(
        {number, &memoryOf(space), needOf(state, space, cells, value), true, Fit::Loose});
  };
  for (const Transfer transfer : step_->transfers) {
    if (!comesFromWaiting(transfer))
      add(transfer.fromOperand, transfer.from, transfer.source(), transfer.read);
    add(transfer.toOperand, transfer.to, transfer.target, transfer.written);
  }
  for (std::size_t operand = 0; operand < step_->exchanged.size(); ++operand) {
    if (step_->exchanged[operand] == 0) continue;
    for (const auto& replica : roots_[operand]->replicas)
      for (const Box& box : replica->arrayOnShelf)
        add(static_cast<int>(operand), replica->space(), box, Value::OfPart);
  }
  for (std::size_t operand = 0; operand < step_->promoted.size(); ++operand) {
    for (const auto& promotion : step_->promoted[operand]) {
      const Replica* replica = roots_[operand]->findIn(promotion.device);
      if (replica == nullptr) continue;
      const Region cells = intersectionOf(replica->partOnShelf, promotion.cells);
      for (const Box& box : cells)
        add(static_cast<int>(operand), promotion.device, box, Value::OfArray);
    }
  }
}

bool Execution::tryPlace(const Place& place) {
  const bool isTemporary = place.operand == roots_.size();
  RootState& state = isTemporary ? *temporary_ : *roots_[place.operand];
  Replica* replica = nullptr;
  if (place.isOwn) {
    replica = placeOwn(lock_, state, *place.memory, place.need, place.fit);
    if (replica == nullptr) return false;
  } else {
    replica = &placeShared(state, *place.memory);
  }
  keep(*replica);
  return true;
}

void Execution::keep(Replica& replica) {
  if (std::find(pinned_.begin(), pinned_.end(), &replica) != pinned_.end()) return;
  pinned_.push_back(&replica);
  pin(replica);
}

// False: an array of the operation's own had to make room, or the lock was given up.
bool Execution::tryPlaceAll(std::span<const Place> places) {
  for (const Place& place : places)
    if (!tryPlace(place)) return false;
  if (!tryPlaceEnds()) return false;
  for (const Transfer transfer : step_->transfers)
    if (transfer.to == kHosts)
      roots_[static_cast<std::size_t>(transfer.toOperand)]->materialiseHost();
  if (temporary_ != nullptr && step_->site == kHosts) temporary_->materialiseHost();
  for (std::size_t i = 0; i < roots_.size(); ++i)
    if (roots_[i]->known != before_[i]) return false;
  return true;
}

bool Execution::waitForOthers(std::span<const Place> places) {
  for (const Place& place : places)
    if (waitForUnpin(lock_, *place.memory)) return true;
  return false;
}

Replica* Execution::replicaOf(std::size_t operand, SpaceId space) const {
  return space == kHosts ? nullptr : roots_[operand]->findIn(space);
}

bool Execution::tryPrepare(const PlacesOf& placesOf) {
  std::vector<Place> places;
  gatherSources();
  if (placesOf) placesOf(*step_, places);
  addTransferPlaces(places);
  if (temporary_ != nullptr && step_->site != kHosts && !isElsewhere(step_->site))
    places.push_back(
        {roots_.size(), &memoryOf(step_->site), temporary_->wholeBox(), true, Fit::Loose});
  try {
    if (!tryPlaceAll(places)) return false;
  } catch (const AllocationError&) {
    const std::exception_ptr failure = std::current_exception();
    // Memory may be short only because other threads are between two waits of theirs.
    letGo();
    if (waitForOthers(places)) return false;
    agreeNow(failure);
    throw;
  }
  agreeNow(nullptr);
  // The new layout may be the one that the transfers found, or a better one.
  for (std::size_t i = 0; i < roots_.size(); ++i) layouts_[i] = roots_[i]->layout;
  moveAll();
  return true;
}

// Throws the failure of any rank. Where ranks need not agree, the caller throws its own.
void Execution::agreeNow(const std::exception_ptr& failure) {
  if (!std::exchange(mustAgree_, false)) return;
  lock_.unlock();
  try {
    agree(failure);
  } catch (...) {
    lock_.lock();
    throw;
  }
  lock_.lock();
}

void Execution::prepare(const PlacesOf& placesOf) {
  do {
    plan();
  } while (!tryPrepare(placesOf));
}

}  // namespace hpl::memory::detail
