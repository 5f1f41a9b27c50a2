// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "samples/canny/host.h"
#include "samples/canny/hysteresis.h"
#include "samples/common/plan_devices.h"
#include "samples/common/repeat.h"

namespace samples::canny {
namespace {

// [style: point]
Short smoothed(Neighbourhood<unsigned char, 2> pixel) {
  Int sum = kMaskSum / 2;  // rounds to nearest
  for (int dy = -2; dy <= 2; ++dy) {
    for (int dx = -2; dx <= 2; ++dx) sum += kFraction * kMask[dy + 2][dx + 2] * pixel(dy, dx);
  }
  return cast<short>(sum / kMaskSum);
}

/// The gradient after Sobel, as its squared length and its direction.
void slope(Neighbourhood<short, 2> s, Output<int> strength, Output<unsigned char> direction) {
  Int right = s(-1, 1) + 2 * s(0, 1) + s(1, 1), left = s(-1, -1) + 2 * s(0, -1) + s(1, -1);
  Int below = s(1, -1) + 2 * s(1, 0) + s(1, 1), above = s(-1, -1) + 2 * s(-1, 0) + s(-1, 1);
  Int gx = right - left, gy = below - above;
  Int across = cast<int>(abs(gx)), down = cast<int>(abs(gy));
  strength = gx * gx + gy * gy;
  direction = cast<unsigned char>(where(down * kSlopeAlong < across * kSlopeAcross, kHorizontal,
                                        where(across * kSlopeAlong < down * kSlopeAcross, kVertical,
                                              where((gx > 0) == (gy > 0), kFalling, kRising))));
}

/// The gradient if none of the two neighbours in its direction has a larger one; else 0.
Int ridge(Neighbourhood<int, 2> s, Neighbourhood<unsigned char, 2> direction) {
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

/// A weak pixel beside a strong one becomes strong.
Uchar grown(Neighbourhood<unsigned char, 2> label) {
  Int strongest = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) strongest = max(strongest, cast<int>(label(dy, dx)));
  }
  return cast<unsigned char>(where(label() == kWeak && strongest == kStrong, kStrong, label()));
}

std::ptrdiff_t countStrong(const Bytes& labels) {
  return std::count(labels.begin(), labels.end(), kStrong);
}

void linkEdges(Bytes& labels, Bytes& other, const StencilLauncher& grow) {
  other = labels;  // pixels at the border keep their labels
  for (std::ptrdiff_t before = -1, now = countStrong(labels); now != before;) {
    for (int i = 0; i < kSweeps; ++i) {
      grow(labels, other);
      swap(other, labels);
    }
    before = std::exchange(now, countStrong(labels));
  }
}

}  // namespace

// [style: stencil]
Raster<unsigned char> runStencil(const Raster<unsigned char>& picture, const Options& options,
                                 const ExecutionPlan& plan, Progress& progress) {
  const int rows = picture.height(), columns = picture.width();
  Bytes pixels(rows, columns), direction(rows, columns), labels(rows, columns),
      other(rows, columns);
  Shorts smooth(rows, columns);
  Ints strength(rows, columns), ridges(rows, columns);
  pixels.copyFrom(picture.data());
  // Pixels at the border have no gradient and are not smoothed.
  strength = 0;
  ridges = 0;
  direction = static_cast<unsigned char>(kHorizontal);
  std::transform(pixels.begin(), pixels.end(), smooth.begin(),
                 [](unsigned char pixel) { return static_cast<short>(kFraction * pixel); });

  const Stencil smoothing(smoothed), sloping(slope), thinning(ridge), growing(grown);
  const auto smoothThem = onDevices(smoothing, plan), slopeThem = onDevices(sloping, plan),
             thinThem = onDevices(thinning, plan), growThem = onDevices(growing, plan);
  repeat(options.run.iterations, plan, progress, [&](int) {
    smoothThem(pixels, smooth);
    slopeThem(smooth, strength, direction);
    thinThem(strength, direction, ridges);
    eval(classify).plan(plan)(labels, ridges, squared(options.low), squared(options.high));
    if (options.hysteresis) linkEdges(labels, other, growThem);
  });

  Raster<unsigned char> result(picture.extent());
  if (options.run.iterations > 0) labels.copyTo(result.data());
  return result;
}
// [end]

}  // namespace samples::canny
