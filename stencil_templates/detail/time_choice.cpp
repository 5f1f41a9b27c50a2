// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/time_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "hpl/error.h"
#include "hpl/runtime/device.h"
#include "hpl/runtime/settings.h"
#include "stencil_templates/detail/memory_speed.h"
#include "stencil_templates/detail/time_findings.h"

namespace hpl::stencils {

std::string reluctance(const launch::LaunchOptions& options) {
  const runtime::Settings& settings = runtime::settings();
  if (settings.strategy != runtime::Strategy::Auto) return "HPL_STRATEGY asks for another strategy";
  if (options.local.dims > 0) return "the launch chose its local domain";
  return "";
}

TileProblem problemOf(const TimeRecipe& recipe, const Device& device,
                      const std::array<std::int64_t, 3>& extents, std::size_t devices,
                      std::int64_t steps) {
  TileProblem problem;
  problem.program = &recipe.program();
  problem.cost = recipe.cost();
  problem.costs = recipe.costs();
  problem.bytes = recipe.bytesOfFields();
  problem.extents = extents;
  // The largest part decides how long all take.
  const auto parts = static_cast<std::int64_t>(devices);
  problem.extents[0] = (extents[0] + parts - 1) / parts;
  const DeviceProperties properties = device.getProperties();
  problem.isAlone = device.type() == CPU;
  const std::size_t widest = *std::max_element(problem.bytes.begin(), problem.bytes.end());
  problem.lanes = layout::nativeLanes(device.state(), widest);
  problem.units = properties.computeUnits;
  double cellSteps = static_cast<double>(steps);
  for (const std::int64_t extent : extents) cellSteps *= static_cast<double>(extent);
  problem.memorySpeed = memorySpeed(device, cellSteps);
  problem.localMemory = properties.localMemory;
  problem.maxGroupSize = properties.maxWorkGroupSize;
  return problem;
}

void explain(const std::string& name, const std::string& choice) {
  if (!runtime::settings().explain) return;
  std::fputs(fmt::format("hpl: {}: {}\n", name, choice).c_str(), stderr);
}

bool areAlike(const std::vector<Device>& devices) {
  const DeviceProperties first = devices.front().getProperties();
  return std::all_of(devices.begin() + 1, devices.end(), [&](const Device& device) {
    const DeviceProperties own = device.getProperties();
    return own.name == first.name && own.computeUnits == first.computeUnits;
  });
}

std::int64_t stepsOnAll(const TimeRecipe& recipe, const std::vector<Device>& devices,
                        const std::array<std::int64_t, 3>& extents, std::int64_t steps) {
  if (areAlike(devices)) return steps;
  const std::span<const int> depths = depthsLookedAt();
  for (auto device = devices.begin() + 1; device != devices.end(); ++device) {
    if (areAlike({*(device - 1), *device})) continue;
    const TileProblem problem = problemOf(recipe, *device, extents, devices.size(), steps);
    const auto fits = [&](int depth) { return bestTile(problem, depth).cycles > 0; };
    const auto found = std::find_if(depths.rbegin(), depths.rend(),
                                    [&](int depth) { return depth <= steps && fits(depth); });
    if (found != depths.rend()) {
      steps = *found;
    } else {
      steps = std::min<std::int64_t>(steps, fits(1) ? 1 : 0);
    }
  }
  return steps;
}

TimeWish wishOf(const std::string& name, const IterationPlan& plan, int dims, std::int64_t steps) {
  TimeWish wish{name, {plan.timeTile, {}}, steps, 0, plan.persistent, plan.persistent == true};
  if (!plan.persistent && plan.timeTile == 0 && runtime::settings().persistent)
    wish.persistent = true;
  const Domain& tile = plan.tile;
  if (tile.dims > 0 && tile.dims != dims)
    throw ArgumentError(
        fmt::format("{}: timeTile({}, tile): the tile has {} dimension{}, and the "
                    "arrays have {}",
                    name, plan.timeTile, tile.dims, tile.dims == 1 ? "" : "s", dims));
  for (int d = 0; d < tile.dims; ++d)
    wish.tile.cells[static_cast<std::size_t>(tile.dims - 1 - d)] =
        static_cast<std::int64_t>(tile.size[d]);
  return wish;
}

std::string impossibility(const TimeRecipe& recipe) {
  bool isPeriodic = false;
  for (int d = 0; d < recipe.dims(); ++d) isPeriodic = isPeriodic || recipe.isPeriodic(d);
  if (isPeriodic && recipe.cost().usesPosition)
    return "its point function asks for its position in a periodic grid";
  if (isPeriodic && recipe.hasComputedFaces())
    return "some faces are periodic, and others are computed from positions";
  if (recipe.cost().leavesOut) return "its point function does not assign every cell";
  return "";
}

std::string whyNotJoined(const TimeRecipe& recipe) {
  std::string why = impossibility(recipe);
  if (why.empty() && recipe.isPeriodic(0)) why = recipe.ends().whyNotTiled;
  if (why.empty() && recipe.cost().usesProbe)
    return "its point function has a probe, which shows each step";
  return why.empty() ? strategies::whyNotOverlapped(recipe.program()) : why;
}

bool isForSeveralDevices(const launch::LaunchOptions& options) {
  return options.shares != nullptr && devicesOf(options).size() > 1;
}

bool hasEqualBlocks(const launch::LaunchOptions& options) {
  if (!isForSeveralDevices(options)) return true;
  if (!options.shares->weights.empty() || options.shares->measured) return false;
  const Domain& blocks = options.shares->blocks;
  std::size_t number = 1;
  for (int axis = 0; axis < blocks.dims; ++axis) number *= blocks.size[axis];
  return blocks.dims == 0 || number == devicesOf(options).size();
}

bool hasEqualBands(const launch::LaunchOptions& options) {
  return hasEqualBlocks(options) &&
         (!isForSeveralDevices(options) || options.shares->blocks.dims == 0);
}

TimeTile chooseTimeTile(const TimeWish& wish, const TimeRecipe& recipe,
                        const launch::LaunchOptions& options,
                        const std::array<std::int64_t, 3>& extents) {
  if (wish.tile.depth == 1 || wish.steps < 2) return {};
  const std::vector<Device> devices = devicesOf(options);
  std::string why = whyNotJoined(recipe);
  if (wish.tile.depth > 1 && why.empty()) why = recipe.whyTooFar(wish.tile.depth, extents);
  if (wish.tile.depth > 1 && !why.empty())
    throw LaunchError(
        fmt::format("{}: {} steps cannot be done in one pass: {}; leave out "
                    ".timeTile({})",
                    wish.name, wish.tile.depth, why, wish.tile.depth));
  // Accesses are checked where kernels are as they were written.
  if (runtime::settings().checkBounds) return {};
  if (wish.tile.depth > 1) return wish.tile;
  if (why.empty()) why = reluctance(options);
  TimeTile tile;
  if (why.empty()) {
    const TileProblem problem =
        problemOf(recipe, devices.front(), extents, devices.size(), wish.steps);
    std::string remark;
    std::optional<FoundTile> found;
    if (areAlike(devices))
      found = foundTile(wish, recipe, options, devices.front(), problem, remark);
    if (found) {
      tile = found->tile;
      why = found->why;
    } else {
      tile = bestDepth(problem, stepsOnAll(recipe, devices, extents, wish.steps), why).tile;
      why += remark;
      // Devices of other kinds have other tiles: each chooses its own.
      if (devices.size() > 1) tile = {tile.depth, {}};
    }
    if (const std::string far = recipe.whyTooFar(tile.depth, extents); !far.empty()) {
      why = fmt::format("{} steps per pass would be faster, but {}", tile.depth, far);
      tile = {};
    }
  }
  explain(wish.name,
          (tile.depth > 1 ? "steps are joined: " : "steps are launched one by one: ") + why);
  return tile;
}

TimeChoice TimeChoices::find(const TimeWish& wish, const void* program,
                             const launch::LaunchOptions& options,
                             const std::array<std::int64_t, 3>& extents,
                             const std::function<TimeChoice()>& choose) {
  // Programs that come by more kinds of iterations than this do not repeat them.
  constexpr std::size_t kMostKnown = 64;
  Known kind{wish.tile,
             wish.persistent,
             std::min(wish.steps, kManySteps),
             std::min(wish.lookedSteps, kManySteps),
             wish.isRankLocal,
             hasEqualBlocks(options),
             isForSeveralDevices(options) ? options.shares->blocks : Domain(),
             program,
             {},
             options.local,
             extents};
  for (const Device& device : devicesOf(options)) kind.devices.push_back(&device.state());
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [known, choice] : known_)
      if (known == kind) return choice;
  }
  TimeChoice choice = choose();
  const std::lock_guard lock(mutex_);
  if (known_.size() >= kMostKnown) known_.clear();
  known_.emplace_back(std::move(kind), choice);
  return choice;
}

void TimeChoices::clear() {
  const std::lock_guard lock(mutex_);
  known_.clear();
}

}  // namespace hpl::stencils
