// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stencil_templates/stencil_templates.h"

/// JACOBI3D through the in-kernel template; the plain kernels and the launch-level stencils are
/// those of samples/jacobi3d. The paper wrote this application by hand, without local memory.
namespace perf::templates {

using namespace hpl;  // NOLINT: kernels are written in the words of the library

// [style: template]
inline Float jacobi7Point(AliasArray<float> p, Int row, Int plane) {
  return (p[-plane] + p[plane] + p[-row] + p[row] + p[-1] + p[1]) * (1.0f / 6.0f);
}

template <StencilForm Form>
void jacobi7Template(Array<float, 3> in, Array<float, 3> out, Array<float, 3, Local> tmp,
                     Array<int, 1> helper) {
  StencilKernel3D<1, 1, 1, 1, 1, 1, Form>(in, out, tmp, helper, jacobi7Point);
}

inline Float jacobi27Point(AliasArray<float> p, Int row, Int plane) {
  Float shells[3] = {0.0f, 0.0f, 0.0f};  // across faces, edges, corners
  for (int dz = -1; dz <= 1; ++dz) {
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        const int distance = std::abs(dz) + std::abs(dy) + std::abs(dx);
        if (distance > 0) shells[distance - 1] += p[dz * plane + dy * row + dx];
      }
    }
  }
  return (14.0f * shells[0] + 3.0f * shells[1] + shells[2]) * (1.0f / 128.0f);
}

template <StencilForm Form>
void jacobi27Template(Array<float, 3> in, Array<float, 3> out, Array<float, 3, Local> tmp,
                      Array<int, 1> helper) {
  StencilKernel3D<1, 1, 1, 1, 1, 1, Form>(in, out, tmp, helper, jacobi27Point);
}
// [end]

}  // namespace perf::templates
