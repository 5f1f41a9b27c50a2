// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "samples/common/io.h"
#include "samples/shwa/state.h"

namespace samples::shwa {

/// Draws the water seen from above, the walls left out: land in browns by its height, water in
/// blues, brighter where its surface falls to the right and down (as if lit from there), towards
/// red by the concentration of the pollutant.
class Painter {
 public:
  /// `pixels`: the wanted length of the longer side; small basins get cells of several pixels,
  /// large ones pixels for every n-th cell. Throws std::invalid_argument below 3 x 3 cells.
  Painter(const Input& input, int pixels);

  int width() const { return width_; }
  int height() const { return height_; }

  /// The colours: land first, then water.
  static const std::vector<Color>& palette();

  /// The picture as indices of palette(), rows from top to bottom.
  std::vector<unsigned char> indices(const Raster<Cell>& cells) const;

  /// The same as a picture.
  Image image(const Raster<Cell>& cells) const;

 private:
  unsigned char color(const Raster<Cell>& cells, int row, int column) const;
  unsigned char landColor(float height) const;

  const Raster<float> ground_;
  float cellSize_;
  float lowest_;
  float highest_;
  int zoom_ = 1;   ///< pixels per cell
  int every_ = 1;  ///< cells per pixel
  int width_;
  int height_;
};

}  // namespace samples::shwa
