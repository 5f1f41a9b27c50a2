// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hpl/ir/access.h"
#include "hpl/ir/kernel.h"
#include "hpl/strategies/hidden.h"

/// The strategy "columns" for GPUs: a work-item computes a few ids that follow each other along the
/// slowest axis, so that it has several loads under way at once, and loads once what several of
/// them read. Neighbours in a group stay neighbours along rows. (The stencil paper has several
/// points per thread in its templates; Volkov 2010 says why that pays.)
namespace hpl::strategies {

struct ColumnsOptions {
  /// Axes of the launch: 2 or 3.
  int dims = 2;
  /// The axes in the order in which neighbours lie in memory: order[0] runs along rows, and columns
  /// along the last one.
  std::array<int, 3> order{0, 1, 2};
  /// Ids that each work-item computes.
  int elements = 4;
  /// Of the domain along each axis; 0: not known (RowsOptions::size).
  std::array<std::uint64_t, 3> size{0, 0, 0};
};

/// A kernel rewritten for columns. Work-item (i, j, k) computes the id First + i along each axis,
/// but along the slowest one the ids First + k * elements to First + (k + 1) * elements - 1, as far
/// as there are such ids.
struct Columns {
  /// Null: the strategy does not apply.
  std::shared_ptr<const ir::Kernel> kernel;
  std::vector<Hidden> hidden;
  /// What was chosen, or why the strategy does not apply; a phrase for people.
  std::string reason;
  /// ColumnsOptions::size has made a difference: for another size the kernel may be another one.
  bool dependsOnSize = false;
};

/// Rewrites a verified kernel. Away from the border, where comparisons of ids with sizes have known
/// outcomes, the ids of a work-item are computed side by side; elsewhere one after the other.
/// Kernels whose work-items depend on each other or on their groups, kernels with atomics, and
/// those that write elements of others are left alone: see Columns::reason. Distinct array
/// arguments of a launch must not overlap where one of them is written. The rewritten kernel keeps
/// parts of `kernel`, which must live as long.
Columns columns(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                const ColumnsOptions& options);

/// How many ids a work-item should compute: so many that it has several loads under way, and that
/// it shares those of its neighbourhood. Fewer where the kernel reads several arrays; 1 where it
/// has loops, does not read at all, or reads so much that it waits for arithmetic. On an NVIDIA
/// H200 (perf/RESULTS.md) a copy with 4 ids per work-item moves 4.1 TB/s and with one 2.6; stars
/// and boxes of 5 to 27 elements were fastest with 8.
int columnElements(const ir::Kernel& kernel, const ir::AccessSummary& summary);

}  // namespace hpl::strategies
