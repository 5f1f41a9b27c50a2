// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/program_choice.h"

#include <fmt/format.h>

#include "hpl/error.h"
#include "hpl/runtime/device.h"
#include "hpl/runtime/settings.h"
#include "stencil_templates/detail/time_findings.h"

namespace hpl::stencils {
namespace {

constexpr TimeTile kOneByOne{0, {}, TimeForm::Any};

/// Why the functions are not one kernel, whoever asks for it; empty: they may be.
std::string refusal(const ProgramWish& wish, const TimeRecipe& recipe, bool isShared) {
  if (const std::string why = impossibility(recipe, isShared); !why.empty()) return why;
  if (wish.fuse == std::optional(false)) return ".fuse(false) asks for it";
  // Accesses are checked where kernels are as they were written.
  if (runtime::settings().checkBounds) return "HPL_CHECK=bounds checks kernels as they are written";
  return strategies::whyNotOverlapped(recipe.program());
}

/// `remark` is added to what HPL_EXPLAIN says of the steps.
TimeTile chosenByModel(const ProgramWish& wish, const TileProblem& problem, std::int64_t steps,
                       const std::string& remark) {
  const TileEstimate fused = bestTile(problem, 1);
  const double apart = cyclesUnfused(problem);
  const bool mustFuse = wish.fuse == std::optional(true);
  const bool isFused = fused.cycles > 0 && (mustFuse || fused.cycles <= apart);
  if (wish.time.tile.depth != 1 && steps > 1) {
    std::string why;
    const TileEstimate best = bestDepth(problem, steps, why);
    why += remark;
    if (best.tile.depth > 1 && isWorthwhile(problem, best, isFused ? fused.cycles : apart)) {
      explain(wish.time.name, "steps are joined: " + why);
      return best.tile;
    }
    explain(wish.time.name, "steps are launched one by one: " + why);
  }
  if (problem.program->stages.size() > 1)
    explain(
        wish.time.name,
        fmt::format("{}: one kernel in {}; a kernel for each function takes {:.2f}",
                    isFused ? "functions are fused" : "functions are launched one by one",
                    fused.cycles > 0 ? describe(problem, fused) : "tiles would not fit", apart));
  return isFused ? fused.tile : kOneByOne;
}

}  // namespace

const void* ProgramWish::key() const {
  static const char kKeys[2] = {};
  return fuse ? &kKeys[*fuse ? 1 : 0] : nullptr;
}

TimeTile chooseProgramTile(const ProgramWish& wish, const TimeRecipe& recipe,
                           const launch::LaunchOptions& options,
                           const std::array<std::int64_t, 3>& extents) {
  const std::vector<Device> devices = devicesOf(options);
  const std::string why = refusal(wish, recipe, devices.size() > 1);
  const bool joins = wish.time.tile.depth > 1 && wish.time.steps > 1;
  if (!why.empty()) {
    if (joins && !runtime::settings().checkBounds)
      throw LaunchError(
          fmt::format("{}: {} steps cannot be done in one pass: {}; leave out .timeTile({})",
                      wish.time.name, wish.time.tile.depth, why, wish.time.tile.depth));
    explain(wish.time.name, "functions are launched one by one: " + why);
    return kOneByOne;
  }
  if (joins) return wish.time.tile;
  const TileProblem problem = problemOf(recipe, devices.front(), extents, devices.size());
  TimeTile tile{1, wish.time.tile.cells, TimeForm::Any};
  const bool hasTile = tile.cells[0] > 0;
  if (const std::string against = reluctance(options); !against.empty()) {
    if (wish.fuse == std::optional(true)) return tile;
    explain(wish.time.name, "functions are launched one by one: " + against);
    return kOneByOne;
  }
  std::string remark;
  std::optional<FoundTile> found;
  if (!hasTile && wish.time.steps > 1 && areAlike(devices))
    found = foundTile(wish.time, recipe, options, devices.front(), problem, remark);
  if (found && found->tile.depth > 1) {
    explain(wish.time.name, "steps are joined: " + found->why);
    return found->tile;
  }
  // Tuning has found that single steps are best: how they are launched is the model's choice.
  const std::int64_t joined = found ? 1 : wish.time.steps;
  if (!hasTile) tile = chosenByModel(wish, problem, joined, remark);
  // Devices of other kinds have other tiles: each chooses its own.
  if (devices.size() > 1 && !hasTile) tile.cells = {};
  return tile;
}

}  // namespace hpl::stencils
