// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "samples/gauss/weights.h"
#include "stencil_templates/stencil_templates.h"
#include "templates/by_hand.h"

/// GAUSS with its mask in an array, in global or in constant memory. Pixels at the border, which
/// lack neighbours, keep their values. The plain kernel and the launch-level stencil, which have
/// the mask as constants of their code, are those of samples/gauss.
namespace perf::templates {

using samples::gauss::kRadius;
using samples::gauss::kTaps;

// [style: byhand]
template <MemoryFlag Memory, int Points>
void gaussByHand(Array<float, 2> out, const Array<float, 2>& in, Array<float, 1, Memory> mask,
                 Int rows, Int columns) {
  Array<float, 2, Local> tile(kGroup + 2 * kRadius, kGroup * Points + 2 * kRadius);
  fillTile<kRadius, Points>(tile, in, rows, columns);
  barrier(LOCAL);
  for_(Int p = 0, p < Points, p++) {
    Int y = top() + lidy, x = left<Points>() + lidx + p * kGroup;
    if_(y >= kRadius && y + kRadius < rows && x >= kRadius && x + kRadius < columns) {
      Float mean = 0.0f;
      for_(Int j = 0, j < kTaps, j++) {
        for_(Int i = 0, i < kTaps, i++) {
          mean += mask[j * kTaps + i] * tile[lidy + j][lidx + p * kGroup + i];
        }
      }
      out[y][x] = mean;
    }
  }
}
// [end]

// [style: template]
template <MemoryFlag Memory>
Float gaussOfPoint(AliasArray<float> p, Int row, Array<float, 1, Memory> mask) {
  Float mean = 0.0f;
  for_(Int y = 0, y < kTaps, y++) {
    for_(Int x = 0, x < kTaps, x++) {
      mean += mask[y * kTaps + x] * p[(y - kRadius) * row + x - kRadius];
    }
  }
  return mean;
}

template <StencilForm Form, MemoryFlag Memory>
void gaussTemplate(Array<float, 2> in, Array<float, 2> out, Array<float, 2, Local> tmp,
                   Array<int, 1> helper, Array<float, 1, Memory> mask) {
  StencilKernel2D<kRadius, kRadius, kRadius, kRadius, Form>(in, out, tmp, helper,
                                                            gaussOfPoint<Memory>, mask);
}
// [end]

/// As lifeFilledByOneRow.
inline void gaussFilledByOneRow(Array<float, 2> out, const Array<float, 2>& in,
                                Array<float, 1> mask, Int rows, Int columns) {
  Array<float, 2, Local> tile(kGroup + 2 * kRadius, kGroup + 2 * kRadius);
  fillTileByOneRow<kRadius>(tile, in, rows, columns);
  barrier(LOCAL);
  Int y = top() + lidy, x = left<1>() + lidx;
  if_(y >= kRadius && y + kRadius < rows && x >= kRadius && x + kRadius < columns) {
    Float mean = 0.0f;
    for_(Int j = 0, j < kTaps, j++) {
      for_(Int i = 0, i < kTaps, i++) {
        mean += mask[j * kTaps + i] * tile[lidy + j][lidx + i];
      }
    }
    out[y][x] = mean;
  }
}

}  // namespace perf::templates
