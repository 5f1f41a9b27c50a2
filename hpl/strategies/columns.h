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
  /// Ids that each work-item computes along the slowest axis.
  int elements = 4;
  /// And along the axis between the slowest one and that of rows, where there is one.
  int between = 1;
  /// And along rows, side by side in vectors: 1, 2, 4, 8 or 16. More than one pays where rows begin
  /// at multiples of such vectors: all others are computed one by one.
  int lanes = 1;
  /// Work-items go on along the slowest axis, id by id (`elements` is of no account), and keep in
  /// registers what they read again: for planes that would come through the caches once for each
  /// id that reads them. With several lanes only.
  bool marches = false;
  /// Rows have whole numbers of vectors, so that what lies beside a vector can be loaded in
  /// vectors, too. Kernels ask once more, and compute other ids one by one.
  bool wholeRows = false;
  /// Built-in functions of floats whose vector forms may round in another way are left alone.
  bool exact = true;
  /// Sizes of the domain along each axis; 0: not known (RowsOptions::size).
  std::array<std::uint64_t, 3> size{0, 0, 0};
};

/// A kernel rewritten for columns. Work-item (i, j, k) computes the id First + j along each axis,
/// but along the slowest one the ids First + k * elements to First + (k + 1) * elements - 1, along
/// the one between likewise, and along rows the ids i * lanes to (i + 1) * lanes - 1 after the last
/// multiple of `lanes` up to First; as far as there are such ids. One that marches computes Block
/// ids along the slowest axis.
struct Columns {
  /// Null: the strategy does not apply.
  std::shared_ptr<const ir::Kernel> kernel;
  std::vector<Hidden> hidden;
  /// The choice, or why the strategy does not apply; a phrase for people.
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

/// How many ids a work-item should compute along the slowest axis, and along the one between.
/// No elements: columns do not pay.
struct ColumnShape {
  int elements = 0;
  int between = 1;
  bool marches = false;
  /// Registers that the compiler is told a work-item may use; 0: it is told nothing. A compiler
  /// that does not know how few are enough puts loads off to save some.
  int registers = 0;
};

/// Chooses the number of elements of a work-item: enough that it has several loads under way and
/// shares those of its neighbourhood, of single elements or of vectors (`lanes` above 1), which
/// share more and need more registers. Fewer where the kernel reads several arrays; none where it
/// has loops, does not read at all, or reads so much that it waits for arithmetic. As measured on
/// an NVIDIA H200 (perf/RESULTS.md): of single elements 4 for a copy, 8 for stars and boxes of 5 to
/// 27 elements; of vectors in two dimensions 2 rows for 5 elements, 4 for 9, 6 for 25; in three
/// dimensions marches of 2 rows for 7 elements and of one for 13, 2 x 4 rows for 27. `mayMarch`:
/// the domain gives marches work enough.
ColumnShape columnShape(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                        const ColumnsOptions& options, bool mayMarch = true);

}  // namespace hpl::strategies
