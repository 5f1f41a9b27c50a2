// SPDX-License-Identifier: Apache-2.0
#include "samples/common/picture.h"

#include <algorithm>
#include <cmath>

namespace samples {
namespace {

constexpr int kColors = 16;

/// Brightness of a block with `alive` of `cells` cells alive; anything alive is at least 3, which
/// is as dark as can still be told from the background.
unsigned char level(int alive, int cells) {
  if (alive == 0) return 0;
  const double root = std::sqrt(static_cast<double>(alive) / cells);
  return static_cast<unsigned char>(
      std::clamp(static_cast<int>(std::lround(root * (kColors - 1))), 3, kColors - 1));
}

void drawBlocks(GridView grid, int block, int width, std::vector<unsigned char>& indices) {
  std::vector<int> alive(static_cast<std::size_t>(width));
  std::size_t out = 0;
  for (int top = 0; top < grid.height; top += block) {
    const int bottom = std::min(grid.height, top + block);
    std::fill(alive.begin(), alive.end(), 0);
    for (int row = top; row < bottom; ++row) {
      for (int column = 0; column < grid.width; ++column) {
        alive[static_cast<std::size_t>(column / block)] += grid.alive(row, column) ? 1 : 0;
      }
    }
    for (int x = 0; x < width; ++x) {
      const int columns = std::min(grid.width - x * block, block);
      indices[out++] = level(alive[static_cast<std::size_t>(x)], columns * (bottom - top));
    }
  }
}

void drawSquares(GridView grid, int cell, int width, std::vector<unsigned char>& indices) {
  const int side = cell >= 4 ? cell - 1 : cell;
  for (int row = 0; row < grid.height; ++row) {
    for (int column = 0; column < grid.width; ++column) {
      if (!grid.alive(row, column)) continue;
      for (int y = row * cell; y < row * cell + side; ++y) {
        const std::size_t start = static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                                  static_cast<std::size_t>(column * cell);
        std::fill_n(indices.begin() + static_cast<std::ptrdiff_t>(start), side,
                    static_cast<unsigned char>(kColors - 1));
      }
    }
  }
}

}  // namespace

Scale Scale::fitting(GridView grid, int pixels) {
  const int longest = std::max(grid.width, grid.height);
  if (longest > pixels) return {1, (longest + pixels - 1) / pixels};
  return {pixels / longest, 1};
}

const std::vector<Color>& cellPalette() {
  // From a dark blue over teal to a warm white.
  static const std::vector<Color> palette = [] {
    constexpr double stops[3][3] = {{13, 17, 28}, {38, 166, 154}, {255, 241, 204}};
    std::vector<Color> colors;
    for (int i = 0; i < kColors; ++i) {
      const double position = 2.0 * i / (kColors - 1);
      const int from = std::min(1, static_cast<int>(position));
      unsigned char channel[3];
      for (int c = 0; c < 3; ++c) {
        const double value =
            stops[from][c] + (stops[from + 1][c] - stops[from][c]) * (position - from);
        channel[c] = static_cast<unsigned char>(std::lround(value));
      }
      colors.push_back({channel[0], channel[1], channel[2]});
    }
    return colors;
  }();
  return palette;
}

std::vector<unsigned char> drawCells(GridView grid, Scale scale) {
  const int width = scale.width(grid);
  std::vector<unsigned char> indices(static_cast<std::size_t>(width) *
                                     static_cast<std::size_t>(scale.height(grid)));
  if (scale.block > 1) {
    drawBlocks(grid, scale.block, width, indices);
  } else {
    drawSquares(grid, scale.cell, width, indices);
  }
  return indices;
}

Image cellImage(GridView grid, Scale scale) {
  Image image(scale.width(grid), scale.height(grid), Image::Format::Palette);
  image.palette = cellPalette();
  image.pixels = drawCells(grid, scale);
  return image;
}

}  // namespace samples
