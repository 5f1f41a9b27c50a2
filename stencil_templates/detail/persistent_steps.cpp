// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/persistent_steps.h"

#include <algorithm>

#include "hpl/geometry/splits.h"
#include "hpl/runtime/device_state.h"
#include "hpl/strategies/persistent.h"
#include "stencil_templates/detail/program_cells.h"
#include "stencil_templates/detail/spinning.h"
#include "stencil_templates/detail/stencil_state.h"
#include "stencil_templates/detail/time_choice.h"

namespace hpl::stencils {
namespace {

/// Flags are ints.
constexpr int kMostRaised = 1 << 30;

/// The devices side by side along the slowest dimension, in the order of their list.
launch::LaunchOptions optionsFor(const launch::LaunchOptions& options,
                                 const std::vector<Device>& devices, int dims) {
  launch::LaunchOptions own = options;
  if (devices.size() < 2) return own;
  own.shares = std::make_shared<launch::ShareOptions>(*options.shares);
  own.shares->devices.clear();
  for (const Device& device : devices) own.shares->devices.push_back(&device.state());
  own.shares->areListed = true;
  own.shares->runAtOnce = true;
  Domain& blocks = own.shares->blocks;
  blocks.dims = dims;
  std::fill(blocks.size, blocks.size + dims, 1);
  blocks.size[dims - 1] = devices.size();
  return own;
}

/// Drivers compile kernels to the end when they are launched. None of several may wait for one that
/// is being compiled, so that the first launch does no steps.
bool isFirst(PersistentSpaces::Space& space, const TimeKernel& kernel,
             const std::vector<launch::Argument>& arrays) {
  constexpr std::size_t kMostKnown = 64;
  if (space.flags.devices() < 2) return false;
  std::vector<const void*> kind{&kernel};
  for (const launch::Argument& array : arrays) kind.push_back(array.view);
  if (space.ready.size() >= kMostKnown) space.ready.clear();
  return space.ready.insert(std::move(kind)).second;
}

/// Whether a group has given up, once all have ended.
bool hasAnyGivenUp(const PeerArray& flags, int raised) {
  bool gaveUp = false;
  for (std::size_t d = 0; d < flags.devices(); ++d)
    gaveUp = flags.valueAfter(d, 0) == raised || gaveUp;
  return gaveUp;
}

}  // namespace

std::vector<std::int64_t> bandsOf(std::int64_t rows, std::size_t devices) {
  std::vector<std::int64_t> bands;
  for (const geometry::Interval& band : geometry::splitEven(rows, static_cast<int>(devices)))
    bands.push_back(band.length());
  return bands;
}

std::array<std::int64_t, 3> groupsOf(const TimeTile& tile,
                                     const std::array<std::int64_t, 3>& extents) {
  std::array<std::int64_t, 3> groups{1, 1, 1};
  for (std::size_t d = 0; d < 3; ++d)
    if (tile.cells[d] > 0) groups[d] = (extents[d] + tile.cells[d] - 1) / tile.cells[d];
  if (tile.groups > 0) groups[0] = tile.groups;
  return groups;
}

std::int64_t groupCount(const TimeTile& tile, const std::array<std::int64_t, 3>& extents) {
  const std::array<std::int64_t, 3> groups = groupsOf(tile, extents);
  return groups[0] * groups[1] * groups[2];
}

std::int64_t mostSteps(const std::array<std::int64_t, 3>& extents) {
  constexpr std::int64_t kMostUpdates = std::int64_t{1} << 31;
  constexpr std::int64_t kMost = 1 << 20;
  const std::int64_t cells = extents[0] * extents[1] * extents[2];
  return std::clamp<std::int64_t>(kMostUpdates / std::max<std::int64_t>(1, cells), 1, kMost);
}

std::shared_ptr<PersistentSpaces::Space> PersistentSpaces::find(
    const std::vector<Device>& devices, const TimeTile& tile,
    const std::vector<launch::Argument>& between) {
  // Stencils that come with more shapes than this do not repeat them.
  constexpr std::size_t kMostSpaces = 8;
  const geometry::Extents& shape = between.front().view->extents;
  std::vector<std::uint64_t> serials;
  for (const Device& device : devices) serials.push_back(device.state().serial());
  const Key key{std::move(serials), tile, std::vector<std::int64_t>(shape.begin(), shape.end())};
  const std::lock_guard lock(mutex_);
  const auto known = spaces_.find(key);
  if (known != spaces_.end() && known->second->raised < kMostRaised) return known->second;
  if (spaces_.size() >= kMostSpaces) spaces_.clear();
  const std::array<std::int64_t, 3> grid = gridOf(shape);
  auto space =
      std::make_shared<Space>(devices.size(), strategies::flagsFor(groupCount(tile, grid)));
  geometry::Extents both{2};
  for (const geometry::Index extent : shape) both.append(extent);
  for (const launch::Argument& like : between)
    space->between.push_back(
        std::make_unique<PeerArray>(devices.size(), like.view->root(), both));
  std::int64_t first = 0;
  for (const std::int64_t rows : bandsOf(grid[0], devices.size())) {
    space->firstGroups.push_back(static_cast<int>(first));
    first += (rows + tile.cells[0] - 1) / tile.cells[0];
  }
  return spaces_[key] = std::move(space);
}

void PersistentSpaces::clear() {
  const std::lock_guard lock(mutex_);
  spaces_.clear();
}

Persisted persist(const TimeKernel& kernel, PersistentSpaces& spaces,
                  const launch::LaunchOptions& options, const PersistentArguments& arguments,
                  std::int64_t steps) {
  const std::vector<Device> devices = devicesOf(options);
  const TimeTile& tile = kernel.recipe.tile();
  const auto space = spaces.find(devices, tile, arguments.between);
  const std::unique_lock mine(space->busy, std::try_to_lock);
  if (!mine.owns_lock()) return Persisted::Busy;
  const geometry::Extents& shape = arguments.between.front().view->extents;
  const std::int64_t groups = groupCount(tile, gridOf(shape));
  const std::optional<SpinLease> lease =
      SpinLease::take(devices, groups / static_cast<std::int64_t>(devices.size()));
  if (!lease) return Persisted::Busy;
  std::vector<launch::Argument> list = arguments.arrays;
  for (const auto& between : space->between) list.push_back(between->argument());
  list.push_back(space->flags.argument());
  const int patience = patienceOn(devices.front());
  const int raised = space->raised;
  const int count = static_cast<int>(steps);
  list.push_back(launch::makeArgument(patience));
  list.push_back(launch::makeArgument(raised));
  list.push_back(devices.size() == 1 ? launch::makeArgument(space->firstGroups.front())
                                     : launch::makeArgument(space->firstGroups));
  const std::size_t number = list.size();
  list.push_back(launch::makeArgument(count));
  list.insert(list.end(), arguments.scalars.begin(), arguments.scalars.end());
  const launch::LaunchOptions own = optionsFor(options, devices, shape.rank());
  if (isFirst(*space, kernel, arguments.arrays)) {
    const int none = 0;
    list[number] = launch::makeArgument(none);
    launch::launch(kernel.entry, own, list);
    hasAnyGivenUp(space->flags, raised);
    list[number] = launch::makeArgument(count);
  }
  space->raised += static_cast<int>(strategies::flagsRaised(steps, tile.depth));
  launch::launch(kernel.entry, own, list);
  return hasAnyGivenUp(space->flags, raised) ? Persisted::GaveUp : Persisted::Done;
}

}  // namespace hpl::stencils
