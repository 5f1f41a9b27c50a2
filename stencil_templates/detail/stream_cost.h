// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stencil_templates/detail/tile_choice.h"

/// What the model of tile_choice.h knows of streams (strategies::stream) beside other forms.
namespace hpl::stencils {

/// The part of local memory that streams of several functions may take: they go through it plane by
/// plane, and what else is at work drives out few of these.
inline constexpr double kUsableByRings = 0.95;

/// Whether the form is for the program, if only when it is asked for: the model knows it on CPUs.
bool mayStream(const TileProblem& problem);
/// Why not: a phrase.
std::string whyNotStream(const TileProblem& problem);
/// Whether it is one function whose last results go straight to memory.
bool storesStraight(const TileProblem& problem);
/// Cells along a dimension that are looked at, from slow to fast, for groups of work-items.
std::vector<std::int64_t> groupPlanes(const TileProblem& problem, std::size_t d);
/// Cycles per cell that a function of several takes longer than the same one in a box.
double cyclesOfStreamRows(const TileProblem& problem, const TimeTile& tile, std::size_t stage,
                          const PointCost& cost);

}  // namespace hpl::stencils
