// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "samples/common/grid.h"
#include "samples/common/io.h"

namespace samples {

/// How cells become pixels: either every cell is a square of `cell` pixels, or every pixel shows
/// the density of a square of `block` cells. At least one of the two is 1.
struct Scale {
  int cell = 1;
  int block = 1;

  int width(GridView grid) const { return (grid.width + block - 1) / block * cell; }
  int height(GridView grid) const { return (grid.height + block - 1) / block * cell; }

  /// The scale that brings the longer side of a grid nearest to, and not above, `pixels`.
  static Scale fitting(GridView grid, int pixels);
};

/// The colours of drawCells: entry 0 is empty space, the last entry a fully occupied pixel.
const std::vector<Color>& cellPalette();

/// The grid as indices of cellPalette(), rows from top to bottom. A block's brightness grows with
/// the square root of its density, so that a lone glider still shows. Cells of 4 pixels and more
/// are drawn with a gap of one pixel.
std::vector<unsigned char> drawCells(GridView grid, Scale scale);

/// The same as a picture with palette.
Image cellImage(GridView grid, Scale scale);

}  // namespace samples
