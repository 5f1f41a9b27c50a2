// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// Helpers that the sample programs share. Nothing here is part of the library.
namespace samples {

/// A rectangle of cells in memory of the caller's: row-major, one byte per cell, 0 is dead.
struct GridView {
  const unsigned char* cells;
  int height;
  int width;

  bool alive(int row, int column) const {
    return cells[static_cast<std::size_t>(row) * static_cast<std::size_t>(width) +
                 static_cast<std::size_t>(column)] != 0;
  }
};

/// A rectangle of cells that owns its memory: row-major, one byte per cell, 0 is dead, 1 is alive.
class Grid {
 public:
  /// All cells dead. Throws std::invalid_argument unless both extents are at least 1.
  Grid(int height, int width);

  int height() const { return height_; }
  int width() const { return width_; }
  unsigned char* data() { return cells_.data(); }
  const unsigned char* data() const { return cells_.data(); }
  std::size_t size() const { return cells_.size(); }

  unsigned char& at(int row, int column) { return cells_[offset(row, column)]; }
  unsigned char at(int row, int column) const { return cells_[offset(row, column)]; }

  operator GridView() const { return {cells_.data(), height_, width_}; }
  bool operator==(const Grid&) const = default;

 private:
  std::size_t offset(int row, int column) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(width_) +
           static_cast<std::size_t>(column);
  }

  int height_;
  int width_;
  std::vector<unsigned char> cells_;
};

/// Number of cells that are alive.
std::size_t population(GridView grid);

/// Sets every cell alive with probability `density` (0 to 1); the same seed gives the same soup
/// everywhere.
void fillWithSoup(Grid& grid, double density, std::uint64_t seed);

}  // namespace samples
