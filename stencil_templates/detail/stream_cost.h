// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stencil_templates/detail/device_cost.h"
#include "stencil_templates/detail/tile_choice.h"

/// The knowledge of the model of tile_choice.h about streams (strategies::stream) beside other
/// forms: their row of time_forms.h.
namespace hpl::stencils {

/// Why the form is not for the program: a phrase.
std::string whyNotStream(const TileProblem& problem, int depth);
bool isStreamRival(const TileProblem& problem, int depth);
/// On CPUs.
bool isStreamModelled(const TileProblem& problem);
/// Whether it is one function whose last results go straight to memory.
bool storesStraight(const TileProblem& problem);
/// Rows, or planes, per band.
std::vector<std::int64_t> streamBands(const TileProblem& problem);
/// Cells along a dimension that are looked at, from slow to fast, for groups of work-items.
std::vector<std::int64_t> groupPlanes(const TileProblem& problem, std::size_t d);
const DeviceCost& costOfStream(const TileProblem& problem);
double usableByStream(const TileProblem& problem);
/// Cycles per cell that a function of several takes longer than the same one in a box.
double cyclesOfStreamRows(const TileProblem& problem, const TimeTile& tile, std::size_t stage,
                          const PointCost& cost, const std::vector<bool>& hasBox);

}  // namespace hpl::stencils
