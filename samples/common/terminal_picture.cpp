// SPDX-License-Identifier: Apache-2.0
#include "samples/common/terminal_picture.h"

#include <algorithm>

namespace samples {
namespace {

bool anyAlive(GridView grid, int top, int left, int block) {
  const int bottom = std::min(grid.height, top + block);
  const int right = std::min(grid.width, left + block);
  for (int row = top; row < bottom; ++row) {
    for (int column = left; column < right; ++column) {
      if (grid.alive(row, column)) return true;
    }
  }
  return false;
}

}  // namespace

std::string terminalPicture(GridView grid, int columns) {
  constexpr const char* glyphs[] = {" ", "\u2580", "\u2584", "\u2588"};  // none, upper, lower, both
  const int block = (grid.width + std::max(1, columns) - 1) / std::max(1, columns);
  std::string text;
  for (int row = 0; row < grid.height; row += 2 * block) {
    std::string line;
    std::size_t end = 0;  // trailing blanks are cut
    for (int column = 0; column < grid.width; column += block) {
      const bool upper = anyAlive(grid, row, column, block);
      const bool lower = anyAlive(grid, row + block, column, block);
      line += glyphs[(upper ? 1 : 0) + (lower ? 2 : 0)];
      if (upper || lower) end = line.size();
    }
    text += line.substr(0, end) + '\n';
  }
  return text;
}

}  // namespace samples
