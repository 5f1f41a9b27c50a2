// SPDX-License-Identifier: Apache-2.0
#include "samples/life/generations.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace samples::life {
namespace {

Grid toHost(const World& world) {
  const int height = world.rows - 2 * world.border;
  Grid grid(height, static_cast<int>(world.columns.last) + 1);
  world.now(Range(world.border, world.border + height - 1), world.columns).copyTo(grid.data());
  return grid;
}

}  // namespace

World::World(const LifeOptions& options, int torusBorder)
    : rows(options.start.height()),
      border(options.edges == Edges::Torus ? torusBorder : 0),
      columns(0, options.start.width() - 1),
      birth(static_cast<int>(options.rule.birth)),
      survive(static_cast<int>(options.rule.survive)) {
  const int height = options.start.height(), width = options.start.width();
  if (border > height) {
    throw std::invalid_argument("--ghost-width " + std::to_string(border) + ": the torus has " +
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

Grid runGenerations(World& world, const LifeOptions& options, const ExecutionPlan& plan,
                    Progress& progress, const FrameSink& frame,
                    const std::function<void(int)>& step) {
  const int generations = options.run.iterations;
  if (frame) frame(toHost(world));
  for (int done = 0; done < generations;) {
    // Launches are asynchronous: a batch of them is queued before the progress bar waits.
    auto batch = std::min<std::int64_t>(progress.batch(), generations - done);
    if (frame) batch = std::min<std::int64_t>(batch, options.every - done % options.every);
    for (std::int64_t i = 0; i < batch; ++i) step(done++);
    for (const ExecutionPlan::Share& share : plan.shares()) share.device.sync();
    progress.update(done);
    if (frame && done % options.every == 0) frame(toHost(world));
  }
  return toHost(world);
}

Grid runStyle(const LifeOptions& options, const ExecutionPlan& plan, Progress& progress,
              const FrameSink& frame) {
  switch (options.run.style) {
    case Style::Subarrays:
      return runSubarrays(options, plan, progress, frame);
    case Style::Annotations:
      return runAnnotations(options, plan, progress, frame);
    case Style::Sync:
      return runSync(options, plan, progress, frame);
    case Style::Auto:
      return runAuto(options, plan, progress, frame);
    case Style::Stencil:
      return runStencil(options, plan, progress, frame);
    case Style::Template:
      return runTemplate(options, plan, progress, frame);
    default:
      return runSingle(options, plan.shares().front().device, progress, frame);
  }
}

}  // namespace samples::life
