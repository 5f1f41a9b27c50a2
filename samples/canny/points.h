// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "samples/canny/values.h"
#include "stencil_templates/stencil_templates.h"

/// The steps of `canny`, as functions of a pixel and its neighbours.
namespace samples::canny {

// [style: point]
/// Smoothes one pixel, so that grain makes no edges.
inline Short smoothed(Neighbourhood<unsigned char, 2> pixel) {
  Int sum = kMaskSum / 2;  // rounds to nearest
  for (int dy = -2; dy <= 2; ++dy) {
    for (int dx = -2; dx <= 2; ++dx) sum += kFraction * kMask[dy + 2][dx + 2] * pixel(dy, dx);
  }
  return cast<short>(sum / kMaskSum);
}

/// The gradient after Sobel, as its squared length and its direction.
inline void slope(Neighbourhood<short, 2> s, Output<int> strength,
                  Output<unsigned char> direction) {
  Int right = s(-1, 1) + 2 * s(0, 1) + s(1, 1), left = s(-1, -1) + 2 * s(0, -1) + s(1, -1);
  Int below = s(1, -1) + 2 * s(1, 0) + s(1, 1), above = s(-1, -1) + 2 * s(-1, 0) + s(-1, 1);
  Int gx = right - left, gy = below - above;
  Int across = abs(gx), down = abs(gy);
  strength = gx * gx + gy * gy;
  direction = cast<unsigned char>(where(down * kSlopeAlong < across * kSlopeAcross, kHorizontal,
                                        where(across * kSlopeAlong < down * kSlopeAcross, kVertical,
                                              where((gx > 0) == (gy > 0), kFalling, kRising))));
}

/// The gradient if none of the two neighbours in its direction has a larger one; else 0.
inline Int ridge(Neighbourhood<int, 2> s, Neighbourhood<unsigned char, 2> direction) {
  Int here = s(), towards = direction();
  Int before =
      where(towards == kHorizontal, s(0, -1),
            where(towards == kVertical, s(-1, 0), where(towards == kFalling, s(-1, -1), s(-1, 1))));
  Int after =
      where(towards == kHorizontal, s(0, 1),
            where(towards == kVertical, s(1, 0), where(towards == kFalling, s(1, 1), s(1, -1))));
  return where(here >= before && here > after, here, 0);
}
// [end]

/// Tells strong edges, weak edges and the rest apart by the squared gradient.
inline Uchar labelled(Neighbourhood<int, 2> ridge, Int low, Int high) {
  return cast<unsigned char>(where(ridge() >= high, kStrong, where(ridge() >= low, kWeak, kNone)));
}

// [style: point]
/// Pixels at the border, which lack neighbours, are not smoothed and have no gradient.
inline Short scaled(Neighbourhood<unsigned char, 2> pixel) {
  return cast<short>(kFraction * pixel());
}
inline void flat(Neighbourhood<short, 2>, Output<int> strength, Output<unsigned char> direction) {
  strength = 0;
  direction = cast<unsigned char>(kHorizontal);
}
inline Int none(Neighbourhood<int, 2>) { return 0; }
// [end]

/// A weak pixel beside a strong one becomes strong.
inline Uchar grown(Neighbourhood<unsigned char, 2> label) {
  Int strongest = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) strongest = max(strongest, cast<int>(label(dy, dx)));
  }
  return cast<unsigned char>(where(label() == kWeak && strongest == kStrong, kStrong, label()));
}

}  // namespace samples::canny
