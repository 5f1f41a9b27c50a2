// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/time_findings.h"

#include <fmt/format.h>

#include "hpl/launch/fingerprint.h"
#include "hpl/runtime/binary_store.h"
#include "hpl/runtime/settings.h"
#include "stencil_templates/detail/tile_space.h"

namespace hpl::stencils {
namespace {

/// The facts that the kernel's text does not show.
std::string textOf(const strategies::TimeProgram& program) {
  std::string text = fmt::format("{} dimensions, {} fields", program.dims, program.fields.size());
  for (const strategies::TimeStage& stage : program.stages) {
    text += "\nwrites";
    for (const int field : stage.writes) text += fmt::format(" {}", field);
    for (std::size_t d = 0; d < 3; ++d)
      text += fmt::format(", {} and {}", stage.low[d], stage.high[d]);
    for (const strategies::TimeRead& read : stage.reads) {
      text += fmt::format("\nreads {}:", read.field);
      for (const ir::Interval& offset : read.offsets)
        text += fmt::format(" {}..{}", offset.lo, offset.hi);
      for (const strategies::Beyond beyond : read.beyond)
        text += fmt::format(" {}", static_cast<int>(beyond));
    }
  }
  return text;
}

}  // namespace

std::string timeTileKey(const TimeWish& wish, const TimeRecipe& recipe,
                        const launch::LaunchOptions& options, const Device& device,
                        const std::array<std::int64_t, 3>& extents) {
  const launch::KernelSource source{
      [](const void* made) { static_cast<const TimeRecipe*>(made)->record(); }, &recipe, "stencil",
      nullptr};
  const std::string hash =
      runtime::hexHash(launch::fingerprint(source, device.state()) + textOf(recipe.program()));
  std::string sizes;
  for (int d = 0; d < recipe.dims(); ++d)
    sizes += fmt::format("{}{}", d == 0 ? "" : "x", extents[static_cast<std::size_t>(d)]);
  const std::string steps =
      wish.steps < kManySteps ? fmt::format("{} steps", wish.steps) : "many steps";
  const FpMode fp = options.fpChosen ? options.fp : runtime::settings().fp;
  return layout::findingKey(
      fmt::format("{}: {} {} {}", wish.name, hash.substr(0, 16), sizes, steps), fp, device.state());
}

std::optional<FoundTile> foundTile(const TimeWish& wish, const TimeRecipe& recipe,
                                   const launch::LaunchOptions& options, const Device& device,
                                   const TileProblem& problem, std::string& remark) {
  if (runtime::settings().tune == runtime::TuneMode::Off || !layout::mayDecideByTimes())
    return std::nullopt;
  const auto finding = layout::findingFor(
      device.state(), timeTileKey(wish, recipe, options, device, problem.extents));
  if (!finding) return std::nullopt;
  if (finding->best == tune::Point()) {
    remark = "; tuned: nothing was faster";
    return std::nullopt;
  }
  const TimeTile tile = tileOf(finding->best);
  if (const std::string why = misfit(problem, tile); !why.empty()) {
    remark = "; what tuning has found is ignored: " + why;
    return std::nullopt;
  }
  return FoundTile{tile, describe(problem, tile) + layout::remarkOn(*finding) + " per step"};
}

}  // namespace hpl::stencils
