// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hpl/ir/access.h"
#include "hpl/ir/kernel.h"
#include "hpl/strategies/hidden.h"

/// The strategy "rows" for CPU devices: a work-item computes a block of ids instead of one, row by
/// row, several neighbours at a time in explicit vectors, several rows at once where they share
/// what they load. The results are those of the kernel: bit for bit, but for floating-point
/// contraction and built-in functions whose vector forms round differently (RowsOptions::exact).
namespace hpl::strategies {

struct RowsOptions {
  /// Axes of the launch.
  int dims = 1;
  /// The axes in the order in which neighbours lie in memory: order[0] runs along rows.
  std::array<int, 3> order{0, 1, 2};
  /// Neighbours per vector: 2, 4, 8 or 16.
  int lanes = 16;
  /// Bytes of a vector that kernels of small integers may fill with more lanes, up to 64 of a byte:
  /// what the device's compiler understands beyond OpenCL C. 0: it does not.
  int vectorBytes = 0;
  /// Vectors side by side, and rows (planes in three dimensions) that are computed at once; 0:
  /// chosen from what the kernel loads.
  int vectors = 0;
  int jam = 0;
  /// Sizes of the domain along each axis; 0: not known. They tell whether a comparison of an id
  /// with a number is about the first or the last ids, or about the middle.
  std::array<std::uint64_t, 3> size{0, 0, 0};
  /// Refuse kernels with built-in functions that may round differently on vectors.
  bool exact = false;
  /// Store whole vectors of arrays that the kernel only writes past the caches.
  bool streams = false;
  /// The kernel's makers promise that no two work-items touch an element that one of them writes,
  /// whatever its index; not to be found out from loops.
  bool ownElements = false;
  /// Extents of arrays (by parameter, of countedArrays) in which work-items may count on their own,
  /// in private memory, before they add what they have counted.
  std::map<int, std::vector<std::int64_t>> counters{};
};

/// A kernel rewritten for rows. It is launched with one work-item per group; work-item (i, j, k)
/// computes the ids from First + i * Block of each axis on, at most Block of them.
struct Rows {
  /// Null: the strategy does not apply.
  std::shared_ptr<const ir::Kernel> kernel;
  std::vector<Hidden> hidden;
  /// The choice, or why the strategy does not apply; a phrase for people.
  std::string reason;
  /// Rows at once.
  int jam = 1;
  int vectors = 1;
  int lanes = 1;
  /// RowsOptions::size has made a difference: for another size the kernel may be another one.
  bool dependsOnSize = false;
};

/// Rewrites a verified kernel. Kernels that it does not understand, or that depend on how
/// work-items are grouped, are left alone: see Rows::reason. Distinct array arguments of a launch
/// must not overlap where one of them is written. The rewritten kernel keeps parts of `kernel`,
/// which must live as long.
Rows rows(const ir::Kernel& kernel, const ir::AccessSummary& summary, const RowsOptions& options);

/// The parameters in which a kernel counts: it adds to their elements by atomics, without asking
/// for results. Whether it does more with them is left to rows().
std::vector<int> countedArrays(const ir::Kernel& kernel);
/// True if counters of `bytes` in all are worth copies of each work-item's own.
bool fitsCounters(std::size_t bytes);

/// Whether work-items read more than their own elements, or loop: kernels that do neither wait for
/// memory however they are laid out.
bool hasReuse(const ir::Kernel& kernel, const ir::AccessSummary& summary);

/// How many different elements a work-item reads, as far as they can be told apart.
std::size_t distinctReads(const ir::AccessSummary& summary);

/// How many vectors side by side and how many rows at once share most of their loads without
/// spilling registers.
struct JamChoice {
  int vectors = 1;
  int jam = 1;
};
/// `isTiled`: of rows in time tiles, which a cache holds.
JamChoice chooseJam(const ir::AccessSummary& summary, const RowsOptions& options,
                    bool isTiled = false);

}  // namespace hpl::strategies
