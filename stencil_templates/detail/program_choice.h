// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "stencil_templates/detail/time_choice.h"

/// Whether the functions of a program are one kernel, and how many steps go into a launch of it.
namespace hpl::stencils {

/// A program as the choice sees it.
struct ProgramWish {
  TimeWish time;
  /// The user's choice of fusion; empty: none.
  std::optional<bool> fuse;
  TimeForm form = TimeForm::Any;

  /// For TimeChoices::find.
  const void* key() const;
};

/// Chooses steps per pass and tiles for a program's recipe, whose own tile is not looked at; depth
/// 0: the functions are launched one by one. `apart`: the recipe of the functions as they are then.
/// Says so under HPL_EXPLAIN. Throws LaunchError where what the user asked for is impossible, as
/// chooseTimeTile() does.
TimeTile chooseProgramTile(const ProgramWish& wish, const TimeRecipe& recipe,
                           const TimeRecipe& apart, const launch::LaunchOptions& options,
                           const std::array<std::int64_t, 3>& extents);

/// The tile in which a program does single steps, where it may join several: tiles of depth 1, or
/// 0.
TimeTile singleStepTile(const ProgramWish& wish, const TimeRecipe& recipe, const TimeRecipe& apart,
                        const launch::LaunchOptions& options,
                        const std::array<std::int64_t, 3>& extents);

}  // namespace hpl::stencils
