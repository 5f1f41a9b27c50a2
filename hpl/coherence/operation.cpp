// SPDX-License-Identifier: Apache-2.0
#include "hpl/coherence/operation.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hpl/coherence/detail/hash.h"
#include "hpl/error.h"
#include "hpl/geometry/box_index.h"

namespace hpl::coherence {

using detail::Hasher;
using geometry::Box;

namespace {

bool isSame(const DistributionPtr& a, const DistributionPtr& b) {
  return a == b || (a != nullptr && b != nullptr && *a == *b);
}

void addBoxes(Hasher& hasher, const std::vector<Box>& boxes) {
  hasher.add(boxes.size());
  for (const Box& box : boxes) hasher.add(box);
}

void addTo(Hasher& hasher, const ViewOf& view) {
  hasher.add(view.box);
  addBoxes(hasher, view.madeFrom);
}

// Facts and touched cells are left out: uses that differ in nothing else are rare.
void addTo(Hasher& hasher, const Use& use) {
  const unsigned flags = (use.reads ? 1U : 0U) | (use.writes ? 2U : 0U) |
                         (use.overwrites ? 4U : 0U) | (use.isView ? 8U : 0U) |
                         (use.isSlice ? 16U : 0U);
  hasher.add(static_cast<std::uint64_t>(use.operand)).add(flags);
  hasher.add(use.distribution == nullptr ? 0 : use.distribution->hash());
  hasher.add(static_cast<std::uint64_t>(use.device)).add(use.cells);
  addBoxes(hasher, use.madeFrom);
}

struct AddKind {
  Hasher& hasher;

  void operator()(const Launch& launch) const {
    for (const Use& use : launch.uses) addTo(hasher, use);
  }
  void operator()(const Exchange& exchange) const {
    hasher.add(static_cast<std::uint64_t>(exchange.operands));
  }
  void operator()(const Copy& copy) const {
    addTo(hasher, copy.to);
    hasher.add(static_cast<std::uint64_t>(copy.source));
    addTo(hasher, copy.from);
  }
  void operator()(const Fill& fill) const { addTo(hasher, fill.to); }
  void operator()(const HostRead& read) const { hasher.add(read.box); }
  void operator()(const HostWrite& write) const {
    hasher.add(write.box).add(write.overwrites ? 1U : 0U);
  }
  void operator()(const LocalAccess& access) const {
    hasher.add(access.writes ? 1U : 0U).add(access.parts.size());
    for (const LocalCells& part : access.parts)
      hasher.add(static_cast<std::uint64_t>(part.device)).add(part.cells);
  }
  void operator()(const NewCut& cut) const { hasher.add(cut.distribution->hash()); }
  void operator()(const ArrayDeath& death) const { hasher.add(death.hasUserMemory ? 1U : 0U); }
  void operator()(const DeviceDeath& death) const {
    hasher.add(static_cast<std::uint64_t>(death.device));
  }
};

void requireSensible(const Use& use, std::size_t number) {
  const auto refuse = [&](const std::string& what, const std::string& how) {
    throw ArgumentError(fmt::format("use {} of the launch {}: {}", number, what, how));
  };
  if (use.operand < 0 || use.operand >= kMostOperands)
    refuse(fmt::format("names operand {}", use.operand),
           fmt::format("operands count from 0 to {}", kMostOperands - 1));
  if (use.overwrites && !use.writes)
    refuse("overwrites all cells but does not write", "set `writes`, too");
  if (use.distribution == nullptr && use.cells.empty())
    refuse("has no cells", "give it the cells that the device works on");
  if (use.touched.empty()) return;
  if (use.writes || use.distribution != nullptr || !use.cells.contains(use.touched.boundingBox()))
    refuse("reads some of its cells only, but writes, has a distribution, or has not got them",
           "name single cells of what is read, among `cells`");
}

// How many states the operation needs; throws for what makes no sense.
struct CountOperands {
  int operator()(const Launch& launch) const {
    int count = 0;
    for (std::size_t i = 0; i < launch.uses.size(); ++i) {
      requireSensible(launch.uses[i], i);
      count = std::max(count, launch.uses[i].operand + 1);
    }
    return count;
  }
  int operator()(const Exchange& exchange) const {
    if (exchange.operands < 1 || exchange.operands > kMostOperands)
      throw ArgumentError(
          fmt::format("an exchange of {} arrays: name 1 to {}", exchange.operands, kMostOperands));
    return exchange.operands;
  }
  int operator()(const Copy& copy) const {
    if (copy.source != 0 && copy.source != 1)
      throw ArgumentError(
          fmt::format("the source of an assignment is operand {}: it is 0 where both "
                      "sides are one array, else 1",
                      copy.source));
    if (!(copy.to.box.extents() == copy.from.box.extents()))
      throw ShapeError(
          fmt::format("cannot assign cells {} to cells {}: both sides of an assignment "
                      "need the same extents",
                      copy.from.box.toString(), copy.to.box.toString()));
    return 1 + copy.source;
  }
  int operator()(const LocalAccess& access) const {
    std::vector<Box> boxes;
    for (const LocalCells& part : access.parts) {
      if (part.device == kHosts || part.cells.empty())
        throw ArgumentError(
            fmt::format("a local access to cells {} of {}: name some cells, and the device whose "
                        "process accesses them",
                        part.cells.toString(), part.device == kHosts ? "the hosts" : "a device"));
      boxes.push_back(part.cells);
    }
    const geometry::BoxIndex index(boxes);
    for (std::size_t i = 0; i < boxes.size(); ++i)
      index.forEachMeeting(boxes[i], [&](int other) {
        if (static_cast<std::size_t>(other) == i) return;
        throw ArgumentError(
            fmt::format("a local access to cells {} on one device and to cells {} on another one: "
                        "each cell has one owner",
                        boxes[i].toString(), boxes[static_cast<std::size_t>(other)].toString()));
      });
    return 1;
  }
  int operator()(const NewCut& cut) const {
    if (cut.distribution == nullptr)
      throw ArgumentError("a new cut without a distribution: say which parts there are");
    return 1;
  }
  template <class Other>
  int operator()(const Other&) const {
    return 1;
  }
};

}  // namespace

bool operator==(const Use& a, const Use& b) {
  const bool sameFacts =
      a.facts == b.facts || (a.facts != nullptr && b.facts != nullptr && *a.facts == *b.facts);
  return sameFacts && a.operand == b.operand && a.reads == b.reads && a.writes == b.writes &&
         a.overwrites == b.overwrites && isSame(a.distribution, b.distribution) &&
         a.device == b.device && a.cells == b.cells && a.touched == b.touched &&
         a.isView == b.isView && a.isSlice == b.isSlice && a.madeFrom == b.madeFrom;
}

bool operator==(const NewCut& a, const NewCut& b) { return isSame(a.distribution, b.distribution); }

Operation::Operation(Kind kind) : kind_(std::move(kind)) {
  operands_ = std::visit(CountOperands{}, kind_);
  Hasher hasher;
  hasher.add(kind_.index());
  std::visit(AddKind{hasher}, kind_);
  hash_ = hasher.value();
}

const char* Operation::name() const noexcept {
  static constexpr const char* kNames[] = {
      "launch",  "exchange",          "assignment",        "fill",        "host read", "host write",
      "new cut", "death of an array", "death of a device", "local access"};
  return kNames[kind_.index()];
}

}  // namespace hpl::coherence
