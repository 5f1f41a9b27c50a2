// SPDX-License-Identifier: Apache-2.0
#include "samples/common/color_map.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace samples {
namespace {

constexpr double kFit[7][3] = {
    {0.2777273272, 0.0054073445, 0.3340998053},   {0.1050930431, 1.4046135299, 1.3845901626},
    {-0.3308618287, 0.2148475595, 0.0950951630},  {-4.6342304990, -5.7991009734, -19.3324409563},
    {6.2282699363, 14.1799333668, 56.6905526007}, {4.7763849977, -13.7451453777, -65.3530326334},
    {-5.4354558559, 4.6458526122, 26.3124352496}};

unsigned char channel(double t, int which) {
  double value = 0;
  for (int power = 6; power >= 0; --power) value = value * t + kFit[power][which];
  return static_cast<unsigned char>(std::lround(255 * std::clamp(value, 0.0, 1.0)));
}

}  // namespace

const std::vector<Color>& viridis() {
  static const std::vector<Color> colors = [] {
    std::vector<Color> list;
    for (int i = 0; i < 256; ++i) {
      const double t = i / 255.0;
      list.push_back({channel(t, 0), channel(t, 1), channel(t, 2)});
    }
    return list;
  }();
  return colors;
}

Image colorImage(const Raster<float>& values, float low, float high, int cell) {
  if (!(low < high) || cell < 1) {
    throw std::invalid_argument("colorImage needs low < high and cells of at least one pixel");
  }
  Image image(values.width() * cell, values.height() * cell, Image::Format::Palette);
  image.palette = viridis();
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      const float t = (values.at(y / cell, x / cell) - low) / (high - low);
      // Negated, so that NaN gets the first colour.
      const float inside = !(t > 0) ? 0.0f : std::min(t, 1.0f);
      *image.pixel(x, y) = static_cast<unsigned char>(std::lround(255 * inside));
    }
  }
  return image;
}

}  // namespace samples
