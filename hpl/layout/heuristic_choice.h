// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "hpl/layout/shape.h"
#include "hpl/runtime/settings.h"
#include "hpl/strategies/columns.h"
#include "hpl/strategies/pointwise.h"

namespace hpl::layout {

/// The strategy that the rules of the library choose, before it is known whether that one applies.
struct HeuristicChoice {
  /// Direct: nothing is to be tried.
  runtime::Strategy strategy = runtime::Strategy::Direct;
  /// Why; a phrase for people. Empty where the strategy's own words tell.
  std::string reason;
};

/// The strategy of HPL_STRATEGY, else the one that the rules choose for the kernel, the device and
/// the domain. `refused`: strategies that were chosen before and do not apply.
HeuristicChoice heuristicChoice(const LaunchRequest& request, const Shape& shape,
                                const std::vector<runtime::Strategy>& refused);

/// The choice of a CPU device for a kernel whose work-items read their own elements only, unless
/// the program asks for another one.
strategies::PointwiseChoice pointwiseChoice(const strategies::Pointwise& kernel, const Shape& shape,
                                            bool leavesCaches);

/// How a kernel should be laid out in columns: as it asks for (strategies::columnShape), in vectors
/// where rows are aligned, but such that every unit still gets all the work-items that it holds.
strategies::ColumnsOptions columnsOf(const LaunchRequest& request, const Shape& shape,
                                     bool inVectors = true);

/// True if the rows of all arrays have whole numbers of vectors of that many lanes.
bool areWholeRows(const LaunchRequest& request, int lanes);

/// Ids along the slowest axis that each work-item of marching columns computes: as many as leave
/// all units work enough; 0: that would be too few to be worth keeping what the next one reads.
std::size_t marchOf(const LaunchRequest& request, const Shape& shape,
                    const strategies::ColumnsOptions& options);

/// ColumnShape::registers, where the kernel has that shape.
int registersOf(const LaunchRequest& request, const strategies::ColumnsOptions& options);

/// Whether columns are worth trying on the device, which then is no CPU.
bool paysColumns(const LaunchRequest& request, const Shape& shape);

/// True if the cells that a launch touches drive the cells that it writes out of the device's
/// caches, so that their next reader reads memory.
bool leavesCaches(const LaunchRequest& request, const Shape& shape);

/// Bytes of the widest elements that the kernel computes with, at least those of a float.
int widestElement(const KernelVersion& version);

}  // namespace hpl::layout
