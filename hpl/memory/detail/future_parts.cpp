// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/future_parts.h"

#include <fmt/format.h>

#include <utility>

#include "hpl/memory/detail/placement.h"
#include "hpl/memory/detail/shelf.h"
#include "hpl/runtime/log.h"
#include "hpl/runtime/settings.h"

namespace hpl::memory::detail {

namespace {

// To those who look for wrong ghosts: the library has another opinion of how a program divides its
// array than it had before.
void sayChanges(const RootState& state) {
  if (!runtime::settings().checkGhosts || !runtime::log::shows(runtime::LogLevel::Warn)) return;
  for (const ExplicitParts::Change& change : state.explicitParts.changes()) {
    const std::string why = change.now.rank() > 0
                                ? fmt::format("the device writes {} instead", change.now.toString())
                                : std::string("the array is cut without it");
    runtime::log::warn(
        fmt::format("HPL_CHECK=ghosts: view {} of {} is no part of device \"{}\" any more: {}",
                    change.before.toString(), state.root.describe(), change.device->name(), why));
  }
}

bool tryUnshelvePromoted(Lock& lock, RootState& state, const ExplicitParts::Promotion& promotion) {
  Replica* replica = state.find(*promotion.device, false);
  if (replica == nullptr) return true;
  const Region cells = intersectionOf(replica->own.shelved, promotion.cells);
  for (const Box& box : cells) {
    if (replica->buffer() == nullptr || !replica->box.contains(box)) {
      replica = placeReplica(lock, state, *replica->memory, hull(replica->box, box), Buffer::Own);
      if (replica == nullptr) return false;
    }
    if (!unshelve(lock, *replica, box)) return false;
  }
  return true;
}

}  // namespace

FutureParts::FutureParts(std::span<const DeviceLaunch> launches) {
  for (const DeviceLaunch& launch : launches) {
    for (const DeviceUse& use : launch.uses) {
      if (use.makesPart())
        entryOf(use.view->root().state())
            .written.push_back({launch.device, use.cells(), use.view->parent()});
    }
  }
  for (Entry& entry : entries_) {
    if (entry.state->explicitParts.keeps(entry.written)) continue;
    entry.changed = entry.state->explicitParts;
    entry.promotions = entry.changed->add(entry.written);
  }
}

const Distribution* FutureParts::of(const RootState& state) const {
  const Entry* entry = find(state);
  if (entry == nullptr) return nullptr;
  return (entry->changed ? *entry->changed : state.explicitParts).distribution().get();
}

Region FutureParts::promoted(RootState& state) const {
  Region cells;
  const Entry* entry = find(state);
  if (entry == nullptr) return cells;
  for (const ExplicitParts::Promotion& promotion : entry->promotions) {
    const Replica* replica = state.find(*promotion.device, false);
    if (replica != nullptr) cells.add(intersectionOf(promotion.cells, replica->own.kept));
  }
  return cells;
}

bool FutureParts::tryUnshelve(Lock& lock) const {
  for (const Entry& entry : entries_) {
    for (const ExplicitParts::Promotion& promotion : entry.promotions)
      if (!tryUnshelvePromoted(lock, *entry.state, promotion)) return false;
  }
  return true;
}

void FutureParts::adopt() {
  for (Entry& entry : entries_) {
    RootState& state = *entry.state;
    if (entry.changed) {
      state.explicitParts = std::move(*entry.changed);
      sayChanges(state);
    } else if (state.explicitParts.note(entry.written)) {
      state.changeLayout();  // launches on other views of the parts have to be noted, too
    }
    for (const ExplicitParts::Promotion& promotion : entry.promotions) state.promote(promotion);
    state.adopt(state.explicitParts.distribution());
  }
}

const FutureParts::Entry* FutureParts::find(const RootState& state) const {
  for (const Entry& entry : entries_) {
    if (entry.state == &state) return &entry;
  }
  return nullptr;
}

FutureParts::Entry& FutureParts::entryOf(RootState& state) {
  for (Entry& entry : entries_) {
    if (entry.state == &state) return entry;
  }
  return entries_.emplace_back(Entry{&state, std::nullopt, {}, {}});
}

}  // namespace hpl::memory::detail
