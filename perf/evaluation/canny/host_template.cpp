// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tuple>

#include "perf/evaluation/canny/host.h"
#include "perf/evaluation/canny/hysteresis.h"
#include "perf/evaluation/share_devices.h"
#include "samples/common/repeat.h"
#include "stencil_templates/stencil_templates.h"

namespace evaluation::canny {
namespace {

Int smoothed(AliasArray<unsigned char> pixel, Int row) {
  Int sum = kMaskSum / 2;  // rounds to nearest
  for (int dy = -2; dy <= 2; ++dy) {
    for (int dx = -2; dx <= 2; ++dx)
      sum += kFraction * kMask[dy + 2][dx + 2] * pixel[dy * row + dx];
  }
  return sum / kMaskSum;
}

/// The gradient after Sobel, as its squared length and its direction.
std::tuple<Int, Int> slope(AliasArray<short> s, Int row) {
  Int right = s[-row + 1] + 2 * s[1] + s[row + 1], left = s[-row - 1] + 2 * s[-1] + s[row - 1];
  Int below = s[row - 1] + 2 * s[row] + s[row + 1];
  Int above = s[-row - 1] + 2 * s[-row] + s[-row + 1];
  Int gx = right - left, gy = below - above;
  Int across = abs(gx), down = abs(gy);
  Int strength = gx * gx + gy * gy;
  Int direction = where(down * kSlopeAlong < across * kSlopeAcross, kHorizontal,
                        where(across * kSlopeAlong < down * kSlopeAcross, kVertical,
                              where((gx > 0) == (gy > 0), kFalling, kRising)));
  return {strength, direction};
}

/// The gradient if none of the two neighbours in its direction has a larger one; else 0.
std::tuple<Int> ridge(AliasArray<int> s, AliasArray<unsigned char> direction, Int row) {
  Int here = s[0], towards = direction[0];
  Int before = where(
      towards == kHorizontal, s[-1],
      where(towards == kVertical, s[-row], where(towards == kFalling, s[-row - 1], s[-row + 1])));
  Int after = where(
      towards == kHorizontal, s[1],
      where(towards == kVertical, s[row], where(towards == kFalling, s[row + 1], s[row - 1])));
  Int kept = where(here >= before && here > after, here, 0);
  return {kept};
}

void smoothByTemplate(Bytes picture, Shorts out, Array<unsigned char, 2, Local> tmp,
                      Array<int, 1> helper) {
  StencilKernel2D<2, 2, 2, 2>(picture, out, tmp, helper, smoothed);
}

void gradientByTemplate(Shorts s, Ints strength, Bytes direction, Array<short, 2, Local> tmp,
                        Array<int, 1> helper) {
  StencilKernel(inputs(input<1, 1, 1, 1>(s)), outputs(strength, direction), temps(tmp), helper,
                slope);
}

void thinByTemplate(Ints strength, Bytes direction, Ints ridges, Array<int, 2, Local> strengths,
                    Array<unsigned char, 2, Local> directions, Array<int, 1> helper) {
  StencilKernel(inputs(input<1, 1, 1, 1>(strength), input<0, 0, 0, 0>(direction)), outputs(ridges),
                temps(strengths, directions), helper, ridge);
}

}  // namespace

// [style: template]
Raster<unsigned char> runTemplate(const Raster<unsigned char>& picture, const Options& options,
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

  const int w = ghostWidth(options, kReach);
  const auto devices = shareDevices(plan);
  auto five = PrepareStencilKernel2D<2, 2, 2, 2>(PART1(pixels, w), devices);
  auto slopes = PrepareStencilKernel(inputs(input<1, 1, 1, 1>(PART1(smooth, w))), devices);
  auto ridge = PrepareStencilKernel(
      inputs(input<1, 1, 1, 1>(PART1(strength, w)), input<0, 0, 0, 0>(direction)), devices);
  std::vector<Array<int, 1>> grown = growthCounters(devices.size());
  const auto sweep = [&] {
    labels.syncGhosts();
    eval(growEdges).devices(devices)(PART1(other, w), PART1(labels, w), grown);
    swap(other, labels);
  };

  repeat(options.run.iterations, plan, progress, [&](int) {
    eval(smoothByTemplate)
        .devices(devices)
        .global(five.global)
        .local(five.local)(PART1(pixels, w), PART1(smooth, w), five.temp, five.helper);
    smooth.syncGhosts();
    eval(gradientByTemplate)
        .devices(devices)
        .global(slopes.global)
        .local(slopes.local)(PART1(smooth, w), PART1(strength, w), PART1(direction, w),
                             std::get<0>(slopes.temps), slopes.helper);
    strength.syncGhosts();
    direction.syncGhosts();
    eval(thinByTemplate)
        .devices(devices)
        .global(ridge.global)
        .local(ridge.local)(PART1(strength, w), PART1(direction, w), PART1(ridges, w),
                            std::get<0>(ridge.temps), std::get<1>(ridge.temps), ridge.helper);
    eval(classify).devices(devices)(PART1(labels, w), PART1(ridges, w), squared(options.low),
                                    squared(options.high));
    if (options.hysteresis) sweepAll(grown, sweep);
  });

  Raster<unsigned char> result(picture.extent());
  if (options.run.iterations > 0) labels.copyTo(result.data());
  return result;
}
// [end]

}  // namespace evaluation::canny
