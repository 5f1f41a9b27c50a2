// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/evaluation/canny/kernels.h"
#include "stencil_templates/stencil_templates.h"
#include "templates/by_hand.h"

/// The three stencils of CANNY; its fourth kernel, the plain ones and the launch-level stencils are
/// those of samples/canny. Pixels at the border are left as they are.
namespace perf::templates {

using samples::canny::kFalling;
using samples::canny::kFraction;
using samples::canny::kHorizontal;
using samples::canny::kMask;
using samples::canny::kMaskSum;
using samples::canny::kRising;
using samples::canny::kSlopeAcross;
using samples::canny::kSlopeAlong;
using samples::canny::kVertical;

using Bytes = Array<unsigned char, 2>;
using Shorts = Array<short, 2>;
using Ints = Array<int, 2>;

// [style: byhand, template]
/// Along which line the gradient points.
inline auto directionOf(const Int& gx, const Int& gy) {
  Int across = abs(gx), down = abs(gy);
  return where(down * kSlopeAlong < across * kSlopeAcross, kHorizontal,
               where(across * kSlopeAlong < down * kSlopeAcross, kVertical,
                     where((gx > 0) == (gy > 0), kFalling, kRising)));
}
// [end]

// [style: byhand]
/// Whether an element has `reach` neighbours on each side.
inline auto hasNeighbours(int reach, const Int& y, const Int& x, const Int& rows,
                          const Int& columns) {
  return y >= reach && y + reach < rows && x >= reach && x + reach < columns;
}

template <int Points>
void smoothByHand(Shorts out, const Bytes& in, Int rows, Int columns) {
  Array<unsigned char, 2, Local> tile(kGroup + 4, kGroup * Points + 4);
  fillTile<2, Points>(tile, in, rows, columns);
  barrier(LOCAL);
  for_(Int p = 0, p < Points, p++) {
    Int y = top() + lidy, x = left<Points>() + lidx + p * kGroup;
    if_(hasNeighbours(2, y, x, rows, columns)) {
      Int sum = kMaskSum / 2;
      for (int j = 0; j < 5; ++j) {
        for (int i = 0; i < 5; ++i)
          sum += kFraction * kMask[j][i] * tile[lidy + j][lidx + p * kGroup + i];
      }
      out[y][x] = sum / kMaskSum;
    }
  }
}

template <int Points>
void gradientByHand(Ints strength, Bytes direction, const Shorts& in, Int rows, Int columns) {
  Array<short, 2, Local> s(kGroup + 2, kGroup * Points + 2);
  fillTile<1, Points>(s, in, rows, columns);
  barrier(LOCAL);
  for_(Int p = 0, p < Points, p++) {
    Int j = lidy + 1, i = lidx + p * kGroup + 1;
    Int y = top() + lidy, x = left<Points>() + lidx + p * kGroup;
    if_(hasNeighbours(1, y, x, rows, columns)) {
      Int right = s[j - 1][i + 1] + 2 * s[j][i + 1] + s[j + 1][i + 1];
      Int left = s[j - 1][i - 1] + 2 * s[j][i - 1] + s[j + 1][i - 1];
      Int below = s[j + 1][i - 1] + 2 * s[j + 1][i] + s[j + 1][i + 1];
      Int above = s[j - 1][i - 1] + 2 * s[j - 1][i] + s[j - 1][i + 1];
      Int gx = right - left, gy = below - above;
      strength[y][x] = gx * gx + gy * gy;
      direction[y][x] = directionOf(gx, gy);
    }
  }
}

template <int Points>
void thinByHand(Ints ridges, const Ints& strength, const Bytes& direction, Int rows, Int columns) {
  Array<int, 2, Local> s(kGroup + 2, kGroup * Points + 2);
  fillTile<1, Points>(s, strength, rows, columns);
  barrier(LOCAL);
  for_(Int p = 0, p < Points, p++) {
    Int j = lidy + 1, i = lidx + p * kGroup + 1;
    Int y = top() + lidy, x = left<Points>() + lidx + p * kGroup;
    if_(hasNeighbours(1, y, x, rows, columns)) {
      Int here = s[j][i], towards = direction[y][x];
      Int before = where(towards == kHorizontal, s[j][i - 1],
                         where(towards == kVertical, s[j - 1][i],
                               where(towards == kFalling, s[j - 1][i - 1], s[j - 1][i + 1])));
      Int after = where(towards == kHorizontal, s[j][i + 1],
                        where(towards == kVertical, s[j + 1][i],
                              where(towards == kFalling, s[j + 1][i + 1], s[j + 1][i - 1])));
      ridges[y][x] = where(here >= before && here > after, here, 0);
    }
  }
}
// [end]

// [style: template]
inline Int smoothPoint(AliasArray<unsigned char> p, Int row) {
  Int sum = kMaskSum / 2;
  for (int dy = -2; dy <= 2; ++dy) {
    for (int dx = -2; dx <= 2; ++dx) sum += kFraction * kMask[dy + 2][dx + 2] * p[dy * row + dx];
  }
  return sum / kMaskSum;
}

template <StencilForm Form>
void smoothTemplate(Bytes in, Shorts out, Array<unsigned char, 2, Local> tmp,
                    Array<int, 1> helper) {
  StencilKernel2D<2, 2, 2, 2, Form>(in, out, tmp, helper, smoothPoint);
}

inline std::tuple<Int, Int> gradientPoint(AliasArray<short> s, Int row) {
  Int right = s[-row + 1] + 2 * s[1] + s[row + 1], left = s[-row - 1] + 2 * s[-1] + s[row - 1];
  Int below = s[row - 1] + 2 * s[row] + s[row + 1], above = s[-row - 1] + 2 * s[-row] + s[-row + 1];
  Int gx = right - left, gy = below - above;
  Int length = gx * gx + gy * gy, direction = directionOf(gx, gy);
  return {length, direction};
}

template <StencilForm Form>
void gradientTemplate(Shorts in, Ints strength, Bytes direction, Array<short, 2, Local> tmp,
                      Array<int, 1> helper) {
  StencilKernel<Form>(inputs(input<1, 1, 1, 1>(in)), outputs(strength, direction), temps(tmp),
                      helper, gradientPoint);
}

inline Int thinPoint(AliasArray<int> s, AliasArray<unsigned char> direction, Int row) {
  Int here = s[0], towards = direction[0];
  Int before = where(
      towards == kHorizontal, s[-1],
      where(towards == kVertical, s[-row], where(towards == kFalling, s[-row - 1], s[-row + 1])));
  Int after = where(
      towards == kHorizontal, s[1],
      where(towards == kVertical, s[row], where(towards == kFalling, s[row + 1], s[row - 1])));
  return where(here >= before && here > after, here, 0);
}

template <StencilForm Form>
void thinTemplate(Ints strength, Bytes direction, Ints ridges, Array<int, 2, Local> tmp,
                  Array<unsigned char, 2, Local> tmpDirection, Array<int, 1> helper) {
  StencilKernel<Form>(inputs(input<1, 1, 1, 1>(strength), input<0, 0, 0, 0>(direction)),
                      outputs(ridges), temps(tmp, tmpDirection), helper, thinPoint);
}
// [end]

}  // namespace perf::templates
