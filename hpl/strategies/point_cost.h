// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/ir/access.h"
#include "hpl/ir/kernel.h"

namespace hpl::strategies {

/// The work of a processor for one work-item of a kernel, or for one cell of a point function;
/// rough numbers, for choices only.
struct PointCost {
  /// Arithmetic operations; slow ones count as several.
  double operations = 0;
  /// Cells read, and cells written.
  double reads = 0;
  double writes = 0;
  /// The result depends on where the cell is.
  bool usesPosition = false;
  /// It shows values.
  bool usesProbe = false;
  /// There may be cells that it does not assign.
  bool leavesOut = false;
  /// It may be computed for cells that there are not: it has no loops, assigns all cells, divides
  /// no integers by what may be 0, and reads nothing but cells around its own.
  bool isStraight = true;
  /// Among the operations: functions like exp, which take some sixty.
  double calls = 0;
  /// Sides of branches that some cells take and others do not, by their values.
  double sides = 0;

  PointCost& operator+=(const PointCost& other);
};

/// The cost of a captured kernel or point function. Bodies of loops count as often as the offsets
/// that they lead to. Expressions of the same value, and reads of cells that are not written, count
/// once, whether the function names them or writes them down again.
PointCost costOf(const ir::Kernel& kernel, const ir::AccessSummary& access);

}  // namespace hpl::strategies
