// SPDX-License-Identifier: Apache-2.0
#include "hpl/io/color_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "hpl/error.h"
#include "hpl/io/detail/scaling.h"

namespace hpl::io {
namespace {

constexpr int kColors = 256;

/// Red, green and blue from 0 to 1 as polynomials of the place on the map, constants first.
using Fit = double[7][3];

constexpr Fit kViridis = {
    {0.2777273272, 0.0054073445, 0.3340998053},   {0.1050930431, 1.4046135299, 1.3845901626},
    {-0.3308618287, 0.2148475595, 0.0950951630},  {-4.6342304990, -5.7991009734, -19.3324409563},
    {6.2282699363, 14.1799333668, 56.6905526007}, {4.7763849977, -13.7451453777, -65.3530326334},
    {-5.4354558559, 4.6458526122, 26.3124352496}};
constexpr Fit kInferno = {
    {0.0002189404, 0.0016510046, -0.0194808984},     {0.1065134195, 0.5639564368, 3.9327123889},
    {11.6024930825, -3.9728539657, -15.9423941063},  {-41.7039961314, 17.4363988821, 44.3541451987},
    {77.1629356994, -33.4023589421, -81.8073092574}, {-71.3194282450, 32.6260642640, 73.2095198580},
    {25.1311262248, -12.2426689524, -23.0703250029}};
constexpr Fit kMagma = {
    {-0.0021364851, -0.0007496551, -0.0053861279},  {0.2516605407, 0.6775232437, 2.4940265993},
    {8.3537172792, -3.5777195150, 0.3144679030},    {-27.6687330858, 14.2647307810, -13.6492131881},
    {52.1761398123, -27.9436060717, 12.9441694424}, {-50.7685253647, 29.0465828213, 4.2341529938},
    {18.6557050659, -11.4897735200, -5.6019615087}};
constexpr Fit kCoolwarm = {
    {0.2284927239, 0.2890337658, 0.7544508730},     {1.2044253071, 2.2997641151, 1.5589046999},
    {0.0936707247, -7.2787120033, -1.8751359841},   {2.2406911397, 32.2227939604, -1.5854721222},
    {-5.1303760620, -74.6690017529, -3.7416216293}, {1.4142582087, 72.7996734412, 9.5723742192},
    {0.6574537979, -25.6334286907, -4.5373888454}};

unsigned char channel(const Fit& fit, double t, int which) {
  double value = 0;
  for (int power = 6; power >= 0; --power) value = value * t + fit[power][which];
  return static_cast<unsigned char>(std::lround(255 * std::clamp(value, 0.0, 1.0)));
}

ColorMap mapOf(const Fit& fit) {
  ColorMap colors;
  for (int i = 0; i < kColors; ++i) {
    const double t = i / (kColors - 1.0);
    colors.push_back({channel(fit, t, 0), channel(fit, t, 1), channel(fit, t, 2)});
  }
  return colors;
}

}  // namespace

const ColorMap& viridis() {
  static const ColorMap colors = mapOf(kViridis);
  return colors;
}
const ColorMap& inferno() {
  static const ColorMap colors = mapOf(kInferno);
  return colors;
}
const ColorMap& magma() {
  static const ColorMap colors = mapOf(kMagma);
  return colors;
}
const ColorMap& gray() {
  static const ColorMap colors = mapOf({{0, 0, 0}, {1, 1, 1}, {}, {}, {}, {}, {}});
  return colors;
}
const ColorMap& coolwarm() {
  static const ColorMap colors = mapOf(kCoolwarm);
  return colors;
}

ColorScale::ColorScale(ColorMap colors) : colors_(std::move(colors)) {
  if (colors_.size() < 2 || colors_.size() > kColors) {
    throw ArgumentError(
        fmt::format("a colour map has 2 to 256 colours, this one has {}", colors_.size()));
  }
}

ColorScale& ColorScale::range(double low, double high) {
  if (!std::isfinite(low) || !std::isfinite(high) || !(low < high)) {
    throw ArgumentError(fmt::format(
        "a colour scale needs a finite range low < high, got {} to {}; leave the range out to have "
        "it found",
        low, high));
  }
  range_ = {low, high};
  return *this;
}

ColorScale& ColorScale::nan(Color color) {
  nan_ = color;
  return *this;
}

ColorScale& ColorScale::zoom(int pixels) {
  if (pixels < 1) {
    throw ArgumentError(
        fmt::format("a value is drawn as a square of at least one pixel, got zoom({})", pixels));
  }
  zoom_ = pixels;
  return *this;
}

namespace detail {

Image colorImage(const Cells& cells, const ColorScale& scale) {
  const auto [width, height] = pixelsOf(cells.layout, scale.zoom());
  const std::vector<short> indices =
      indicesOf(cells, rangeFor(cells, scale), static_cast<int>(scale.colors().size()));
  const bool hasNan = std::find(indices.begin(), indices.end(), kNan) != indices.end();
  Image image(width, height, hasNan ? Image::Format::Rgb : Image::Format::Palette);
  if (!hasNan) image.palette = scale.colors();
  const std::int64_t columns = cells.layout.extents[1];
  for (int y = 0; y < height; ++y) {
    const short* row = indices.data() + y / scale.zoom() * columns;
    for (int x = 0; x < width; ++x) {
      const short index = row[x / scale.zoom()];
      unsigned char* pixel = image.pixel(x, y);
      if (!hasNan) {
        *pixel = static_cast<unsigned char>(index);
        continue;
      }
      const Color color =
          index == kNan ? scale.nan() : scale.colors()[static_cast<std::size_t>(index)];
      pixel[0] = color.red;
      pixel[1] = color.green;
      pixel[2] = color.blue;
    }
  }
  return image;
}

}  // namespace detail
}  // namespace hpl::io
