// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace samples {

/// How many cells a two-dimensional problem has.
struct Extent {
  int height = 0;
  int width = 0;
  bool operator==(const Extent&) const = default;
};

/// A rectangle of values that owns its memory: row-major, rows from top to bottom.
template <class T>
class Raster {
 public:
  /// All cells `value`. Throws std::invalid_argument unless both extents are at least 1.
  Raster(int height, int width, T value = T())
      : height_(checked(height, height, width)), width_(checked(width, height, width)) {
    cells_.assign(static_cast<std::size_t>(height_) * static_cast<std::size_t>(width_), value);
  }
  explicit Raster(Extent extent, T value = T()) : Raster(extent.height, extent.width, value) {}

  int height() const { return height_; }
  int width() const { return width_; }
  Extent extent() const { return {height_, width_}; }
  T* data() { return cells_.data(); }
  const T* data() const { return cells_.data(); }
  std::size_t size() const { return cells_.size(); }
  const std::vector<T>& cells() const { return cells_; }

  T& at(int row, int column) { return cells_[offset(row, column)]; }
  const T& at(int row, int column) const { return cells_[offset(row, column)]; }

  bool operator==(const Raster&) const = default;

 private:
  static int checked(int value, int height, int width) {
    if (value >= 1) return value;
    throw std::invalid_argument("a raster needs at least one cell, got " + std::to_string(width) +
                                " x " + std::to_string(height) + " (width x height)");
  }
  std::size_t offset(int row, int column) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(width_) +
           static_cast<std::size_t>(column);
  }

  int height_;
  int width_;
  std::vector<T> cells_;
};

}  // namespace samples
