// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/program_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "hpl/error.h"
#include "hpl/runtime/device.h"
#include "hpl/runtime/settings.h"
#include "stencil_templates/detail/time_findings.h"
#include "stencil_templates/detail/time_forms.h"

namespace hpl::stencils {
namespace {

/// The reason why the functions cannot be one kernel, even if it is asked for; empty: they can.
std::string refusal(const ProgramWish& wish, const TimeRecipe& recipe,
                    const std::array<std::int64_t, 3>& extents) {
  if (const std::string why = impossibility(recipe); !why.empty()) return why;
  if (wish.fuse == std::optional(false)) return ".fuse(false) asks for it";
  // Accesses are checked where kernels are as they were written.
  if (runtime::settings().checkBounds) return "HPL_CHECK=bounds checks kernels as they are written";
  const std::string why = whyNotJoined(recipe);
  return why.empty() ? recipe.whyTooFar(std::max(1, wish.time.tile.depth), extents) : why;
}

/// Why the functions are not one kernel row by row; empty: they may be.
std::string whyNotRows(const TileProblem& problem) {
  if (runtime::settings().strategy == runtime::Strategy::Tile)
    return "HPL_STRATEGY=tile asks for groups of work-items";
  if (std::string why = rowOf(TimeForm::Chain).whyNot(problem, 1); !why.empty()) return why;
  return bestTile(problem, 1, TimeForm::Chain).cycles > 0 ? "" : "no rows fit into local memory";
}

/// Temporaries that no function stores: those that read them were put together with their writers.
std::ptrdiff_t inRegisters(const strategies::TimeProgram& program) {
  return std::count_if(program.fields.begin(), program.fields.end(), [](const auto& field) {
    return field.lifetime == strategies::Lifetime::Temporary && !field.isWritten();
  });
}

/// One step: all functions in one kernel, or a kernel for each, which would take `apart` cycles.
struct SingleStep {
  TileEstimate fused;
  double apart = 0;
  bool isFused = false;

