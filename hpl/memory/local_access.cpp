// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/local_access.h"

#include <fmt/format.h>

#include <algorithm>

#include "hpl/memory/detail/execution.h"
#include "hpl/memory/detail/host_access.h"
#include "hpl/memory/detail/local_writes.h"
#include "hpl/memory/detail/session.h"
#include "hpl/memory/detail/shelf.h"
#include "hpl/memory/root.h"
#include "hpl/runtime/global_list.h"
#include "hpl/runtime/runtime.h"

namespace hpl::memory {

namespace {

using namespace detail;

// The devices that an array may be on.
std::vector<DeviceState*> devicesFor(const Root& root) {
  runtime::Runtime& runtime = runtime::Runtime::get();
  std::vector<DeviceState*> devices;
  for (const auto& device : runtime.devices())
    if (!root.isRankLocal() || device->isLocal()) devices.push_back(device.get());
  // On a rank without any, its part has to name one.
  if (devices.empty()) devices.push_back(&runtime.defaultDevice());
  return devices;
}

// The bands that a launch on all devices would make; parts without cells are left out.
std::vector<OwnedCells> bandsOf(const Root& root, const Box& whole) {
  const std::vector<DeviceState*> devices = devicesFor(root);
  std::vector<SpaceId> numbers;
  for (std::size_t d = 0; d < devices.size(); ++d) numbers.push_back(static_cast<SpaceId>(d + 1));
  coherence::GridAxis rows;
  rows.split.parts = static_cast<int>(devices.size());
  const coherence::DistributionPtr even =
      coherence::Distribution::grid(whole, {rows}, std::move(numbers));
  std::vector<OwnedCells> bands;
  bands.reserve(static_cast<std::size_t>(even->partCount()));
  for (int part = 0; part < even->partCount(); ++part)
    bands.push_back(
        {devices[static_cast<std::size_t>(even->spaceOf(part)) - 1], even->coreBoxOf(part)});
  return bands;
}

std::vector<OwnedCells> ownersOf(const RootState& state, const Box& cells) {
  std::vector<OwnedCells> owners;
  Region left = cells;
  const auto take = [&](DeviceState& device, const Region& owned) {
    for (const Box& box : owned) owners.push_back({&device, box});
    left.subtract(owned);
  };
  if (const coherence::Distribution* active = state.known->active().get())
    for (int part = 0; part < active->partCount(); ++part)
      take(memoryOf(active->spaceOf(part)).device, intersectionOf(active->coreOf(part), left));
  if (left.empty()) return owners;
  for (const OwnedCells& band : bandsOf(state.root, state.wholeBox()))
    take(*band.device, intersectionOf(Region(band.cells), left));
  return owners;
}

coherence::OperationPtr operationOf(const std::vector<OwnedCells>& owners, bool forWriting) {
  coherence::LocalAccess access;
  access.writes = forWriting;
  for (const OwnedCells& owned : owners)
    access.parts.push_back({findDeviceMemory(*owned.device)->space, owned.cells});
  return coherence::operation(std::move(access));
}

// A local access on its way, on several ranks.
class Opening {
 public:
  Opening(Lock& lock, RootState& state, const Box& cells, bool forWriting)
      : lock_(lock),
        state_(state),
        cells_(cells),
        writes_(forWriting),
        owners_(ownersOf(state, cells)),
        execution_(lock, operationOf(owners_, forWriting), roots_) {}

  std::vector<OwnedCells> run() {
    state_.materialiseHost();
    onHosts_ = state_.copiesOf(kHosts).current;
    for (SpaceId space = 1; space < state_.known->spaceCount(); ++space)
      if (!isElsewhere(space)) before_.push_back({space, state_.copiesOf(space).current});
    execution_.prepare(
        [&](const coherence::Step&, std::vector<Place>& places) { addPlaces(places); });
    for (const OwnedCells& owned : owners_)
      if (owned.device->isLocal()) fetch(owned);
    for (const OwnedCells& owned : owners_)
      if (owned.device->isLocal()) waitOnHost(lock_, state_, owned.cells, writes_);
    execution_.finish();
    if (writes_) finishWriting();
    std::erase_if(owners_, [](const OwnedCells& owned) { return !owned.device->isLocal(); });
    return std::move(owners_);
  }

