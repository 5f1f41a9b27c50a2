// SPDX-License-Identifier: Apache-2.0
#include "samples/shwa/draw.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace samples::shwa {
namespace {

constexpr int kLandShades = 64;
constexpr int kLights = 12;
constexpr int kTints = 16;

unsigned char channel(double value) {
  return static_cast<unsigned char>(std::lround(std::clamp(value, 0.0, 255.0)));
}

/// From `a` to `b`, t from 0 to 1, times a brightness.
Color between(const Color& a, const Color& b, double t, double light = 1) {
  return {channel(light * (a.red + t * (b.red - a.red))),
          channel(light * (a.green + t * (b.green - a.green))),
          channel(light * (a.blue + t * (b.blue - a.blue)))};
}

/// The number of the step, of n, into which `t` falls (0 to 1; values outside are cut).
int stepOf(double t, int n) { return std::clamp(static_cast<int>(t * n), 0, n - 1); }

}  // namespace

Painter::Painter(const Input& input, int pixels)
    : ground_(input.ground), cellSize_(input.cellSize) {
  const int rows = ground_.height() - 2;
  const int columns = ground_.width() - 2;
  if (rows < 1 || columns < 1) throw std::invalid_argument("a basin needs at least 3 x 3 cells");
  const int longer = std::max(rows, columns);
  zoom_ = std::max(1, pixels / longer);
  every_ = std::max(1, (longer + pixels - 1) / pixels);
  width_ = (columns + every_ - 1) / every_ * zoom_;
  height_ = (rows + every_ - 1) / every_ * zoom_;
  lowest_ = highest_ = ground_.at(1, 1);
  for (int row = 1; row <= rows; ++row) {
    for (int column = 1; column <= columns; ++column) {
      lowest_ = std::min(lowest_, ground_.at(row, column));
      highest_ = std::max(highest_, ground_.at(row, column));
    }
  }
}

const std::vector<Color>& Painter::palette() {
  static const std::vector<Color> colors = [] {
    std::vector<Color> list;
    const Color meadow = {126, 140, 84};
    const Color soil = {150, 118, 82};
    const Color rock = {226, 218, 206};
    for (int i = 0; i < kLandShades; ++i) {
      const double t = i / (kLandShades - 1.0);
      list.push_back(t < 0.5 ? between(meadow, soil, 2 * t) : between(soil, rock, 2 * t - 1));
    }
    const Color clean = {70, 140, 220};
    const Color polluted = {235, 60, 90};
    for (int light = 0; light < kLights; ++light) {
      for (int tint = 0; tint < kTints; ++tint) {
        list.push_back(
            between(clean, polluted, tint / (kTints - 1.0), 0.4 + 0.75 * light / (kLights - 1)));
      }
    }
    return list;
  }();
  return colors;
}

unsigned char Painter::landColor(float height) const {
  const double range = std::max(highest_ - lowest_, 1e-3f);
  return static_cast<unsigned char>(stepOf((height - lowest_) / range, kLandShades));
}

unsigned char Painter::color(const Raster<Cell>& cells, int row, int column) const {
  const Cell& cell = cells.at(row, column);
  const float ground = ground_.at(row, column);
  if (!(cell.depth > 0.01f)) return landColor(ground);
  // The surface falls towards a neighbour only if there is water, not where a shore rises.
  const auto fall = [&](int r, int c) {
    if (!(cells.at(r, c).depth > 0.01f)) return 0.0f;
    return (cell.depth + ground) - (cells.at(r, c).depth + ground_.at(r, c));
  };
  const float slope = (fall(row, column + 1) + fall(row + 1, column)) / cellSize_;
  const double light = 0.62 - 0.02 * std::min(cell.depth, 15.0f) + 4.0 * slope;
  const double tint = std::sqrt(std::max(0.0f, cell.pollutant / cell.depth));
  return static_cast<unsigned char>(kLandShades + stepOf(light, kLights) * kTints +
                                    stepOf(tint, kTints));
}

std::vector<unsigned char> Painter::indices(const Raster<Cell>& cells) const {
  std::vector<unsigned char> pixels;
  pixels.reserve(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_));
  for (int y = 0; y < height_; ++y) {
    for (int x = 0; x < width_; ++x) {
      pixels.push_back(color(cells, 1 + y / zoom_ * every_, 1 + x / zoom_ * every_));
    }
  }
  return pixels;
}

Image Painter::image(const Raster<Cell>& cells) const {
  Image image(width_, height_, Image::Format::Palette);
  image.palette = palette();
  image.pixels = indices(cells);
  return image;
}

}  // namespace samples::shwa
