// SPDX-License-Identifier: Apache-2.0
#include "samples/common/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <stdexcept>

namespace samples {

Grid::Grid(int height, int width) : height_(height), width_(width) {
  if (height < 1 || width < 1) {
    throw std::invalid_argument(
        fmt::format("a grid needs at least one cell, got {} x {} (width x height)", width, height));
  }
  cells_.resize(static_cast<std::size_t>(height) * static_cast<std::size_t>(width));
}

std::size_t population(GridView grid) {
  const std::size_t size =
      static_cast<std::size_t>(grid.height) * static_cast<std::size_t>(grid.width);
  return size - static_cast<std::size_t>(std::count(grid.cells, grid.cells + size, 0));
}

void fillWithSoup(Grid& grid, double density, std::uint64_t seed) {
  // std::bernoulli_distribution differs between standard libraries; comparing the raw engine with
  // a threshold does not. Shifting to 53 bits keeps the threshold exact as a double.
  std::mt19937_64 engine(seed);
  const double threshold = density * 9007199254740992.0;
  std::generate(grid.data(), grid.data() + grid.size(), [&] {
    return static_cast<unsigned char>(static_cast<double>(engine() >> 11) < threshold ? 1 : 0);
  });
}

}  // namespace samples
