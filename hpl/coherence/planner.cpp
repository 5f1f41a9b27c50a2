// SPDX-License-Identifier: Apache-2.0
#include "hpl/coherence/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hpl/coherence/detail/draft.h"
#include "hpl/coherence/detail/hash.h"
#include "hpl/coherence/detail/plans.h"
#include "hpl/coherence/mishaps.h"
#include "hpl/error.h"

namespace hpl::coherence {

using detail::Draft;

namespace {

struct PlanKind {
  const detail::Planning& planning;

  void operator()(const Launch& launch) const { detail::planLaunch(planning, launch); }
  void operator()(const Exchange& exchange) const { detail::planExchange(planning, exchange); }
  void operator()(const Copy& copy) const { detail::planCopy(planning, copy); }
  void operator()(const Fill& fill) const { detail::planFill(planning, fill); }
  void operator()(const HostRead& read) const { detail::planHostRead(planning, read); }
  void operator()(const HostWrite& write) const { detail::planHostWrite(planning, write); }
  void operator()(const LocalAccess& access) const { detail::planLocalAccess(planning, access); }
  void operator()(const NewCut& cut) const { detail::planNewCut(planning, cut); }
  void operator()(const ArrayDeath& death) const { detail::planArrayDeath(planning, death); }
  void operator()(const DeviceDeath& death) const { detail::planDeviceDeath(planning, death); }
};

// The drafts of an operation's operands.
struct Drafts {
  Drafts(std::span<const StatePtr> before, int spaceCount) {
    drafts.reserve(before.size());
    for (const StatePtr& state : before) drafts.emplace_back(state, spaceCount);
    for (Draft& draft : drafts) pointers.push_back(&draft);
  }
  std::vector<Draft> drafts;
  std::vector<Draft*> pointers;
};

std::size_t hashOf(const Operation& operation, std::span<const StatePtr> before) {
  detail::Hasher hasher;
  hasher.add(operation.hash());
  for (const StatePtr& state : before) hasher.add(state->hash());
  return hasher.value();
}

}  // namespace

Planner::Planner(Machine machine) : Planner(std::move(machine), Memory{}) {}

Planner::Planner(Machine machine, const Memory& memory)
    : machine_(std::move(machine)), memory_(memory) {}

void Planner::requireStates(const Operation& operation, std::span<const StatePtr> before) const {
  if (static_cast<int>(before.size()) != operation.operandCount())
    throw ArgumentError(fmt::format("{} of {} arrays: {} states were given, but each array has one",
                                    operation.name(), operation.operandCount(), before.size()));
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] == nullptr)
      throw ArgumentError(fmt::format("{}: no state of operand {} was given", operation.name(), i));
    if (before[i]->spaceCount() > machine_.spaceCount())
      throw ArgumentError(fmt::format(
          "{} is known in {} memory spaces, but the machine has {}: make "
          "its states for this machine",
          before[i]->root().describe(), before[i]->spaceCount(), machine_.spaceCount()));
    for (std::size_t j = 0; j < i; ++j)
      if (&before[j]->root() == &before[i]->root())
        throw ArgumentError(
            fmt::format("{} is operand {} and {} of a {}: name one operand twice "
                        "instead",
                        before[i]->root().describe(), j, i, operation.name()));
  }
}

StepPtr Planner::planAnew(const Operation& operation, std::span<const StatePtr> before) const {
  requireStates(operation, before);
  Drafts drafts(before, machine_.spaceCount());
  auto step = std::make_shared<Step>();
  step->changes.resize(before.size());
  step->exchanged.resize(before.size(), 0);
  step->promoted.resize(before.size());
  std::vector<Transfer> transfers;
  const detail::Planning planning{machine_, drafts.pointers, *step, transfers};
  std::visit(PlanKind{planning}, operation.kind());
  step->transfers = TransferList(transfers);
  for (Draft& draft : drafts.drafts) step->after.push_back(draft.finish());
  return step;
}

