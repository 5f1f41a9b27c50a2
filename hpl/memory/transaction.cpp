// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/transaction.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "hpl/error.h"
#include "hpl/geometry/layout.h"
#include "hpl/memory/detail/launch_records.h"
#include "hpl/memory/detail/shelf.h"
#include "hpl/runtime/fork.h"
#include "hpl/runtime/log.h"
#include "hpl/runtime/settings.h"
#include "hpl/trace/timeline.h"

namespace hpl::memory::detail {

using coherence::Step;

namespace {

// Where the view's first cell is, or would be, in memory that holds `enclosing`.
std::size_t offsetOf(const Box& enclosing, const Box& view) {
  const geometry::Extents strides = geometry::rowMajorStrides(enclosing.extents());
  geometry::Index offset = 0;
  for (int d = 0; d < view.rank(); ++d) offset += (view.lo(d) - enclosing.lo(d)) * strides[d];
  return static_cast<std::size_t>(offset);
}

bool isExchange(const Step& step) {
  return std::any_of(step.exchanged.begin(), step.exchanged.end(), [](char e) { return e != 0; });
}

bool needsContents(const DeviceUse& use) { return use.read || (use.write && !use.overwrites); }

}  // namespace

Transaction::Transaction() : lock_(takeLock()) {}

Transaction::~Transaction() = default;

std::unique_lock<std::mutex> Transaction::takeLock() {
  runtime::requireOwnProcess();
  return std::unique_lock(coherenceMutex());
}

// ---- before the kernels ----------------------------------------------------------------------

bool Transaction::prepareAll(std::span<DeviceLaunch> launches, LaunchRecords& records) {
  execution_.reset();
  hold_.release();
  known_.reset();
  used_.clear();
  records_ = &records;
  records.describe(lock_, launches);
  if (records.waits_.size() != launches.size()) {
    records.waits_.resize(launches.size());
    for (Waits& waits : records.waits_) waits.reserve();
    for (DeviceLaunch& launch : launches) launch.waits.reserve(Waits::kUsual);
  }
  bool moved = true;
  if (repeat(launches, records, moved)) return moved;
  prepareAnew(launches, records);
  return true;
}

// Nothing has to be found out: the roots are as these launches found them before.
bool Transaction::repeat(std::span<DeviceLaunch> launches, LaunchRecords& records, bool& moved) {
  const RecordingPtr known = records.recordings_.find();
  if (known == nullptr || !hold_.tryTake(known->roots)) return false;
  std::size_t done = 0;
  try {
    std::optional<trace::ExchangeScope> scope;
    if (isExchange(*known->step)) scope.emplace();
    records.recordings_.replay(lock_, *known, done);
    known_ = known;
    collectWaits(launches);
  } catch (const Error&) {
    known_.reset();
    noteArrivals(known->roots, std::span<const Move>(known->moves).first(done));
    throw;
  }
  moved = records.placed_ != known;
  if (!moved) return true;
  auto placement = known->placements.begin();
  for (DeviceLaunch& launch : launches)
    for (Placement& own : launch.placements) own = *placement++;
  // Until all of them have been used, it is unknown which hold.
  records.placed_.reset();
  return true;
}

namespace {

// Shows a kernel the values that it is to see. Cells that become the device's own by this launch
// have the part's values already.
void showTo(Lock& lock, Replica& replica, const Box& cells, bool seesPart,
            const std::vector<coherence::ExplicitParts::Promotion>& promoted) {
  if (seesPart) return show(lock, replica, cells, Value::OfPart);
  Region ofArray(cells);
  for (const auto& promotion : promoted)
    if (promotion.device == replica.space()) ofArray.subtract(promotion.cells);
  for (const Box& box : ofArray) show(lock, replica, box, Value::OfArray);
}

}  // namespace

void Transaction::prepareAnew(std::span<DeviceLaunch> launches, LaunchRecords& records) {
  records.placed_.reset();
  execution_ = std::make_unique<Execution>(lock_, records.operation_, records.roots_);
  const PlacesOf places = [&](const Step& step, std::vector<Place>& needed) {
    records.addPlaces(launches, step, needed);
  };
  if (agreesFirst_) execution_->agreeFirst();
  const Step* step = nullptr;
  do {
    step = &execution_->plan();
    std::optional<trace::ExchangeScope> scope;
    if (isExchange(*step)) scope.emplace();
    if (execution_->tryPrepare(places)) break;
  } while (true);
  std::size_t next = 0;
  for (DeviceLaunch& launch : launches) {
    for (const DeviceUse& use : launch.uses) {
      const LaunchRecords::UseOf& known = records.uses_[next++];
      Replica* replica = used_.emplace_back(records.replicaFor(known, *step));
      if (replica == nullptr || replica->zeroCopy || !needsContents(use)) continue;
      showTo(lock_, *replica, use.cells(), step->seesPart[known.use] != 0,
             step->promoted[known.operand]);
    }
  }
  collectWaits(launches);
  place(launches);
}

void Transaction::place(std::span<DeviceLaunch> launches) {
  auto replica = used_.begin();
  for (DeviceLaunch& launch : launches) {
    for (std::size_t i = 0; i < launch.uses.size(); ++i, ++replica) {
      if (*replica == nullptr) continue;
      Placement& placement = launch.placements[i];
      placement.buffer = (*replica)->buffer();
      placement.offset = offsetOf((*replica)->box, launch.uses[i].view->box());
      placement.strides = geometry::rowMajorStrides((*replica)->box.extents());
      placement.box = (*replica)->box;
    }
  }
}

void Transaction::collectWaits(std::span<DeviceLaunch> launches) {
  const Forget forget = known_ != nullptr ? Forget::IfMany : Forget::Always;
  Replica* const* used = known_ != nullptr ? known_->used.data() : used_.data();
  for (std::size_t i = 0; i < launches.size(); ++i) {
    DeviceLaunch& launch = launches[i];
    if (!launch.device->isLocal()) {
      used += launch.uses.size();
      continue;
    }
    Waits& waits = records_->waits_[i];
    Queue& compute = findDeviceMemory(*launch.device)->compute;
    for (;;) {
      waits.clear();
      const RootState* waited = nullptr;
      for (std::size_t u = 0; u < launch.uses.size(); ++u) {
        const DeviceUse& use = launch.uses[u];
        RootState& state = use.view->root().state();
        collectConflicts(state, used[u]->storage(), use.cells(), use.write, {&compute}, waits,
                         forget);
        if (waits.mustBlock() && waited == nullptr) waited = &state;
      }
      if (waited == nullptr) break;
      blockOn(lock_, waits.host, waited->root);
    }
    used += launch.uses.size();
    waits.relayTo(*launch.device);
    launch.waits.swap(waits.events);
  }
}

void Transaction::prepare(DeviceState& device, std::span<const DeviceUse> uses,
                          std::span<Placement> placements, WaitList& waits) {
  single_ = {&device, uses, placements, {}, {}, {}, true};
  singleRecords_ = makeLaunchRecords();
  prepareAll({&single_, 1}, *singleRecords_);
  waits.insert(waits.end(), single_.waits.begin(), single_.waits.end());
}

// ---- HPL_CHECK=ghosts ------------------------------------------------------------------------

namespace {

// To those who look for wrong ghosts: the library has another opinion of how a program divides its
// array than it had before.
void sayChanges(const RootState& state, const std::vector<coherence::ExplicitParts::Change>& all) {
  for (const coherence::ExplicitParts::Change& change : all) {
    const std::string why = change.now.rank() > 0
                                ? fmt::format("the device writes {} instead", change.now.toString())
                                : std::string("the array is cut without it");
    runtime::log::warn(
        fmt::format("HPL_CHECK=ghosts: view {} of {} is no part of device \"{}\" any more: {}",
                    change.before.toString(), state.root.describe(),
                    memoryOf(change.device).device.name(), why));
  }
}

// Each launch that writes a part takes its ghosts one launch further from their last exchange, or
// those of the part that it reads.
void countLaunches(std::span<const DeviceLaunch> launches, Replica* const* used) {
  for (const DeviceLaunch& launch : launches) {
    int before = 0;
    for (std::size_t u = 0; u < launch.uses.size(); ++u)
      if (used[u] != nullptr && launch.uses[u].read && launch.uses[u].facts != nullptr)
        before = std::max(before, used[u]->launchesSinceRefresh);
    for (std::size_t u = 0; u < launch.uses.size(); ++u)
      if (used[u] != nullptr && launch.uses[u].write && launch.uses[u].facts != nullptr)
        used[u]->launchesSinceRefresh = before + 1;
    used += launch.uses.size();
  }
}

[[noreturn]] void throwStale(const RootState& state, const coherence::Use& use,
                             const coherence::StaleGhosts& stale, const std::string& kernel) {
  const SpaceId space =
      use.distribution != nullptr ? use.distribution->spaceOf(stale.part) : use.device;
  const Replica* replica = state.findIn(space);
  const int launches = replica != nullptr ? replica->launchesSinceRefresh : 0;
  const std::string cells = stale.cells.boundingBox().toString();
  throw StaleGhostError(
      fmt::format("kernel '{}' would compute core cells of part {} (device {}) from ghost cells {} "
                  "of {} that are out of date: {} launch{} wrote the part since its ghosts were "
                  "last brought up to date; call syncGhosts() before, annotate the array with "
                  "AUTO_SYNC, or give it wider ghosts",
                  kernel, stale.part, memoryOf(space).device.name(), cells, state.root.describe(),
                  launches, launches == 1 ? "" : "es"),
      state.root.label(), stale.part, cells, launches);
}

}  // namespace

void Transaction::requireFreshGhosts(std::span<DeviceLaunch> launches, LaunchRecords& records,
                                     const std::string& kernel) {
  records.describe(lock_, launches);
  Hold hold;
  hold.take(lock_, records.roots_);
  std::vector<StatePtr> states;
  for (const RootState* root : records.roots_) states.push_back(root->known);
  const auto stale = planner().staleGhosts(*records.operation_, states);
  if (stale.empty()) return;
  const auto& all = std::get<coherence::Launch>(records.operation_->kind());
  const coherence::Use& use = all.uses[static_cast<std::size_t>(stale.front().use)];
  throwStale(*records.roots_[static_cast<std::size_t>(use.operand)], use, stale.front(), kernel);
}

// ---- after the kernels -----------------------------------------------------------------------

void Transaction::noteUses(std::span<DeviceLaunch> launches) {
  Replica* const* used = known_ != nullptr ? known_->used.data() : used_.data();
  const bool checks = runtime::settings().checkGhosts;
  if (checks) countLaunches(launches, used);
  bool haveMoved = false;
  for (DeviceLaunch& launch : launches) {
    const bool isHere = launch.device->isLocal();
    const Stamp stamp = isHere ? record(*launch.device, std::move(launch.event)) : 0;
    for (std::size_t i = 0; i < launch.uses.size(); ++i) {
      const DeviceUse& use = launch.uses[i];
      Replica* replica = *used++;
      RootState& state = use.view->root().state();
      const Box& cells = use.cells();
      if (isHere) haveMoved = noteUse(launch, i, *replica, stamp) || haveMoved;
      if (use.write) {
        state.closeHostViews(cells);
      } else {
        state.forbidHostWrites(cells);
      }
    }
  }
  if (launches.size() > 1)
    for (const DeviceLaunch& launch : launches)
      for (const DeviceUse& use : launch.uses) use.view->root().state().noteSeveralAliasUsers();
  if (haveMoved) findSlots(launches);
}

// True: the use is not where the last one of its launch was.
bool Transaction::noteUse(DeviceLaunch& launch, std::size_t i, Replica& replica, Stamp stamp) {
  const DeviceUse& use = launch.uses[i];
  const bool isWhereItWas =
      known_ != nullptr && i < launch.tickets.size() && launch.tickets[i].replica == &replica;
  if (isWhereItWas) {
    launch.tickets[i].slot->stamp = stamp;
  } else {
    slotFor(replica, use.cells(), use.write).stamp = stamp;
  }
  if (replica.zeroCopy) {
    use.view->root().state().noteAliasUser(*launch.device);
  } else if (use.write) {
    forgetShelved(replica, use.cells());
  }
  return !isWhereItWas;
}

// Only when all uses have been noted are the slots final: several may concern one root.
void Transaction::findSlots(std::span<DeviceLaunch> launches) {
  Replica* const* used = known_ != nullptr ? known_->used.data() : used_.data();
  for (DeviceLaunch& launch : launches) {
    for (std::size_t i = 0; i < launch.uses.size(); ++i, ++used) {
      if (launch.tickets.empty() || *used == nullptr) continue;
      const DeviceUse& use = launch.uses[i];
      launch.tickets[i].replica = *used;
      launch.tickets[i].slot = &slotFor(**used, use.cells(), use.write);
    }
  }
}

// Whether another launch like this would find everything as this one leaves it.
bool Transaction::wouldChangeNothing(const Step& step) const {
  try {
    const coherence::StepPtr again = planner().plan(records_->operation_, step.after);
    return again->transfers.empty() && again->after == step.after && !isExchange(*again);
  } catch (const Error&) {
    return false;  // that launch will tell
  }
}

void Transaction::commitAll(std::span<DeviceLaunch> launches) {
  LaunchRecords& records = *records_;
  noteUses(launches);
  if (known_ != nullptr) {
    records.placed_ = known_;
    adopt(known_->roots, *records.operation_, known_->step);
    dateTickets(launches, known_->rests);
  } else {
    execution_->finish();
    const Step& step = execution_->step();
    if (runtime::settings().checkGhosts && runtime::log::shows(runtime::LogLevel::Warn))
      for (std::size_t i = 0; i < step.changes.size(); ++i)
        sayChanges(execution_->root(i), step.changes[i]);
    Recording recording;
    const bool isRecorded = execution_->record(recording);
    const bool rests = recording.rests = !records.areEntangled_ && wouldChangeNothing(step);
    if (isRecorded) {
      recording.used = used_;
      for (const DeviceLaunch& launch : launches)
        recording.placements.insert(recording.placements.end(), launch.placements.begin(),
                                    launch.placements.end());
      records.placed_ = records.recordings_.learn(std::move(recording));
    }
    dateTickets(launches, rests);
  }
  execution_.reset();
  hold_.release();
  known_.reset();
}

void Transaction::dateTickets(std::span<DeviceLaunch> launches, bool rests) {
  constexpr std::uint64_t kNoEpoch = ~std::uint64_t{0};
  rests = rests && operationsAreReplayed();
  for (DeviceLaunch& launch : launches)
    for (std::size_t i = 0; i < launch.tickets.size(); ++i)
      launch.tickets[i].epoch = rests ? launch.uses[i].view->root().epoch() : kNoEpoch;
}

std::string Transaction::abandonAll(std::span<DeviceLaunch> launches, const std::string& why) {
  // Cells that had to be moved for the launches are where these wanted them.
  const bool isPrepared = execution_ != nullptr || known_ != nullptr;
  if (known_ != nullptr) noteArrivals(known_->roots, known_->moves);
  if (execution_ != nullptr) execution_->giveUp();
  Replica* const* used = known_ != nullptr ? known_->used.data() : used_.data();
  std::string lost;
  for (DeviceLaunch& launch : launches) {
    const bool isHere = launch.device->isLocal();
    const Stamp stamp = isPrepared && launch.launched && isHere
                            ? record(*launch.device, std::move(launch.event))
                            : 0;
    for (std::size_t u = 0; u < launch.uses.size(); ++u) {
      const DeviceUse& use = launch.uses[u];
      Replica* known = isPrepared ? *used++ : launch.tickets[u].replica;
      if (!launch.launched || !isHere) continue;
      Replica& replica = *known;
      RootState& state = use.view->root().state();
      // Later uses of the cells wait for the kernel, as ever.
      if (isPrepared) slotFor(replica, use.cells(), use.write).stamp = stamp;
      if (replica.zeroCopy) state.noteAliasUser(*launch.device);
      if (!use.write) {
        state.forbidHostWrites(use.cells());
        continue;
      }
      state.closeHostViews(use.cells());
      const Region gone = state.spoil(replica.space(), use.cells(), why);
      if (gone.empty()) continue;
      lost += fmt::format("{}{} of {}", lost.empty() ? "" : ", ", gone.boundingBox().toString(),
                          state.root.describe());
    }
  }
  return lost;
}

void Transaction::flush(DeviceState& device) {
  if (device.isLocal()) findDeviceMemory(device)->compute.flush();
}

void Transaction::commit(cl::Event event, std::span<Ticket> tickets) {
  single_.event = std::move(event);
  single_.tickets = tickets;
  commitAll({&single_, 1});
}

bool Transaction::wantsEvent(DeviceState& device) {
  return findDeviceMemory(device)->compute.wantsEvent();
}

Stamp Transaction::record(DeviceState& device, cl::Event event) {
  return findDeviceMemory(device)->compute.record(std::move(event));
}

coherence::SpaceId spaceOf(DeviceState& device) {
  Lock lock(coherenceMutex());
  return deviceMemory(lock, device).space;
}

}  // namespace hpl::memory::detail
