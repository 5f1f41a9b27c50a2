// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "perf/evaluation/life/host.h"
#include "perf/evaluation/life/kernels.h"

/// The common parts of the host styles.
namespace evaluation::life {

/// The arrays of a run, with generation 0, and what the kernels want.
struct World {
  /// `border`: rows that a torus has beyond its first and beyond its last one, copies of those at
  /// the opposite edge. Throws std::invalid_argument if it has fewer rows than that.
  World(const Options& options, int border);

  /// Gives the rows of `next` beyond the edges of a torus the values of the opposite edge.
  void wrapNext();

  Cells now, next;
  int rows;    ///< of the arrays
  int border;  ///< 0 with dead edges
  Range columns;
  int birth, survive;
};

/// Calls step(0), step(1), ..., each of which computes `next` and swaps it with `now`.
Grid runGenerations(World& world, const Options& options, const ExecutionPlan& plan,
                    Progress& progress, const FrameSink& frame,
                    const std::function<void(int)>& step);

}  // namespace evaluation::life
