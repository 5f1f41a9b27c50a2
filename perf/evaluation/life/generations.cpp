// SPDX-License-Identifier: Apache-2.0
#include "perf/evaluation/life/generations.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "samples/common/repeat.h"

namespace evaluation::life {
namespace {

Grid toHost(const World& world) {
  const int height = world.rows - 2 * world.border;
  Grid grid(height, static_cast<int>(world.columns.last) + 1);
  world.now(Range(world.border, world.border + height - 1), world.columns).copyTo(grid.data());
  return grid;
}

}  // namespace

World::World(const Options& options, int torusBorder)
    : rows(options.start.height()),
      border(options.edges == Edges::Torus ? torusBorder : 0),
      columns(0, options.start.width() - 1),
      birth(static_cast<int>(options.rule.birth)),
      survive(static_cast<int>(options.rule.survive)) {
  const int height = options.start.height(), width = options.start.width();
  if (border > height) {
    throw std::invalid_argument("ghosts of width " + std::to_string(border) + ": the torus has " +
                                std::to_string(height) + " rows; give at most as many");
  }
  rows += 2 * border;
  now = Cells(rows, width);
  next = Cells(rows, width);
  unsigned char* cells = now.data(HPL_WR);
  for (int row = 0; row < rows; ++row) {
    const int from = (row - border + height) % height;
    cells =
        std::copy_n(options.start.data() + static_cast<std::ptrdiff_t>(from) * width, width, cells);
  }
}

void World::wrapNext() {
  if (border == 0) return;
  next(Range(0, border - 1), columns) = next(Range(rows - 2 * border, rows - border - 1), columns);
  next(Range(rows - border, rows - 1), columns) = next(Range(border, 2 * border - 1), columns);
}

Grid runGenerations(World& world, const Options& options, const ExecutionPlan& plan,
                    Progress& progress, const FrameSink& frame,
                    const std::function<void(int)>& step) {
  advance(options.run.iterations, frame ? options.every : 0, plan, progress, oneByOne(step),
          [&](int) { frame(toHost(world)); });
  return toHost(world);
}

}  // namespace evaluation::life
