// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "hpl/layout/tuner.h"
#include "stencil_templates/detail/time_choice.h"

/// Findings of tuning about time tiles.
namespace hpl::stencils {

/// Identifies the iterations for which a finding holds: the functions, by their computation, with
/// their regions and boundaries; the sizes of the grid; the number of steps, unless there are many;
/// the floating-point mode; the device's units.
std::string timeTileKey(const TimeWish& wish, const TimeRecipe& recipe,
                        const launch::LaunchOptions& options, const Device& device,
                        const std::array<std::int64_t, 3>& extents);

/// A tile that was found, with a phrase on how.
struct FoundTile {
  TimeTile tile;
  std::string why;
};
/// Nothing when nothing was found, or nothing better than the model's choice, and under
/// HPL_TUNE=off. `remark` says so if there is something to say: findings that do not fit here
/// (local memory is smaller than it was, the file was edited) are ignored.
std::optional<FoundTile> foundTile(const TimeWish& wish, const TimeRecipe& recipe,
                                   const launch::LaunchOptions& options, const Device& device,
                                   const TileProblem& problem, std::string& remark);

}  // namespace hpl::stencils