  TimeTile tile() const { return isFused ? fused.tile : kByFunction; }
};

/// The reason in the words of HPL_EXPLAIN.
std::string reasonFor(const TileProblem& problem, const SingleStep& step) {
  const TileEstimate& fused = step.fused;
  std::string text =
      fmt::format("{}: one kernel in {}; a kernel for each function takes {:.2f}",
                  step.isFused ? "functions are fused" : "functions are launched one by one",
                  fused.cycles > 0 ? describe(problem, fused) : "tiles would not fit", step.apart);
  if (const std::ptrdiff_t count = inRegisters(*problem.program); count > 0)
    text += fmt::format("; {} temporar{} in registers", count, count == 1 ? "y" : "ies");
  if (fused.tile.form == TimeForm::Chain) return text;
  if (const std::string why = whyNotRows(problem); !why.empty())
    text += fmt::format("; not row by row: {}", why);
  return text;
}

/// The tiles, or bands of rows, of one kernel. Throws LaunchError where the user's form is none.
TileEstimate fusedTile(const ProgramWish& wish, const TileProblem& problem) {
  if (wish.form == TimeForm::Chain)
    if (const std::string why = whyNotRows(problem); !why.empty())
      throw LaunchError(
          fmt::format("{}: its functions cannot be one kernel row by row: {}; use "
                      ".fuse(Fusion::Tiles), or leave the choice to the library",
                      wish.time.name, why));
  return bestTile(problem, 1, wish.form);
}

/// `single`: the functions as they are where each has a kernel.
SingleStep singleStep(const ProgramWish& wish, const TileProblem& problem,
                      const TileProblem& single) {
  SingleStep step{fusedTile(wish, problem), cyclesUnfused(single)};
  const bool mustFuse = wish.fuse == std::optional(true);
  step.isFused =
      step.fused.cycles > 0 && (mustFuse || isWorthwhile(problem, step.fused, step.apart));
  return step;
}

/// `remark` is added to what HPL_EXPLAIN says of the steps; `single`: see singleStep().
TimeTile chosenByModel(const ProgramWish& wish, const TileProblem& problem,
                       const TileProblem& single, std::int64_t steps, const std::string& remark) {
  const SingleStep step = singleStep(wish, problem, single);
  if (wish.time.tile.depth != 1 && wish.form != TimeForm::Chain && steps > 1) {
    std::string why;
    const TileEstimate best = bestDepth(problem, steps, why);
    why += remark;
    if (best.tile.depth > 1 &&
        isWorthwhile(problem, best, step.isFused ? step.fused.cycles : step.apart)) {
      explain(wish.time.name, "steps are joined: " + why);
      return best.tile;
    }
    explain(wish.time.name, "steps are launched one by one: " + why);
  }
  if (single.program->stages.size() > 1) explain(wish.time.name, reasonFor(problem, step));
  return step.tile();
}

/// The tile with as many of its steps as reach no further than joined ends allow.
TimeTile withinReach(TimeTile tile, const TimeRecipe& recipe,
                     const std::array<std::int64_t, 3>& extents) {
  while (tile.depth > 1 && !recipe.whyTooFar(tile.depth, extents).empty()) --tile.depth;
  return tile;
}

}  // namespace

const void* ProgramWish::key() const {
  static const char kKeys[8] = {};
  return fuse ? &kKeys[2 * static_cast<std::size_t>(form) + (*fuse ? 1 : 0)] : nullptr;
}

TimeTile chooseProgramTile(const ProgramWish& wish, const TimeRecipe& recipe,
                           const TimeRecipe& apart, const launch::LaunchOptions& options,
                           const std::array<std::int64_t, 3>& extents) {
  const std::vector<Device> devices = devicesOf(options);
  const std::string why = refusal(wish, recipe, extents);
  const bool joins = wish.time.tile.depth > 1 && wish.time.steps > 1;
  if (!why.empty()) {
    if (joins && !runtime::settings().checkBounds)
      throw LaunchError(
          fmt::format("{}: {} steps cannot be done in one pass: {}; leave out .timeTile({})",
                      wish.time.name, wish.time.tile.depth, why, wish.time.tile.depth));
    explain(wish.time.name, "functions are launched one by one: " + why);
    return kByFunction;
  }
  if (joins && wish.form == TimeForm::Chain)
    throw LaunchError(
        fmt::format("{}: row by row a kernel does one step; leave out .timeTile({}), or use "
                    ".fuse(Fusion::Tiles)",
                    wish.time.name, wish.time.tile.depth));
  if (joins) return wish.time.tile;
  const TileProblem problem =
      problemOf(recipe, devices.front(), extents, devices.size(), wish.time.steps);
  TimeTile tile{1, wish.time.tile.cells, wish.form};
  const bool hasTile = tile.cells[0] > 0;
  for (const Device& device : devices)
    if (wish.form == TimeForm::Chain)
      fusedTile(wish, problemOf(recipe, device, extents, devices.size(), wish.time.steps));
  if (const std::string against = reluctance(options); !against.empty()) {
    if (wish.fuse == std::optional(true)) return tile;
    explain(wish.time.name, "functions are launched one by one: " + against);
    return kByFunction;
  }
  std::string remark;
  std::optional<FoundTile> found;
  if (!hasTile && wish.time.steps > 1 && areAlike(devices))
    found = foundTile(wish.time, recipe, options, devices.front(), problem, remark);
  if (found && found->tile.depth > 1) {
    explain(wish.time.name, "steps are joined: " + found->why);
    return withinReach(found->tile, recipe, extents);
  }
  // Tuning has found that single steps are best: how they are launched is the model's choice.
  const std::int64_t joined = found ? 1 : wish.time.steps;
  if (!hasTile) {
    const TileProblem single =
        problemOf(apart, devices.front(), extents, devices.size(), wish.time.steps);
    const std::int64_t most = stepsOnAll(recipe, devices, extents, joined);
    if (most == 0 && wish.fuse != std::optional(true)) {
      explain(wish.time.name,
              "functions are launched one by one: their boxes do not fit into the local memory of "
              "all devices");
      return kByFunction;
    }
    tile = chosenByModel(wish, problem, single, most, remark);
    // Devices of other kinds have other tiles: each chooses its own.
    if (devices.size() > 1) tile = {tile.depth, {}, wish.form};
  }
  return withinReach(tile, recipe, extents);
}

TimeTile singleStepTile(const ProgramWish& wish, const TimeRecipe& recipe, const TimeRecipe& apart,
                        const launch::LaunchOptions& options,
                        const std::array<std::int64_t, 3>& extents) {
  const std::vector<Device> devices = devicesOf(options);
  if (!whyNotJoined(recipe).empty() || !recipe.whyTooFar(1, extents).empty()) return kByFunction;
  return singleStep(wish,
                    problemOf(recipe, devices.front(), extents, devices.size(), wish.time.steps),
                    problemOf(apart, devices.front(), extents, devices.size(), wish.time.steps))
      .tile();
}

}  // namespace hpl::stencils
