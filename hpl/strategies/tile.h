// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "hpl/ir/access.h"
#include "hpl/ir/kernel.h"
#include "hpl/strategies/hidden.h"

/// The strategy "tile" for GPUs: the work-items of a group first bring the elements that all of
/// them read into local memory together, then compute from there; each computes several ids.
namespace hpl::strategies {

struct TileOptions {
  /// Axes of the launch.
  int dims = 1;
  /// The axes in the order in which neighbours lie in memory: order[0] runs along rows.
  std::array<int, 3> order{0, 1, 2};
  /// Work-items per group along each axis.
  std::array<int, 3> local{1, 1, 1};
  /// Ids that each work-item computes, along the slowest axis; they lie local[axis] apart.
  int perItem = 1;
  /// Bytes of local memory that a group may use; 0: not limited.
  std::size_t localMemory = 0;
};

/// A kernel rewritten for tiles. A launch has a group of TileOptions::local work-items for each
/// box of covers[0] x covers[1] x covers[2] ids.
struct Tiled {
  /// Null: the strategy does not apply.
  std::shared_ptr<const ir::Kernel> kernel;
  std::vector<Hidden> hidden;
  /// The choice, or why the strategy does not apply; a phrase for people.
  std::string reason;
  /// Ids per group along each axis.
  std::array<int, 3> covers{1, 1, 1};
  /// Local memory per group.
  std::size_t bytes = 0;
};

/// Rewrites a verified kernel. Tiles are made of the arrays that it reads at several offsets from
/// its ids and neither writes nor points into. The rewritten kernel keeps parts of `kernel`, which
/// must live as long.
Tiled tile(const ir::Kernel& kernel, const ir::AccessSummary& summary, const TileOptions& options);

}  // namespace hpl::strategies
