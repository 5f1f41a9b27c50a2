// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/persistent_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hpl/error.h"
#include "hpl/geometry/splits.h"
#include "hpl/memory/operations.h"
#include "hpl/runtime/device_state.h"
#include "hpl/runtime/log.h"
#include "hpl/strategies/persistent.h"
#include "stencil_templates/detail/program_cells.h"
#include "stencil_templates/detail/rim_streams.h"
#include "stencil_templates/detail/spin_lease.h"
#include "stencil_templates/detail/spinning.h"
#include "stencil_templates/detail/stencil_state.h"
#include "stencil_templates/detail/time_choice.h"
#include "stencil_templates/detail/time_kernel.h"

namespace hpl::stencils {
namespace {

/// Flags are ints.
constexpr int kMostRaised = 1 << 30;

/// A launch over the grid, of which the devices have blocks, the fastest dimension first in the
/// order of their list.
launch::LaunchOptions optionsFor(const launch::LaunchOptions& options,
                                 const std::vector<Device>& devices, const Sizes& deviceGrid,
                                 const geometry::Extents& shape) {
  const int dims = shape.rank();
  launch::LaunchOptions own = options;
  own.global = domainOf(shape);
  if (devices.size() < 2) return own;
  own.shares = std::make_shared<launch::ShareOptions>(*options.shares);
  own.shares->devices.clear();
  for (const Device& device : devices) own.shares->devices.push_back(&device.state());
  own.shares->areListed = true;
  own.shares->runAtOnce = true;
  Domain& blocks = own.shares->blocks;
  blocks.dims = dims;
  for (int d = 0; d < dims; ++d)
    blocks.size[dims - 1 - d] = static_cast<std::size_t>(deviceGrid[static_cast<std::size_t>(d)]);
  return own;
}

/// Whether several devices have no kernel yet for these arrays.
bool isFirst(PersistentSpaces::Space& space, const TimeKernel& kernel,
             const std::vector<launch::Argument>& arrays) {
  constexpr std::size_t kMostKnown = 64;
  if (space.firstGroups[0].size() < 2) return false;
  std::vector<std::uint64_t> kind{kernel.number};
  for (const launch::Argument& array : arrays)
    kind.push_back(reinterpret_cast<std::uint64_t>(array.view));
  if (space.ready.size() >= kMostKnown) space.ready.clear();
  return space.ready.insert(std::move(kind)).second;
}

/// Facts that the ranks of the devices have to know of each other before one of them launches.
struct Readiness {
  bool hasLease = true;
  bool isFirst = false;
};

Readiness agreed(const Readiness& own, bool isRankLocal) {
  Readiness all = own;
  if (isRankLocal) return all;
  for (const std::vector<double>& said :
       memory::detail::tellRanks("steps of kernels that wait for each other",
                                 {own.hasLease ? 1.0 : 0.0, own.isFirst ? 1.0 : 0.0})) {
    all.hasLease = all.hasLease && said.at(0) > 0;
    all.isFirst = all.isFirst || said.at(1) > 0;
  }
  return all;
}

/// While the kernels run, what their groups store for those of other nodes goes there.
void relay(const PersistentSpaces::Space& space, const std::vector<Device>& devices, int raised) {
  if (space.streams == nullptr ||
      (space.streams->outgoing.empty() && space.streams->incoming.empty()))
    return;
  memory::PeerRelay carrier(space.streams, raised);
  for (const Device& device : devices)
    if (device.isLocal()) device.sync();
  carrier.finish();
}

/// Only on the node of the first device is known what its first group reports.
PersistentResult onAllNodes(const PersistentSpaces::Space& space,
                            const std::vector<Device>& devices, PersistentResult own) {
  if (space.streams == nullptr || space.looks == nullptr) return own;
  const auto said = memory::detail::tellRanks(
      "looks of kernels that wait for each other",
      {static_cast<double>(own.steps), own.residual, own.wasBelow ? 1.0 : 0.0});
  const std::vector<double>& first = said.at(static_cast<std::size_t>(devices.front().rank()));
  own.steps = static_cast<std::int64_t>(first.at(0));
  own.residual = first.at(1);
  own.wasBelow = first.at(2) > 0;
  return own;
}

/// Whether a group has given up, once all have ended.
bool hasAnyGivenUp(const PeerArray& flags, int raised) {
  flags.settle();
  return flags.valueAt(0) == raised;
}

}  // namespace

Sizes deviceGridOf(const launch::LaunchOptions& options, int dims) {
  Sizes grid{1, 1, 1};
  if (!isForSeveralDevices(options)) return grid;
  const Domain& blocks = options.shares->blocks;
  if (blocks.dims == 0) grid[0] = static_cast<std::int64_t>(devicesOf(options).size());
  for (int axis = 0; axis < std::min(dims, blocks.dims); ++axis)
    grid[static_cast<std::size_t>(dims - 1 - axis)] = static_cast<std::int64_t>(blocks.size[axis]);
  return grid;
}

std::vector<std::int64_t> bandsOf(std::int64_t cells, std::int64_t devices) {
  std::vector<std::int64_t> bands;
  for (const geometry::Interval& band : geometry::splitEven(cells, static_cast<int>(devices)))
    bands.push_back(band.length());
  return bands;
}

Sizes groupsOf(const TimeTile& tile, const Sizes& extents) {
  Sizes groups{1, 1, 1};
  for (std::size_t d = 0; d < 3; ++d) {
    if (tile.cells[d] > 0) groups[d] = (extents[d] + tile.cells[d] - 1) / tile.cells[d];
    if (tile.groups[d] > 0) groups[d] = tile.groups[d];
  }
  return groups;
}

std::int64_t groupCount(const TimeTile& tile, const Sizes& extents) {
  const Sizes groups = groupsOf(tile, extents);
  return groups[0] * groups[1] * groups[2];
}

std::int64_t mostSteps(const Sizes& extents) {
  constexpr std::int64_t kMostUpdates = std::int64_t{1} << 31;
  constexpr std::int64_t kMost = 1 << 20;
  const std::int64_t cells = extents[0] * extents[1] * extents[2];
  return std::clamp<std::int64_t>(kMostUpdates / std::max<std::int64_t>(1, cells), 1, kMost);
}

namespace {

/// By dimension, then by device, the number of its first group.
std::array<std::vector<int>, 3> firstGroupsOf(const Sizes& deviceGrid, const Sizes& groups) {
  std::array<std::vector<int>, 3> first;
  const std::int64_t devices = deviceGrid[0] * deviceGrid[1] * deviceGrid[2];
  for (std::int64_t device = 0; device < devices; ++device) {
    std::int64_t left = device;
    for (std::size_t d = 3; d-- > 0; left /= deviceGrid[d])
      first[d].push_back(static_cast<int>(left % deviceGrid[d] * (groups[d] / deviceGrid[d])));
  }
  return first;
}

}  // namespace

std::shared_ptr<PersistentSpaces::Space> PersistentSpaces::find(
    const Spinners& on, const Sizes& deviceGrid, const TimeRecipe& recipe,
    const std::vector<launch::Argument>& between) {
  const TimeTile& tile = recipe.tile();
  // Stencils that come with more shapes than this do not repeat them.
  constexpr std::size_t kMostSpaces = 8;
  const geometry::Extents& shape = between.front().view->extents;
  std::vector<std::uint64_t> serials;
  for (const Device& device : on.devices) serials.push_back(device.state().serial());
  const Key key{std::move(serials), on.isRankLocal, deviceGrid, tile,
                std::vector<std::int64_t>(shape.begin(), shape.end())};
  const std::lock_guard lock(mutex_);
  const auto known = spaces_.find(key);
  if (known != spaces_.end() && known->second->raised < kMostRaised) return known->second;
  if (spaces_.size() >= kMostSpaces) spaces_.clear();
  return spaces_[key] = made(on, deviceGrid, recipe, between);
}

std::shared_ptr<PersistentSpaces::Space> PersistentSpaces::made(
    const Spinners& on, const Sizes& deviceGrid, const TimeRecipe& recipe,
    const std::vector<launch::Argument>& between) {
  const TimeTile& tile = recipe.tile();
  const geometry::Extents& shape = between.front().view->extents;
  const Sizes grid = gridOf(shape);
  auto space = std::make_shared<Space>(on, strategies::flagsFor(groupCount(tile, grid)));
  geometry::Extents both{2};
  for (const geometry::Index extent : shape) both.append(extent);
  for (const launch::Argument& like : between)
    space->between.push_back(std::make_unique<PeerArray>(on, like.view->root(), both));
  if (tile.looks) {
    const ir::Type type = residualTypeOf(between.front().type);
    // Ordinary arrays; of the first one each device has its band.
    const Spinners first({on.front()}, on.isRankLocal);
    geometry::Extents one;
    for (int d = 0; d < shape.rank(); ++d) one.append(1);
    space->old = std::make_unique<PeerArray>(first, between.front().view->root(), shape);
    space->residuals = std::make_unique<PeerArray>(first, type, one);
    space->looks = std::make_unique<PeerArray>(
        on, type, geometry::Extents{strategies::lookValuesFor(groupCount(tile, grid))});
  }
  const Sizes groups = groupsOf(tile, grid);
  space->firstGroups = firstGroupsOf(deviceGrid, groups);
  if (spanNodes(on))
    space->streams = std::make_shared<memory::PeerStreams>(rimStreamsOf(
        {on, recipe, deviceGrid, grid, groups, space->flags, space->between, space->looks.get()}));
  return space;
}

void PersistentSpaces::clear() {
  const std::lock_guard lock(mutex_);
  spaces_.clear();
}

namespace {

/// The arguments of a launch; what they are made of lives as long as this.
class ArgumentList {
 public:
  ArgumentList(const PersistentSpaces::Space& space, const PersistentArguments& arguments,
               const PersistentLooks& looks, int dims, int patience, std::int64_t steps)
      : patience_(patience),
        raised_(space.raised),
        every_(static_cast<int>(looks.every)),
        steps_(static_cast<int>(steps)),
        bound_(looks.bound),
        floatBound_(floatAbove(looks.bound)) {
    list_ = arguments.arrays;
    for (const auto& between : space.between) list_.push_back(between->argument());
    list_.push_back(space.flags.argument());
    list_.push_back(launch::makeArgument(patience_));
    list_.push_back(launch::makeArgument(raised_));
    for (int d = 0; d < dims; ++d) {
      const std::vector<int>& first = space.firstGroups[static_cast<std::size_t>(d)];
      list_.push_back(first.size() == 1 ? launch::makeArgument(first.front())
                                        : launch::makeArgument(first));
    }
    if (space.looks != nullptr) {
      for (const auto* array : {&space.old, &space.residuals, &space.looks})
        list_.push_back((*array)->argument());
      list_.push_back(launch::makeArgument(every_));
      list_.push_back(space.looks->type() == irType<double>() ? launch::makeArgument(bound_)
                                                              : launch::makeArgument(floatBound_));
    }
    stepsAt_ = list_.size();
    list_.push_back(launch::makeArgument(steps_));
    list_.insert(list_.end(), arguments.scalars.begin(), arguments.scalars.end());
  }
  ArgumentList(const ArgumentList&) = delete;
  ArgumentList& operator=(const ArgumentList&) = delete;

