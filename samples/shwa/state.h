// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "samples/common/raster.h"

namespace samples::shwa {

/// The state of a cell. Depth in metres, discharges per metre of width in m^2/s (x to the right
/// along a row, y downwards), pollutant as depth times concentration (0 to 1).
struct Cell {
  float depth = 0;
  float alongX = 0;
  float alongY = 0;
  float pollutant = 0;
  bool operator==(const Cell&) const = default;
};

/// The water at one moment. The outermost ring of cells is no water but the wall around it.
struct State {
  Raster<Cell> cells;
  double time = 0;  ///< seconds
  int steps = 0;
};

/// Where the water is: heights of the ground in metres (the wall's are kWallHeight), the side of a
/// square cell in metres, and the water at time 0.
struct Input {
  Raster<float> ground;
  float cellSize;
  Raster<Cell> water;
};

/// The ground of the ring around the domain: so high that no water crosses.
constexpr float kWallHeight = 1000.0f;

/// Acceleration of gravity, m/s^2.
constexpr float kGravity = 9.81f;

/// Water that is not deeper stands still: its velocity would be a quotient of rounding errors.
constexpr float kThinnest = 1e-4f;

/// The numbers of all cells in one row, to compare results.
inline std::vector<float> flat(const Raster<Cell>& cells) {
  std::vector<float> numbers;
  numbers.reserve(4 * cells.size());
  for (const Cell& cell : cells.cells()) {
    numbers.insert(numbers.end(), {cell.depth, cell.alongX, cell.alongY, cell.pollutant});
  }
  return numbers;
}

}  // namespace samples::shwa
