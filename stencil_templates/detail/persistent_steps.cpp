// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/persistent_steps.h"

#include <algorithm>

#include "hpl/memory/contents.h"
#include "hpl/runtime/device_state.h"
#include "hpl/strategies/persistent.h"
#include "stencil_templates/detail/program_cells.h"
#include "stencil_templates/detail/spinning.h"
#include "stencil_templates/detail/stencil_state.h"
#include "stencil_templates/detail/time_choice.h"

namespace hpl::stencils {
std::array<std::int64_t, 3> groupsOf(const TimeTile& tile,
                                     const std::array<std::int64_t, 3>& extents) {
  std::array<std::int64_t, 3> groups{1, 1, 1};
  for (std::size_t d = 0; d < 3; ++d)
    if (tile.cells[d] > 0) groups[d] = (extents[d] + tile.cells[d] - 1) / tile.cells[d];
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
    const Device& device, const TimeTile& tile, const std::vector<launch::Argument>& between) {
  // Stencils that come with more shapes than this do not repeat them.
  constexpr std::size_t kMostSpaces = 8;
  const geometry::Extents& shape = between.front().view->extents;
  const Key key{device.state().serial(), tile,
                std::vector<std::int64_t>(shape.begin(), shape.end())};
  const std::lock_guard lock(mutex_);
  const auto known = spaces_.find(key);
  if (known != spaces_.end()) return known->second;
  std::vector<std::shared_ptr<memory::Root>> arrays;
  for (const launch::Argument& like : between)
    arrays.push_back(memory::scratchLike(like.view->root(), like.view->extents));
  const std::int64_t groups = groupCount(tile, gridOf(shape));
  if (spaces_.size() >= kMostSpaces) spaces_.clear();
  return spaces_[key] = std::make_shared<Space>(
             std::move(arrays), static_cast<std::size_t>(strategies::flagsFor(groups)));
}

void PersistentSpaces::clear() {
  const std::lock_guard lock(mutex_);
  spaces_.clear();
}

Persisted persist(const TimeKernel& kernel, PersistentSpaces& spaces,
                  const launch::LaunchOptions& options, const PersistentArguments& arguments,
                  std::int64_t steps) {
  const Device device = devicesOf(options).front();
  const TimeTile& tile = kernel.recipe.tile();
  const auto space = spaces.find(device, tile, arguments.between);
  const std::unique_lock mine(space->busy, std::try_to_lock);
  if (!mine.owns_lock()) return Persisted::Busy;
  const std::int64_t groups = groupCount(tile, gridOf(arguments.between.front().view->extents));
  const std::optional<SpinLease> lease = SpinLease::take(device, groups);
  if (!lease) return Persisted::Busy;
  space->flags = 0;
  std::vector<launch::Argument> list = arguments.arrays;
  for (std::size_t k = 0; k < arguments.between.size(); ++k) {
    list.push_back(arguments.between[k]);
    list.back().view = &space->between[k]->whole();
  }
  list.push_back(launch::makeArgument(space->flags));
  const int patience = patienceOn(device);
  const int count = static_cast<int>(steps);
  list.push_back(launch::makeArgument(patience));
  list.push_back(launch::makeArgument(count));
  list.insert(list.end(), arguments.scalars.begin(), arguments.scalars.end());
  launch::launch(kernel.entry, options, list);
  return space->flags(0) == 0 ? Persisted::Done : Persisted::GaveUp;
}

}  // namespace hpl::stencils
