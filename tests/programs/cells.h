// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

/// Cells: boxes of up to three dimensions, and how arrays are split. None of the library's own
/// geometry is used. Positions are z, y, x; vectors and matrices have one plane, vectors one row.
namespace programs {

struct Point {
  int coordinates[3];

  int& operator[](std::size_t d) { return coordinates[d]; }
  const int& operator[](std::size_t d) const { return coordinates[d]; }
  friend bool operator==(const Point&, const Point&) = default;
  friend Point operator+(const Point& a, const Point& b) {
    return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
  }
  friend Point operator-(const Point& a, const Point& b) {
    return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
  }
};

/// [lo, hi) in each dimension.
struct Box {
  Point lo{0, 0, 0};
  Point hi{0, 0, 0};

  int extent(int d) const { return hi[at(d)] - lo[at(d)]; }
  bool empty() const { return extent(0) <= 0 || extent(1) <= 0 || extent(2) <= 0; }
  std::size_t size() const {
    return empty() ? 0 : static_cast<std::size_t>(extent(0) * extent(1) * extent(2));
  }
  bool has(const Point& p) const {
    for (std::size_t d = 0; d < 3; ++d)
      if (p[d] < lo[d] || p[d] >= hi[d]) return false;
    return true;
  }
  bool contains(const Box& b) const { return intersect(b) == b; }
  Box intersect(const Box& b) const {
    Box r;
    for (std::size_t d = 0; d < 3; ++d) {
      r.lo[d] = std::max(lo[d], b.lo[d]);
      r.hi[d] = std::min(hi[d], b.hi[d]);
    }
    return r.empty() ? Box{} : r;
  }
  /// Position of a cell among the box's cells, row by row.
  std::size_t offset(const Point& p) const {
    return static_cast<std::size_t>(((p[0] - lo[0]) * extent(1) + (p[1] - lo[1])) * extent(2) +
                                    (p[2] - lo[2]));
  }
  friend bool operator==(const Box&, const Box&) = default;

 private:
  static std::size_t at(int d) { return static_cast<std::size_t>(d); }
};

/// Calls f(point) for the cells of a box, row by row.
template <class F>
void forEachCell(const Box& b, F&& f) {
  for (int z = b.lo[0]; z < b.hi[0]; ++z)
    for (int y = b.lo[1]; y < b.hi[1]; ++y)
      for (int x = b.lo[2]; x < b.hi[2]; ++x) f(Point{z, y, x});
}

/// One dimension that is split: cells of overlap towards the previous and the next part.
struct Cut {
  int dim = 2;
  int before = 0, after = 0;
  friend bool operator==(const Cut&, const Cut&) = default;
};

/// The part of an array that one device has: it owns the core.
struct Part {
  int device = 0;  ///< position in the launch's list of devices
  int id = 0;      ///< which device that is
  Box core, full;
  friend bool operator==(const Part&, const Part&) = default;
};
using Split = std::vector<Part>;

/// The parts of an array on `devices`. `weights`: cells of each part, for one dimension; empty: as
/// even as possible. Devices without work have no part.
Split splitOf(const Box& whole, const std::vector<Cut>& cuts, const std::vector<int>& devices,
              const std::vector<int>& weights);

std::string show(const Box& b, int dims);

}  // namespace programs
