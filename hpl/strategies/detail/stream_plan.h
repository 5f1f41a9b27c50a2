// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "hpl/strategies/detail/overlapped_plan.h"

namespace hpl::strategies::detail {

/// What of a streaming kernel is known before any code is written.
struct StreamPlan {
  /// The boxes are planes: their extent along the slowest dimension does not count.
  OverlappedPlan planes;
  /// A plane is computed when those up to so many after it are there, and reads so many before it.
  std::int64_t lag = 0;
  std::int64_t before = 0;
  int depth = 1;
  /// New planes take the places of those that their computation reads for the last time. They lie
  /// `shift` cells, a vector, before these, so that none overwrites what the next one still reads.
  bool isInPlace = false;
  std::int64_t shift = 0;
  /// Cells of a plane in local memory.
  std::int64_t planeCells = 1;

  /// Planes of one state of a field that are kept, where states do not share places.
  std::int64_t ring(bool isWritten) const {
    // What never changes waits for the last step to get there.
    return before + (isWritten ? lag : lag * depth) + 1;
  }
  /// Planes that a field needs: those of all states but the last, which goes to global memory.
  std::int64_t slots(bool isWritten) const {
    if (!isWritten) return ring(false);
    if (!isInPlace) return depth * ring(true);
    // Those that are of use at a time, and what lies between the newest and the oldest of them,
    // which are neighbours: the oldest has been shifted towards the newest.
    const std::int64_t shifted = (depth - 1) * shift;
    return depth * (before + lag) + 1 +
           std::max<std::int64_t>(1, (shifted + planeCells - 1) / planeCells);
  }
};

/// Whether the first plane that a function reads is of no use once it has been read by the plane
/// that comes so many planes later.
bool isLastUse(const TimeRead& read, std::int64_t before);
/// Cells that rows lie apart so that none that is written `shift` cells before its place meets what
/// the row before, which is computed at the same time, still reads.
std::int64_t rowLength(const OverlappedPlan& planes, std::int64_t shift, const TimeProgram& program,
                       const OverlappedOptions& options);
/// Whether StreamBuilder is for the program: it knows more about one function than
/// ProgramStreamBuilder, which is for all.
bool isOneFunction(const TimeProgram& program, const OverlappedOptions& options);
/// Of a program of one function. Throws Refused as planOverlapped() does.
StreamPlan planStream(const TimeProgram& program, const OverlappedOptions& options);

}  // namespace hpl::strategies::detail
