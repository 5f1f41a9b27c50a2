// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/launch_records.h"

#include <algorithm>
#include <set>
#include <utility>

#include "hpl/geometry/box_index.h"
#include "hpl/memory/detail/assignments.h"
#include "hpl/memory/detail/placement.h"

namespace hpl::memory::detail {

using coherence::Outcome;
using coherence::PartFacts;
using coherence::Reach;
using FactsPtr = std::shared_ptr<const PartFacts>;

LaunchRecordsPtr makeLaunchRecords() { return LaunchRecordsPtr(new LaunchRecords); }

void DeleteRecords::operator()(LaunchRecords* records) const noexcept { delete records; }

std::size_t LaunchRecords::operandOf(RootState& state) {
  const auto found = std::find(roots_.begin(), roots_.end(), &state);
  if (found != roots_.end()) return static_cast<std::size_t>(found - roots_.begin());
  roots_.push_back(&state);
  return roots_.size() - 1;
}

coherence::Use LaunchRecords::useOf(const DeviceUse& use, std::size_t operand, SpaceId device) {
  coherence::Use result;
  result.operand = static_cast<int>(operand);
  result.reads = use.read;
  result.writes = use.write;
  result.overwrites = use.overwrites;
  result.facts = use.facts;
  result.distribution = use.distribution;
  if (use.distribution != nullptr) return result;
  result.device = device;
  result.cells = use.cells().empty() ? use.view->box() : use.cells();
  result.touched = use.touched;
  result.isView = use.mayBePart;
  result.isSlice = use.box.rank() > 0;
  if (use.mayBePart) result.madeFrom = madeFrom(*use.view);
  return result;
}

namespace {

Reach wider(const Reach& a, const Reach& b) {
  Reach result = a;
  result.known = a.known && b.known;
  for (int d = 0; result.known && d < result.before.rank(); ++d) {
    result.before[d] = std::max(a.before[d], b.before[d]);
    result.after[d] = std::max(a.after[d], b.after[d]);
  }
  return result;
}

// The facts that hold on all devices of an annotated argument.
FactsPtr common(const FactsPtr& a, const FactsPtr& b) {
  if (a == nullptr || b == nullptr || *a == *b) return a == nullptr ? b : a;
  auto both = std::make_shared<PartFacts>(*a);
  both->refresh = a->refresh || b->refresh;
  both->reach = wider(a->reach, b->reach);
  both->writers = wider(a->writers, b->writers);
  if (a->dimOf != b->dimOf) both->reach.known = both->writers.known = false;
  if (!(a->outcome == b->outcome)) both->outcome = Outcome{};
  return both;
}

// One device's share of an annotated argument, besides those before.
void join(coherence::Use& use, const coherence::Use& share) {
  use.reads = use.reads || share.reads;
  use.writes = use.writes || share.writes;
  use.overwrites = use.overwrites && share.overwrites;
  use.facts = common(use.facts, share.facts);
}

}  // namespace

void LaunchRecords::describe(Lock& lock, std::span<const DeviceLaunch> launches) {
  if (operation_ != nullptr) return;
  std::vector<SpaceId> devices;
  for (const DeviceLaunch& launch : launches)
    devices.push_back(deviceMemory(lock, *launch.device).space);
  roots_.clear();
  uses_.clear();
  coherence::Launch all;
  std::vector<std::size_t> positions;           // of the uses among a kernel's
  std::vector<std::set<SpaceId>> participants;  // of the annotated ones
  for (std::size_t l = 0; l < launches.size(); ++l) {
    for (std::size_t i = 0; i < launches[l].uses.size(); ++i) {
      const DeviceUse& given = launches[l].uses[i];
      const std::size_t operand = operandOf(given.view->root().state());
      const coherence::Use use = useOf(given, operand, devices[l]);
      std::size_t number = all.uses.size();
      for (std::size_t u = 0; u < all.uses.size() && use.distribution != nullptr; ++u) {
        if (positions[u] == i && all.uses[u].operand == use.operand &&
            all.uses[u].distribution == use.distribution)
          number = u;
      }
      if (number == all.uses.size()) {
        all.uses.push_back(use);
        positions.push_back(i);
        participants.emplace_back();
      } else {
        join(all.uses[number], use);
      }
      participants[number].insert(devices[l]);
      uses_.push_back({operand, number, devices[l]});
    }
  }
  for (std::size_t u = 0; u < all.uses.size(); ++u) {
    coherence::Use& use = all.uses[u];
    // A part whose device has nothing to do is not written.
    if (use.distribution != nullptr &&
        static_cast<int>(participants[u].size()) < use.distribution->partCount())
      use.overwrites = false;
  }
  operation_ = coherence::operation(std::move(all));
  areEntangled_ =
      launches.size() > 1 && std::any_of(roots_.begin(), roots_.end(), [&](const RootState* state) {
        return areEntangled(launches, state->root);
      });
}

namespace {

bool isPlain(const DeviceUse& use) { return use.distribution == nullptr; }
bool isReadOnly(const DeviceUse& use) { return use.read && !use.write; }

// Calls f(launch, use) with what the launches do to an array, other than to annotated parts of it.
template <class F>
void forEachUse(std::span<const DeviceLaunch> launches, const Root& root, F&& f) {
  for (std::size_t l = 0; l < launches.size(); ++l)
    for (const DeviceUse& use : launches[l].uses)
      if (isPlain(use) && &use.view->root() == &root) f(l, use);
}

}  // namespace

bool LaunchRecords::areEntangled(std::span<const DeviceLaunch> launches, const Root& root) {
  bool isRead = false;
  forEachUse(launches, root,
             [&](std::size_t, const DeviceUse& use) { isRead = isRead || isReadOnly(use); });
  if (!isRead) return false;
  std::vector<Box> written;
  std::vector<std::size_t> writers;
  forEachUse(launches, root, [&](std::size_t launch, const DeviceUse& use) {
    if (!use.write) return;
    written.push_back(use.cells());
    writers.push_back(launch);
  });
  const geometry::BoxIndex index(std::move(written));
  bool found = false;
  forEachUse(launches, root, [&](std::size_t launch, const DeviceUse& use) {
    if (found || !isReadOnly(use)) return;
    index.forEachMeeting(use.cells(), [&](int number) {
      found = found || writers[static_cast<std::size_t>(number)] != launch;
    });
  });
  return found;
}

bool LaunchRecords::worksInHosts(const UseOf& use, const coherence::Step& step) const {
  return step.worksInHosts[use.use] != 0 &&
         canShareHostMemory(*roots_[use.operand], memoryOf(use.device));
}

Replica* LaunchRecords::replicaFor(const UseOf& use, const coherence::Step& step) const {
  const RootState& state = *roots_[use.operand];
  return worksInHosts(use, step) ? state.find(memoryOf(use.device).device, true)
                                 : state.findIn(use.device);
}

namespace {

Fit fitOf(const DeviceUse& use) {
  if (use.mayBePart || (use.distribution != nullptr && use.distribution->hasGhosts()))
    return Fit::Part;
  const bool isWhole = use.view == &use.view->root().whole() && use.box.rank() == 0;
  return isWhole ? Fit::Whole : Fit::Loose;
}

Fit both(Fit a, Fit b) {
  if (a == Fit::Whole || b == Fit::Whole) return Fit::Whole;
  return a == b ? a : Fit::Loose;
}

}  // namespace

// Replicas hold all that the uses of one launch need of a root.
void LaunchRecords::addPlaces(std::span<const DeviceLaunch> launches, const coherence::Step& step,
                              std::vector<Place>& places) const {
  std::size_t next = 0;
  for (const DeviceLaunch& launch : launches) {
    for (const DeviceUse& use : launch.uses) {
      const UseOf& known = uses_[next++];
      if (isElsewhere(known.device)) continue;
      DeviceMemory& memory = memoryOf(known.device);
      const bool isOwn = !worksInHosts(known, step);
      const Fit fit = fitOf(use);
      const auto same = std::find_if(places.begin(), places.end(), [&](const Place& place) {
        return place.operand == known.operand && place.memory == &memory && place.isOwn == isOwn;
      });
      if (same == places.end()) {
        places.push_back({known.operand, &memory, use.cells(), isOwn, fit});
      } else {
        same->need = hull(same->need, use.cells());
        same->fit = both(same->fit, fit);
      }
    }
  }
}

}  // namespace hpl::memory::detail
