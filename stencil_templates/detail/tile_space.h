// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "hpl/tune/space.h"
#include "stencil_templates/detail/tile_choice.h"

/// Which time tiles are worth measuring, and how they are written down.
namespace hpl::stencils {

/// {steps, form, slow, middle, fast}; of tiles of one step, the steps alone.
tune::Point pointOf(const TimeTile& tile);
/// Of a point from a file that somebody has edited perhaps: names that it does not know are
/// ignored, and misfit() says whether the rest makes sense. Depth 0 for the point without entries.
TimeTile tileOf(const tune::Point& point);

/// The points to measure for iterations of so many steps: first the default, which is what the
/// model chooses and has no entries, then those that promise most. Left out is what the model
/// thinks far worse than its best, and what is nearly the same as another one.
std::vector<tune::Point> tilesToMeasure(const TileProblem& problem, std::int64_t steps);
/// The few of them that are tried while iterations run that use `usual`, the default: two passes of
/// each must fit into the steps, and one step after another comes early only where the model thinks
/// it nearly as good.
std::vector<tune::Point> tilesToTry(const TileProblem& problem, std::int64_t steps,
                                    const TimeTile& usual);

}  // namespace hpl::stencils
