// SPDX-License-Identifier: Apache-2.0
#include "samples/common/test_picture.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace samples {
namespace {

/// Grain of mean 0, between -1 and 1, from the position alone (a hash, so that no order of the
/// loops shows).
double grain(int row, int column) {
  auto h = static_cast<std::uint32_t>(row) * 0x9E3779B1u ^
           static_cast<std::uint32_t>(column) * 0x85EBCA77u;
  h = (h ^ h >> 15) * 0x2C1B3C6Du;
  h = (h ^ h >> 12) * 0x297A2D39u;
  return static_cast<double>(h ^ h >> 15) / 2147483648.0 - 1.0;
}

bool within(double x, double y, double left, double top, double right, double bottom) {
  return x >= left && x < right && y >= top && y < bottom;
}

/// The sphere's brightness, lit from the upper left; negative outside.
double sphere(double x, double y) {
  const double dx = (x - 0.28) / 0.2;
  const double dy = (y - 0.3) / 0.2;
  const double across = dx * dx + dy * dy;
  if (across >= 1) return -1;
  const double light = (-0.5 * dx - 0.6 * dy + 0.62 * std::sqrt(1 - across));
  return 30 + 210 * std::max(0.0, light);
}

/// Brightness at (x, y), both from 0 to 1, x to the right and y downwards.
double scene(double x, double y) {
  if (const double light = sphere(x, y); light >= 0) return light;
  const double sx = x - 0.74;
  const double sy = y - 0.28;
  if (sx * sx + sy * sy < 0.2 * 0.2) {
    return std::sin(24 * std::atan2(sy, sx)) > 0 ? 215 : 45;
  }
  if (within(x, y, 0.08, 0.62, 0.42, 0.9)) {
    // Bars that get narrower to the right.
    return std::sin(2 * std::numbers::pi * 6 / (1.25 - 2.4 * (x - 0.08))) > 0 ? 200 : 70;
  }
  if (within(x, y, 0.52, 0.62, 0.72, 0.9)) {
    return (static_cast<int>(x * 50) + static_cast<int>(y * 50)) % 2 == 0 ? 230 : 25;
  }
  const double background = 90 + 80 * x;
  return within(x, y, 0.79, 0.64, 0.94, 0.88) ? background - 14 : background;
}

}  // namespace

Raster<unsigned char> testPicture(Extent extent) {
  Raster<unsigned char> picture(extent);
  for (int row = 0; row < extent.height; ++row) {
    for (int column = 0; column < extent.width; ++column) {
      // The mean of four points per pixel, so that edges are as soft as a lens makes them.
      double sum = 0;
      for (int part = 0; part < 4; ++part) {
        sum += scene((column + 0.25 + 0.5 * (part % 2)) / extent.width,
                     (row + 0.25 + 0.5 * (part / 2)) / extent.height);
      }
      const double value = 0.25 * sum + 4 * grain(row, column);
      picture.at(row, column) =
          static_cast<unsigned char>(std::lround(std::clamp(value, 0.0, 255.0)));
    }
  }
  return picture;
}

}  // namespace samples
