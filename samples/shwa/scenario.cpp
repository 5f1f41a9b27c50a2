// SPDX-License-Identifier: Apache-2.0
#include "samples/shwa/scenario.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace samples::shwa {
namespace {

constexpr float kLength = 1000.0f;

/// The ground and the water at a point; x and y from 0 to 1.
struct Spot {
  double ground;
  double level;  ///< of the surface, if it is above the ground
  double concentration;
};

/// A hill (or a hollow) of this height around (cx, cy).
double hill(double x, double y, double cx, double cy, double radius, double height) {
  const double dx = (x - cx) / radius;
  const double dy = (y - cy) / radius;
  return height * std::exp(-dx * dx - dy * dy);
}

Spot damBreak(double x, double) {
  return x < 0.5 ? Spot{0, kDamBehind, 1} : Spot{0, kDamBefore, 0};
}

Spot pollutant(double x, double y) {
  const double banks = 2 * std::abs(y - 0.5);
  double ground = 6 * (1 - x) + 9 * std::pow(banks, 4);
  ground += hill(x, y, 0.45, 0.42, 0.06, 9) + hill(x, y, 0.56, 0.66, 0.08, 11) +
            hill(x, y, 0.72, 0.3, 0.09, 8) + hill(x, y, 0.8, 0.58, 0.06, 6);
  const bool wall = x > 0.27 && x < 0.3 && std::abs(y - 0.5) > 0.06;
  const double dx = x - 0.19;
  const double dy = y - 0.5;
  const bool spot = dx * dx + dy * dy < 0.06 * 0.06;
  return {wall ? std::max(ground, 20.0) : ground, x < 0.285 ? 14.0 : 1.5, spot ? 1.0 : 0.0};
}

Spot lakeAtRest(double x, double y) {
  const double waves = 1.5 * std::sin(17 * x) * std::cos(13 * y) + 0.7 * std::sin(41 * (x + y));
  return {-4 + waves + hill(x, y, 0.3, 0.4, 0.13, 9) + hill(x, y, 0.7, 0.65, 0.09, 7), 0, x};
}

/// A height in whole 1024ths of a metre: depths are exact in float then, and levels that should be
/// equal are.
float rounded(double height) { return static_cast<float>(std::round(height * 1024) / 1024); }

}  // namespace

std::vector<std::string> scenarioNames() { return {"dam-break", "pollutant", "lake-at-rest"}; }

Input makeScenario(const std::string& name, Extent extent) {
  const auto spotAt = name == "dam-break"      ? damBreak
                      : name == "pollutant"    ? pollutant
                      : name == "lake-at-rest" ? lakeAtRest
                                               : nullptr;
  if (spotAt == nullptr) {
    throw std::invalid_argument("there is no scenario '" + name +
                                "'; those that exist: dam-break, pollutant, lake-at-rest");
  }
  if (extent.height < 3 || extent.width < 3) {
    throw std::invalid_argument("a basin needs at least 3 x 3 cells, walls included");
  }
  Input input{Raster<float>(extent, kWallHeight), kLength / static_cast<float>(extent.width - 2),
              Raster<Cell>(extent)};
  for (int row = 1; row + 1 < extent.height; ++row) {
    for (int column = 1; column + 1 < extent.width; ++column) {
      const Spot spot =
          spotAt((column - 0.5) / (extent.width - 2), (row - 0.5) / (extent.height - 2));
      const float ground = rounded(spot.ground);
      const float depth = std::max(0.0f, rounded(spot.level) - ground);
      input.ground.at(row, column) = ground;
      input.water.at(row, column) = {depth, 0, 0, depth * static_cast<float>(spot.concentration)};
    }
  }
  return input;
}

double waterVolume(const Raster<Cell>& cells, float cellSize) {
  double sum = 0;
  for (const Cell& cell : cells.cells()) sum += cell.depth;
  return sum * cellSize * cellSize;
}

double pollutantVolume(const Raster<Cell>& cells, float cellSize) {
  double sum = 0;
  for (const Cell& cell : cells.cells()) sum += cell.pollutant;
  return sum * cellSize * cellSize;
}

double largestVelocity(const Raster<Cell>& cells) {
  double largest = 0;
  for (const Cell& cell : cells.cells()) {
    if (!(cell.depth > kThinnest)) continue;
    const double discharge = std::hypot(cell.alongX, cell.alongY);
    largest = std::max(largest, discharge / cell.depth);
  }
  return largest;
}

}  // namespace samples::shwa
