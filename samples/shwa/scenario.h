// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "samples/shwa/state.h"

namespace samples::shwa {

/// Depths on the two sides of the dam of scenario dam-break, in metres.
constexpr float kDamBehind = 10.0f;
constexpr float kDamBefore = 2.0f;

/// The names that makeScenario knows.
std::vector<std::string> scenarioNames();

/// A basin of 1000 m from left to right, as high as the extent makes it, walls included:
/// - dam-break: flat ground, deep polluted water on the left, shallow clean water on the right;
/// - pollutant: a dam with a breach between a lake and a valley with hills; in front of the breach
///   a polluted spot;
/// - lake-at-rest: islands in a lake that has no reason to move.
/// Throws std::invalid_argument for another name or fewer than 3 cells per side.
Input makeScenario(const std::string& name, Extent extent);

/// Volume of the water, in cubic metres, and of the pollutant in it.
double waterVolume(const Raster<Cell>& cells, float cellSize);
double pollutantVolume(const Raster<Cell>& cells, float cellSize);

/// The largest velocity of any cell, in m/s.
double largestVelocity(const Raster<Cell>& cells);

}  // namespace samples::shwa
