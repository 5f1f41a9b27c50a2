// SPDX-License-Identifier: Apache-2.0
#pragma once

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

  /// Planes of one state of a field that are kept.
  std::int64_t ring(bool isWritten) const {
    // What never changes waits for the last step to get there.
    return before + (isWritten ? lag : lag * depth) + 1;
  }
  /// Planes that a field needs: those of all states; of the last one, only the present.
  std::int64_t slots(bool isWritten) const {
    return isWritten ? depth * ring(true) + 1 : ring(false);
  }
};

/// Throws Refused for programs that are not streamable, and as planOverlapped() does.
StreamPlan planStream(const TimeProgram& program, const OverlappedOptions& options);

}  // namespace hpl::strategies::detail