 private:
  static SpaceId spaceOf(const OwnedCells& owned) { return findDeviceMemory(*owned.device)->space; }

  // Cells that the device gets later need a place now, while failing is still allowed.
  void addPlaces(std::vector<Place>& places) const {
    const coherence::Distribution* active = state_.known->active().get();
    for (const OwnedCells& owned : owners_) {
      if (!owned.device->isLocal() || (!writes_ && onHosts_.contains(owned.cells))) continue;
      const SpaceId space = spaceOf(owned);
      const int part = active != nullptr ? active->partOn(space, owned.cells) : -1;
      places.push_back({0, &memoryOf(space), part < 0 ? owned.cells : active->fullOf(part), true,
                        part < 0 ? Fit::Loose : Fit::Part});
    }
  }

  // The cells that the device has and the host has not.
  Region wanted(const OwnedCells& owned) const {
    const SpaceId space = spaceOf(owned);
    Region held;
    for (const auto& [known, cells] : before_)
      if (known == space) held = cells;
    for (const coherence::Transfer transfer : execution_.step().transfers)
      if (transfer.to == space) held.add(transfer.target);
    return held.intersect(owned.cells).subtract(onHosts_);
  }

  void fetch(const OwnedCells& owned) {
    Replica* const replica = execution_.replicaOf(0, spaceOf(owned));
    for (const Box& box : wanted(owned)) {
      show(lock_, *replica, box, Value::OfArray);
      const End from{&state_, replica, box}, to{&state_, nullptr, box};
      while (transfer(lock_, from, to) == Moved::Blocked) {
      }
    }
  }

  void finishWriting() {
    state_.closeHostViews(cells_);
    for (const OwnedCells& owned : owners_)
      if (owned.device->isLocal()) noteLocalWrite(state_, spaceOf(owned), owned.cells);
  }

  Lock& lock_;
  RootState& state_;
  RootState* roots_[1] = {&state_};
  Box cells_;
  bool writes_;
  std::vector<OwnedCells> owners_;
  Region onHosts_;
  std::vector<std::pair<SpaceId, Region>> before_;  // of own devices
  Execution execution_;
};

std::vector<OwnedCells> openOnRanks(View& view, bool forWriting) {
  DeviceState& usual = runtime::Runtime::get().defaultDevice();
  Lock lock(coherenceMutex());
  deviceMemory(lock, usual);
  RootState& state = view.root().state();
  RootState* const roots[] = {&state};
  Hold hold;
  hold.take(lock, roots);
  sendLocalWrites(lock, state);
  return Opening(lock, state, view.box(), forWriting).run();
}

}  // namespace

std::vector<OwnedCells> ownersOf(View& view) {
  runtime::Runtime::get().defaultDevice();
  const Lock lock(coherenceMutex());
  return ownersOf(view.root().state(), view.box());
}

std::vector<OwnedCells> openLocally(View& view, bool forWriting) {
  requireReachable(view.root());
  if (!runtime::hasRanks() || view.root().isRankLocal()) {
    if (forWriting) {
      view.openForWriting();
    } else {
      view.openForReading();
    }
    return ownersOf(view);
  }
  OperationName name;
  name.what = fmt::format("local {} of {}", forWriting ? "write" : "read", view.root().describe());
  addView(name, view);
  name.add(forWriting ? 1U : 0U);
  enterOperation(name);
  std::vector<OwnedCells> own;
  withRanks(Party::AllRanks, [&] { own = openOnRanks(view, forWriting); });
  return own;
}

}  // namespace hpl::memory