  const std::vector<launch::Argument>& list() const { return list_; }
  /// The same for a launch that does nothing.
  std::vector<launch::Argument> withoutSteps() const {
    std::vector<launch::Argument> none = list_;
    none[stepsAt_] = launch::makeArgument(kNone);
    return none;
  }

 private:
  static constexpr int kNone = 0;

  /// A float is below it if it is below the bound.
  static float floatAbove(double bound) {
    const auto near = static_cast<float>(bound);
    return near < bound ? std::nextafter(near, std::numeric_limits<float>::infinity()) : near;
  }

  int patience_;
  int raised_;
  int every_;
  int steps_;
  double bound_;
  float floatBound_;
  std::size_t stepsAt_ = 0;
  std::vector<launch::Argument> list_;
};

/// The largest residual that the groups have found at a look; a NaN stays.
template <class R>
double largestAt(const PeerArray& looks, std::int64_t look, std::int64_t groups) {
  const std::span<const R> values = looks.values<R>();
  double most = 0;
  for (std::int64_t group = 0; group < groups; ++group) {
    const auto at = static_cast<std::size_t>(strategies::lookValueAt(look, group, groups));
    const auto value = static_cast<double>(values[at]);
    if (!(value <= most) && !std::isnan(most)) most = value;
  }
  return most;
}

PersistentResult resultOf(const PersistentSpaces::Space& space, std::int64_t groups,
                          std::int64_t steps, const PersistentLooks& looks) {
  PersistentResult result{Persisted::Done, steps};
  if (space.looks == nullptr) return result;
  result.steps = space.flags.valueAt(strategies::stepsDoneAt(groups));
  result.wasBelow = space.flags.valueAt(strategies::wasBelowAt(groups)) != 0;
  // On another node than the first group's, no result has arrived.
  if (result.steps == 0) return result;
  const std::int64_t last = (result.steps + looks.every - 1) / looks.every - 1;
  result.residual = space.looks->type() == irType<double>()
                        ? largestAt<double>(*space.looks, last, groups)
                        : largestAt<float>(*space.looks, last, groups);
  return result;
}

}  // namespace

namespace {

/// Null: there is no memory for what the groups would exchange cells through.
std::shared_ptr<PersistentSpaces::Space> spaceFor(PersistentSpaces& spaces, const Spinners& on,
                                                  const Sizes& deviceGrid, const TimeRecipe& recipe,
                                                  const std::vector<launch::Argument>& between) {
  try {
    return spaces.find(on, deviceGrid, recipe, between);
  } catch (const AllocationError& error) {
    runtime::log::info(fmt::format("steps are launches: {}", error.what()));
    return nullptr;
  }
}

}  // namespace

PersistentResult persist(const TimeKernel& kernel, PersistentSpaces& spaces,
                         const launch::LaunchOptions& options, const PersistentArguments& arguments,
                         std::int64_t steps, const PersistentLooks& looks) {
  const memory::View& like = *arguments.between.front().view;
  const Spinners on(devicesOf(options), like.root().isRankLocal());
  const std::vector<Device>& devices = on.devices;
  const TimeTile& tile = kernel.recipe.tile();
  const geometry::Extents& shape = like.extents;
  const Sizes deviceGrid = deviceGridOf(options, shape.rank());
  const auto space = spaceFor(spaces, on, deviceGrid, kernel.recipe, arguments.between);
  if (space == nullptr) return {Persisted::Busy};
  const std::unique_lock mine(space->busy, std::try_to_lock);
  if (!mine.owns_lock()) return {Persisted::Busy};
  const std::int64_t groups = groupCount(tile, gridOf(shape));
  const std::optional<SpinLease> lease =
      SpinLease::take(devices, groups / static_cast<std::int64_t>(devices.size()));
  const Readiness ready =
      agreed({lease.has_value(), isFirst(*space, kernel, arguments.arrays)}, on.isRankLocal);
  if (!ready.hasLease) return {Persisted::Busy};
  // None of several is to wait for one that has other work to do first.
  if (devices.size() > 1)
    for (const Device& device : devices) device.sync();
  const launch::LaunchOptions own = optionsFor(options, devices, deviceGrid, shape);
  const int raised = space->raised;
  const ArgumentList list(*space, arguments, looks, shape.rank(), patienceOn(on.front()), steps);
  if (ready.isFirst) {
    // Drivers compile kernels to the end when they are launched. None of several may wait for one
    // that is being compiled, so that the first launch does no steps.
    launch::launch(kernel.entry, own, list.withoutSteps());
    space->flags.settle();
  }
  space->raised +=
      static_cast<int>(strategies::flagsRaised(steps, tile.depth, tile.looks ? looks.every : 0));
  launch::launch(kernel.entry, own, list.list());
  relay(*space, devices, raised);
  if (hasAnyGivenUp(space->flags, raised)) return {Persisted::GaveUp};
  return onAllNodes(*space, devices, resultOf(*space, groups, steps, looks));
}

}  // namespace hpl::stencils
