// SPDX-License-Identifier: Apache-2.0
#include "samples/common/picture.h"

#include <doctest/doctest.h>

#include "samples/common/terminal_picture.h"

namespace picture_tests {

using namespace samples;

TEST_CASE("a cell becomes a square of pixels") {
  Grid grid(2, 3);
  grid.at(1, 2) = 1;
  const std::vector<unsigned char> indices = drawCells(grid, {2, 1});
  const auto on = static_cast<unsigned char>(cellPalette().size() - 1);
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 6; ++x) {
      CHECK(indices[static_cast<std::size_t>(6 * y + x)] == (y >= 2 && x >= 4 ? on : 0));
    }
  }
}

TEST_CASE("large cells keep a gap of one pixel") {
  Grid grid(1, 2);
  grid.at(0, 0) = grid.at(0, 1) = 1;
  const std::vector<unsigned char> indices = drawCells(grid, {4, 1});
  REQUIRE(indices.size() == 32);
  CHECK(indices[2] != 0);
  CHECK(indices[3] == 0);
  CHECK(indices[4] != 0);
  CHECK(indices[8 * 3] == 0);
}

TEST_CASE("a block becomes one pixel whose brightness grows with its density") {
  // Three blocks of 10 x 10 cells, the last one cut to 5 x 10, with 0, 1 and 25 living cells.
  Grid grid(10, 25);
  for (int row = 0; row < 10; ++row) {
    for (int column = 20; column < 25; ++column) grid.at(row, column) = row < 5 ? 1 : 0;
  }
  grid.at(9, 19) = 1;
  const std::vector<unsigned char> indices = drawCells(grid, {1, 10});
  REQUIRE(indices.size() == 3);
  CHECK(indices[0] == 0);
  CHECK(indices[1] >= 3);
  CHECK(indices[2] > indices[1]);
  CHECK(indices[2] < cellPalette().size() - 1);
  fillWithSoup(grid, 1.0, 1);
  for (unsigned char index : drawCells(grid, {1, 10})) CHECK(index == cellPalette().size() - 1);
}

TEST_CASE("the palette grows brighter from entry to entry") {
  int before = -1;
  for (const Color& color : cellPalette()) {
    const int brightness = color.red + color.green + color.blue;
    CHECK(brightness > before);
    before = brightness;
  }
}

TEST_CASE("a grid is scaled to the pixels there are") {
  const Grid small(10, 30);
  const Grid exact(512, 100);
  const Grid large(100, 1025);
  CHECK(Scale::fitting(small, 100).cell == 3);
  CHECK(Scale::fitting(exact, 512).cell == 1);
  CHECK(Scale::fitting(exact, 512).block == 1);
  const Scale scale = Scale::fitting(large, 512);
  CHECK(scale.block == 3);
  CHECK(scale.width(large) == 342);
  CHECK(scale.height(large) == 34);
  const Image image = cellImage(large, scale);
  CHECK(image.width == 342);
  CHECK(image.pixels.size() == 342u * 34u);
}

TEST_CASE("the terminal picture shows two rows per line of text") {
  Grid grid(3, 4);
  grid.at(0, 0) = grid.at(1, 1) = grid.at(0, 2) = grid.at(1, 2) = grid.at(2, 0) = 1;
  CHECK(terminalPicture(grid, 80) == "▀▄█\n▀\n");
}

TEST_CASE("the terminal picture is scaled to the width there is") {
  Grid grid(8, 10);
  grid.at(7, 9) = 1;  // block 3 x 3 of 3 x 4 blocks, in the third row of blocks
  CHECK(terminalPicture(grid, 4) == "\n   ▀\n");
}

}  // namespace picture_tests
