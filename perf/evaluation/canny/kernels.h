// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "samples/canny/values.h"

/// `canny` as plain kernels. The pixels at the border, which lack neighbours, are not filtered; all
/// of the reads are at constant distances from the thread's own pixel.
namespace evaluation::canny {

using namespace samples::canny;  // NOLINT: what kernels have in common with the sample

/// Rows up and down that a kernel reads at most: ghosts that a part needs.
constexpr int kReach = 2;

// [style: plain]
/// Whether the thread's pixel has `radius` neighbours on each side.
inline auto inside(int radius) {
  return idx >= radius && idx + radius < szx && idy >= radius && idy + radius < szy;
}

/// Kernel 1: smoothes, so that grain makes no edges. The C++ loops run while the kernel is
/// captured: the generated code has 25 products.
inline void smooth(Shorts smoothed, const Bytes& picture) {
  if_(inside(2)) {
    Int sum = kMaskSum / 2;  // rounds to nearest
    for (int dy = -2; dy <= 2; ++dy) {
      for (int dx = -2; dx <= 2; ++dx) {
        sum += kFraction * kMask[dy + 2][dx + 2] * picture[idy + dy][idx + dx];
      }
    }
    smoothed[idy][idx] = sum / kMaskSum;
  }
  else_ { smoothed[idy][idx] = kFraction * picture[idy][idx]; }
}

/// Kernel 2: the gradient after Sobel, as its squared length and its direction.
inline void gradient(Ints strength, Bytes direction, const Shorts& s) {
  if_(inside(1)) {
    Int right = s[idy - 1][idx + 1] + 2 * s[idy][idx + 1] + s[idy + 1][idx + 1];
    Int left = s[idy - 1][idx - 1] + 2 * s[idy][idx - 1] + s[idy + 1][idx - 1];
    Int below = s[idy + 1][idx - 1] + 2 * s[idy + 1][idx] + s[idy + 1][idx + 1];
    Int above = s[idy - 1][idx - 1] + 2 * s[idy - 1][idx] + s[idy - 1][idx + 1];
    Int gx = right - left, gy = below - above;
    Int across = abs(gx), down = abs(gy);
    strength[idy][idx] = gx * gx + gy * gy;
    direction[idy][idx] = where(down * kSlopeAlong < across * kSlopeAcross, kHorizontal,
                                where(across * kSlopeAlong < down * kSlopeAcross, kVertical,
                                      where((gx > 0) == (gy > 0), kFalling, kRising)));
  }
  else_ {
    strength[idy][idx] = 0;
    direction[idy][idx] = kHorizontal;
  }
}

/// Kernel 3: keeps a pixel's gradient if none of its two neighbours in the gradient's direction has
/// a larger one, so that edges become one pixel wide. If two are equal, the second one counts.
inline void thin(Ints ridges, const Ints& strength, const Bytes& direction) {
  if_(inside(1)) {
    Int here = strength[idy][idx], towards = direction[idy][idx];
    Int before = where(
        towards == kHorizontal, strength[idy][idx - 1],
        where(towards == kVertical, strength[idy - 1][idx],
              where(towards == kFalling, strength[idy - 1][idx - 1], strength[idy - 1][idx + 1])));
    Int after = where(
        towards == kHorizontal, strength[idy][idx + 1],
        where(towards == kVertical, strength[idy + 1][idx],
              where(towards == kFalling, strength[idy + 1][idx + 1], strength[idy + 1][idx - 1])));
    ridges[idy][idx] = where(here >= before && here > after, here, 0);
  }
  else_ { ridges[idy][idx] = 0; }
}
// [end]

// [style: byhand, template, plain, point]
/// Kernel 4: tells strong edges, weak edges and the rest apart by the squared gradient.
inline void classify(Bytes labels, const Ints& ridges, Int low, Int high) {
  Int ridge = ridges[idy][idx];
  labels[idy][idx] = where(ridge >= high, kStrong, where(ridge >= low, kWeak, kNone));
}
// [end]

/// Whether the thread's pixel is weak and one of its neighbours is strong.
inline auto grows(const Bytes& labels) {
  Int strongest = 0;
  if_(inside(1)) {
    if_(labels[idy][idx] == kWeak) {
      for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx)
          strongest = max(strongest, cast<int>(labels[idy + dy][idx + dx]));
      }
    }
  }
  return strongest == kStrong;
}

/// One sweep of the hysteresis: a weak pixel beside a strong one becomes strong. `grown` counts
/// such pixels.
inline void growEdges(Bytes next, const Bytes& now, Array<int, 1> grown) {
  Int label = now[idy][idx];
  if_(grows(now)) {
    label = kStrong;
    atomic_inc(grown[0]);
  }
  next[idy][idx] = label;
}

/// The same for automatic distribution, which refuses atomics: they would count for each device.
inline void growEdgesUncounted(Bytes next, const Bytes& now) {
  Int label = now[idy][idx];
  if_(grows(now)) {
    label = kStrong;
  }
  next[idy][idx] = label;
}

}  // namespace evaluation::canny