StepPtr Planner::plan(const OperationPtr& operation, std::span<const StatePtr> before) {
  requireStates(*operation, before);
  const std::size_t hash = hashOf(*operation, before);
  const auto [begin, end] = places_.equal_range(hash);
  for (auto i = begin; i != end; ++i) {
    const Remembered& known = *i->second;
    if (!std::equal(before.begin(), before.end(), known.before.begin(), known.before.end()) ||
        !(*known.operation == *operation))
      continue;
    entries_.splice(entries_.begin(), entries_, i->second);
    ++counts_.repeated;
    return known.step;
  }
  StepPtr step = planAnew(*operation, before);
  ++counts_.planned;
  remember({operation, {before.begin(), before.end()}, step, hash});
  return step;
}

void Planner::remember(Remembered entry) {
  transfers_ += entry.step->transfers.size();
  entries_.push_front(std::move(entry));
  places_.emplace(entries_.front().hash, entries_.begin());
  // The newest one stays, however much it is.
  while (entries_.size() > 1 && (entries_.size() > memory_.steps || transfers_ > memory_.transfers))
    forgetOldest();
}

void Planner::forgetOldest() {
  const Place oldest = std::prev(entries_.end());
  const auto [begin, end] = places_.equal_range(oldest->hash);
  for (auto i = begin; i != end; ++i) {
    if (i->second != oldest) continue;
    places_.erase(i);
    break;
  }
  transfers_ -= oldest->step->transfers.size();
  entries_.pop_back();
}

namespace {

bool hasCopiesBeyondEnds(const State& state, SpaceId space) {
  const geometry::Box box = state.root().box();
  return !box.contains(state.copiesOf(space).current.boundingBox());
}

// Whether the cells are all of the array, and no part of it.
bool isWhole(const Use& use, const geometry::Box& cells, const geometry::Box& whole) {
  const bool isPart =
      use.distribution != nullptr ? use.distribution->hasGhosts() : use.isView || use.isSlice;
  return !isPart && cells == whole;
}

}  // namespace

bool Planner::leaveEnds(const Operation& operation, std::span<StatePtr> before) const {
  const auto* launch = std::get_if<Launch>(&operation.kind());
  if (launch == nullptr) return false;
  bool hasChanged = false;
  const auto leave = [&](const Use& use, SpaceId device, const geometry::Box& cells) {
    StatePtr& state = before[static_cast<std::size_t>(use.operand)];
    if (!isWhole(use, cells, state->root().box()) || !hasCopiesBeyondEnds(*state, device)) return;
    const bool mayShare = state->root().hostsMayBeShared;
    if (mayShare && machine_.sharedSpaceOf(device) != device) return;
    state = afterLosingImages(state, device);
    hasChanged = true;
  };
  for (const Use& use : launch->uses) {
    if (!before[static_cast<std::size_t>(use.operand)]->mayHaveImages()) continue;
    if (use.distribution == nullptr) leave(use, use.device, use.cells);
    for (int part = 0; use.distribution != nullptr && part < use.distribution->partCount(); ++part)
      leave(use, use.distribution->spaceOf(part), use.distribution->fullOf(part));
  }
  return hasChanged;
}

std::vector<StaleGhosts> Planner::staleGhosts(const Operation& operation,
                                              std::span<const StatePtr> before) const {
  requireStates(operation, before);
  const auto* launch = std::get_if<Launch>(&operation.kind());
  if (launch == nullptr) return {};
  Drafts drafts(before, machine_.spaceCount());
  std::vector<StaleGhosts> stale = detail::findStale(launch->uses, drafts.pointers);
  std::erase_if(stale, [&](const StaleGhosts& ghosts) {
    return launch->uses[static_cast<std::size_t>(ghosts.use)].facts->refresh;
  });
  return stale;
}

SpaceId Planner::add(Space device) {
  machine_ = std::move(machine_).with(std::move(device));
  return machine_.spaceCount() - 1;
}

void Planner::lose(SpaceId device) {
  machine_ = machine_.without(device);
  entries_.clear();
  places_.clear();
  transfers_ = 0;
}

}  // namespace hpl::coherence
