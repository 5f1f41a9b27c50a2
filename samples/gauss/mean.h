// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include "samples/gauss/weights.h"
#include "stencil_templates/stencil_templates.h"

namespace samples::gauss {

using namespace hpl;  // NOLINT: point functions are written in the words of the library

// [style: point]
/// The weighted mean of the 11 x 11 neighbourhood of a pixel; a functor, because the weights are
/// host values, which become constants of the generated code.
struct Mean {
  std::array<float, kTaps * kTaps> weights;

  Float operator()(Neighbourhood<float, 2> pixel) const {
    Float mean = 0.0f;
    std::size_t tap = 0;
    for (int dy = -kRadius; dy <= kRadius; ++dy) {
      for (int dx = -kRadius; dx <= kRadius; ++dx) mean += weights[tap++] * pixel(dy, dx);
    }
    return mean;
  }
};
// [end]

}  // namespace samples::gauss
