// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "hpl/tune/space.h"
#include "stencil_templates/detail/tile_choice.h"

/// Lists the time tiles that are worth measuring, and writes them down.
namespace hpl::stencils {

/// {steps, form, slow, middle, fast}; of tiles of one step, the steps alone.
tune::Point pointOf(const TimeTile& tile);
/// The tile of a point, perhaps from an edited file: names that it does not know are ignored, and
/// misfit() says whether the rest makes sense. Depth 0 for the point without entries.
TimeTile tileOf(const tune::Point& point);

/// The points to measure for iterations of `steps` steps: first the default, which is the model's
/// choice and has no entries, then those that promise most. Leaves out points that the model thinks
/// far worse than its best, and those that are nearly the same as another one.
std::vector<tune::Point> tilesToMeasure(const TileProblem& problem, std::int64_t steps);
/// The few of them that are tried while iterations run that use `usual`, the default: two passes of
/// each must fit into the steps, and one step after another comes early only where the model thinks
/// it nearly as good.
std::vector<tune::Point> tilesToTry(const TileProblem& problem, std::int64_t steps,
                                    const TimeTile& usual);

}  // namespace hpl::stencils
