// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "perf/evaluation/canny/kernels.h"
#include "perf/evaluation/row_parts.h"

namespace evaluation::canny {

// [style: subarrays, annotations]
/// The parts of arrays of one extent, and their ghosts, which are updated by hand.
struct RowViews {
  std::vector<Range> rows;  ///< of each device, ghosts included
  Range columns;            ///< all of them
  int ghosts;
  int fresh = ghosts;  ///< how many of the ghosts the kernels so far have left right

  template <class A>
  A& part(const A& array, std::size_t device) const {
    return array(rows[device], columns);
  }

  /// Gives the ghosts of each part the values of the parts that own them.
  template <class A>
  void update(const A& array) const {
    for (std::size_t d = 1; d < rows.size(); ++d) {
      A &lower = part(array, d - 1), &upper = part(array, d);
      const auto end = rows[d - 1].last - rows[d - 1].first;
      upper(Range(0, ghosts - 1), columns) =
          lower(Range(end - 2 * ghosts + 1, end - ghosts), columns);
      lower(Range(end - ghosts + 1, end), columns) = upper(Range(ghosts, 2 * ghosts - 1), columns);
    }
  }

  /// To be called before a kernel that reads `reach` rows up and down in arrays that the kernel
  /// before it wrote: its own results are right in `reach` fewer rows of ghosts.
  template <class... A>
  void prepare(int reach, const A&... arrays) {
    if (fresh < reach) {
      (update(arrays), ...);
      fresh = ghosts;
    }
    fresh -= reach;
  }
};
// [end]

}  // namespace evaluation::canny
