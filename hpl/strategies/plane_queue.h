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

/// The strategy "stream" of single sweeps (HPL_STRATEGY=stream), for GPUs: a work-item owns a
/// column of ids and goes along it plane by plane (row by row in two dimensions). Elements of its
/// own column stay in a queue of registers that moves on with it; those beside its column come from
/// the last planes, which the group keeps in local memory (Micikevicius 2009; Nguyen et al. 2010).
/// Several time steps in one sweep are another thing: see stream.h.
namespace hpl::strategies {

struct PlaneQueueOptions {
  /// Axes of the launch: 2 or 3.
  int dims = 2;
  /// The axes in the order in which neighbours lie in memory: order[0] runs along rows, and columns
  /// along the last one.
  std::array<int, 3> order{0, 1, 2};
  /// Work-items per group along each axis; 1 along columns.
  std::array<int, 3> local{1, 1, 1};
  /// Bytes of local memory that a group may use; 0: not limited.
  std::size_t localMemory = 0;
};

/// A kernel rewritten for columns. A launch has a group of PlaneQueueOptions::local work-items for
/// that many columns, and along them one for each slab of Block ids.
struct PlaneQueue {
  /// Null: the strategy does not apply.
  std::shared_ptr<const ir::Kernel> kernel;
  std::vector<Hidden> hidden;
  /// The choice, or why the strategy does not apply; a phrase for people.
  std::string reason;
  /// Local memory per group.
  std::size_t bytes = 0;
};

/// Rewrites a verified kernel. Queues are made of the arrays that it reads in several planes at
/// constant offsets from its ids and does not write; away from the border that holds for indices
/// that are wrapped or clamped too. All other elements are read where they are. The rewritten
/// kernel keeps parts of `kernel`, which must live as long.
PlaneQueue planeQueue(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                      const PlaneQueueOptions& options);

/// The most planes (along an axis) that a work-item reads of one array that the kernel does not
/// write, at constant offsets from its ids.
int planesRead(const ir::AccessSummary& summary, int axis);

}  // namespace hpl::strategies
