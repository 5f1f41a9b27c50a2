// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/hpl.h"

/// The numbers that `canny` works with. All are integers, so results are the same on every device.
namespace samples::canny {

using namespace hpl;  // NOLINT: kernels are written in the words of the library

using Bytes = Array<unsigned char, 2>;
using Shorts = Array<short, 2>;
using Ints = Array<int, 2>;

// [style: byhand, template, plain, point]
/// The Gaussian of sigma 1.4, in parts of kMaskSum.
constexpr int kMask[5][5] = {
    {2, 4, 5, 4, 2}, {4, 9, 12, 9, 4}, {5, 12, 15, 12, 5}, {4, 9, 12, 9, 4}, {2, 4, 5, 4, 2}};
constexpr int kMaskSum = 159;

/// Smoothed pixels carry four bits of fraction.
constexpr int kFraction = 16;

/// tan(22.5 degrees) = sqrt(2) - 1 between whole numbers: no gradient of smoothed pixels lies
/// between the two slopes, and the products fit 32 bits.
constexpr int kSlopeAcross = 13860;
constexpr int kSlopeAlong = 33461;

/// Along which line a gradient points, in picture coordinates (y downwards).
constexpr int kHorizontal = 0, kVertical = 1, kFalling = 2, kRising = 3;

/// The values of a pixel after the double threshold.
constexpr unsigned char kNone = 0, kWeak = 128, kStrong = 255;
// [end]

/// A threshold of the gradient as one of its square, in the unit of smoothed pixels.
constexpr int squared(int gradient) { return kFraction * gradient * kFraction * gradient; }

}  // namespace samples::canny
