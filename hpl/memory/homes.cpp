// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/homes.h"

#include <algorithm>

#include "hpl/memory/detail/coherence.h"
#include "hpl/runtime/global_list.h"
#include "hpl/runtime/runtime.h"

namespace hpl::memory {
namespace {

using namespace detail;

/// Boxes per device from which on launching them costs more than moving their cells.
constexpr std::size_t kMostBoxes = 4;

class Cover {
 public:
  Cover(View& view, std::vector<Home>& homes)
      : view_(view), state_(view.root().state()), left_(view.box()), homes_(homes) {
    homes_.clear();
  }

  bool find() {
    if (areAllParts()) return true;
    takeParts();
    takeOwnBuffers();
    takeHostMemory();
    const bool isHeld = !homes_.empty();
    if (left_.empty() && homes_.size() <= kMostBoxes * devices()) return isHeld;
    if (!left_.empty() && homes_.size() + left_.boxCount() <= kMostBoxes * devices()) {
      DeviceState& device = homes_.empty() ? usual() : *homes_.front().device;
      const Region left = left_;
      take(device, left);
      return isHeld;
    }
    homes_.clear();
    homes_.push_back({&usual(), view_.box().translatedBack(view_.box().lo())});
    return isHeld;
  }

 private:
  DeviceState& usual() const {
    const runtime::Runtime& runtime = runtime::Runtime::get();
    return state_.root.isRankLocal() ? runtime.ownDefaultDevice() : runtime.defaultDevice();
  }

  std::size_t devices() const {
    std::size_t count = state_.replicas.size();
    if (runtime::hasRanks()) count = holders().size();
    return std::max<std::size_t>(1, count);
  }

  /// The devices that have values of the array, on all ranks. Where one process owns all, its
  /// replicas say more: in which order they came.
  std::vector<SpaceId> holders() const {
    std::vector<SpaceId> spaces;
    if (!runtime::hasRanks()) {
      for (const auto& replica : state_.replicas)
        if (!replica->zeroCopy) spaces.push_back(replica->space());
      return spaces;
    }
    for (SpaceId space = 1; space < state_.known->spaceCount(); ++space)
      if (!state_.copiesOf(space).empty()) spaces.push_back(space);
    return spaces;
  }

  void take(DeviceState& device, const Box& cells) {
    const Box box = intersect(cells, view_.box());
    if (box.empty()) return;
    homes_.push_back({&device, box.translatedBack(view_.box().lo())});
    left_.subtract(box);
  }
  void take(DeviceState& device, const Region& cells) {
    for (const Box& box : cells) take(device, box);
  }

  /// The usual case, without sets of boxes: all cells are cores of parts, and where they belong.
  bool areAllParts() {
    const coherence::Distribution* active = state_.known->active().get();
    if (active == nullptr) return false;
    std::size_t cells = 0;
    for (int part = 0; part < active->partCount(); ++part) {
      const Region current = currentOn(active->spaceOf(part));
      const Region owned = active->coreOf(part);
      for (const Box& core : owned) {
        const Box box = intersect(core, view_.box());
        if (box.empty()) continue;
        if (!current.contains(box)) {
          homes_.clear();
          return false;
        }
        homes_.push_back(
            {&memoryOf(active->spaceOf(part)).device, box.translatedBack(view_.box().lo())});
        cells += static_cast<std::size_t>(box.volume());
      }
    }
    if (cells == view_.size() && homes_.size() <= kMostBoxes * devices()) return true;
    homes_.clear();
    return false;
  }

  /// The cells that are current in the memory in which a device works.
  Region currentOn(SpaceId device) const {
    if (runtime::hasRanks() || state_.findIn(device) != nullptr)
      return state_.copiesOf(device).current;
    const bool isShared = state_.find(memoryOf(device).device, true) != nullptr;
    return isShared ? state_.copiesOf(kHosts).current : Region();
  }

  /// Parts whose cells are where they belong.
  void takeParts() {
    const coherence::Distribution* active = state_.known->active().get();
    if (active == nullptr) return;
    for (int part = 0; part < active->partCount() && !left_.empty(); ++part) {
      const Region current = currentOn(active->spaceOf(part));
      const Region owned = active->coreOf(part);
      for (const Box& core : owned) {
        const Box cells = intersect(core, view_.box());
        if (!cells.empty() && current.contains(cells) && left_.contains(cells))
          take(memoryOf(active->spaceOf(part)).device, cells);
      }
    }
  }

  void takeOwnBuffers() {
    for (const SpaceId space : holders()) {
      if (left_.empty()) return;
      Region here = state_.copiesOf(space).current;
      here.intersect(left_);
      take(memoryOf(space).device, here);
    }
  }

  /// Cells in the host's memory, where several devices may work: the one that came last, or all of
  /// them when a launch of several did.
  void takeHostMemory() {
    if (left_.boxCount() != 1 || !state_.copiesOf(kHosts).current.contains(left_)) return;
    const int devices = state_.zeroCopyCount();
    if (devices == 0) return;
    const Box cells = *left_.begin();
    if (state_.lastAliasUser != nullptr || devices == 1 || cells.extent(0) < devices) {
      DeviceState* device = state_.lastAliasUser;
      for (const auto& replica : state_.replicas)
        if (device == nullptr && replica->zeroCopy) device = &replica->device();
      return take(*device, cells);
    }
    geometry::Index begin = cells.lo(0);
    int number = 0;
    for (const auto& replica : state_.replicas) {
      if (!replica->zeroCopy) continue;
      const geometry::Index end = cells.lo(0) + cells.extent(0) * ++number / devices;
      take(replica->device(), cells.withRange(0, begin, end));
      begin = end;
    }
  }

  View& view_;
  RootState& state_;
  Region left_;
  std::vector<Home>& homes_;
};

}  // namespace

bool homesOf(View& view, std::vector<Home>& homes) {
  // Finding the devices takes no lock of ours.
  runtime::Runtime::get().defaultDevice();
  const Lock lock(coherenceMutex());
  return Cover(view, homes).find();
}

}  // namespace hpl::memory
