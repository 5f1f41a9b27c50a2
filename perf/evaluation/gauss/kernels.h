// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "hpl/hpl.h"
#include "samples/gauss/weights.h"

/// The plain kernel of `gauss`.
namespace evaluation::gauss {

using namespace hpl;  // NOLINT: kernels are written in the words of the library

using samples::gauss::gaussianWeights;
using samples::gauss::kRadius;
using samples::gauss::kTaps;

using Picture = Array<float, 2>;

// [style: plain]
/// Replaces a pixel by the weighted mean of its 11 x 11 neighbourhood. Pixels at the border, which
/// lack neighbours, keep their value.
///
/// A functor, because its members are host values: the C++ loops run while the kernel is captured,
/// and the generated code has 121 products with the weights as constants. From an array of weights
/// PoCL 3.1 makes code that is eight times slower (with default floating point).
struct Smooth {
  std::array<float, kTaps * kTaps> weights;

  void operator()(Picture next, const Picture& now) const {
    Float mean = now[idy][idx];
    if_(idx >= kRadius && idx + kRadius < szx && idy >= kRadius && idy + kRadius < szy) {
      mean = 0.0f;
      std::size_t tap = 0;
      for (int dy = -kRadius; dy <= kRadius; ++dy) {
        for (int dx = -kRadius; dx <= kRadius; ++dx) {
          mean += weights[tap++] * now[idy + dy][idx + dx];
        }
      }
    }
    next[idy][idx] = mean;
  }
};
// [end]

}  // namespace evaluation::gauss
