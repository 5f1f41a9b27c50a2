// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "samples/shwa/kernels.h"
#include "samples/shwa/options.h"

namespace samples::shwa {

/// The arrays of a run, with the water of its beginning, and numbers that the kernels want.
struct Basin {
  Basin(const Input& input, const Options& options);

  /// The contents of the arrays after `steps` steps.
  State state(int steps) const;

  Water water, change;
  Heights ground, speed;
  Array<float, 1> clock;
  int rows, columns;
  float cellSize;  ///< metres
  float reach;     ///< how far the fastest wave may go in a step, in metres
};

}  // namespace samples::shwa
