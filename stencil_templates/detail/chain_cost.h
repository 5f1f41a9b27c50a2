// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "stencil_templates/detail/device_cost.h"
#include "stencil_templates/detail/tile_choice.h"

/// The knowledge of the model of tile_choice.h about chains (strategies::chain) beside other forms:
/// their row of time_forms.h.
namespace hpl::stencils {

/// The reason why the form is not for the program on the device, with `depth` steps per pass: a
/// phrase; empty: it is.
std::string whyNotChain(const TileProblem& problem, int depth);
/// True if a chain may rival other forms for a program of several functions.
bool isChainRival(const TileProblem& problem, int depth);
const DeviceCost& costOfChain(const TileProblem& problem);
/// Rows of the bands that are looked at.
std::vector<std::int64_t> chainBands(const TileProblem& problem);
/// The cells that are computed twice where bands are cut along a dimension, when functions need
/// `grown` cells around them.
double chainCut(const TileProblem& problem, std::size_t dim, double grown);
/// Cycles that a function's rows cost more than in a box, per cell. `hasBox`: fields that have rows
/// in local memory.
double cyclesOfChainRows(const TileProblem& problem, const TimeTile& tile, std::size_t stage,
                         const PointCost& cost, const std::vector<bool>& hasBox);
/// How much longer all bands take because some do, when the units' last ones are such a part of
/// all.
double chainUnevenness(double lastPart);

}  // namespace hpl::stencils
