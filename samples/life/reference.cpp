// SPDX-License-Identifier: Apache-2.0
#include "samples/life/reference.h"

#include <stdexcept>
#include <utility>

namespace samples {
namespace {

/// The cell at (row, column), which may lie one step beyond the edge.
int cellAt(const Grid& grid, int row, int column, Edges edges) {
  const int height = grid.height();
  const int width = grid.width();
  if (edges == Edges::Torus) {
    return grid.at((row + height) % height, (column + width) % width);
  }
  const bool inside = row >= 0 && row < height && column >= 0 && column < width;
  return inside ? grid.at(row, column) : 0;
}

int neighbours(const Grid& grid, int row, int column, Edges edges) {
  int sum = -cellAt(grid, row, column, edges);
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) sum += cellAt(grid, row + dy, column + dx, edges);
  }
  return sum;
}

}  // namespace

void referenceStep(Grid& next, const Grid& now, const LifeRule& rule, Edges edges) {
  if (&next == &now || next.height() != now.height() || next.width() != now.width()) {
    throw std::invalid_argument("referenceStep needs two different grids of the same extents");
  }
  for (int row = 0; row < now.height(); ++row) {
    for (int column = 0; column < now.width(); ++column) {
      const unsigned counts = now.at(row, column) != 0 ? rule.survive : rule.birth;
      next.at(row, column) = counts >> neighbours(now, row, column, edges) & 1u;
    }
  }
}

Grid referenceRun(Grid grid, int generations, const LifeRule& rule, Edges edges) {
  Grid next(grid.height(), grid.width());
  for (int g = 0; g < generations; ++g) {
    referenceStep(next, grid, rule, edges);
    std::swap(grid, next);
  }
  return grid;
}

}  // namespace samples
