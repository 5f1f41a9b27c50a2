// SPDX-License-Identifier: Apache-2.0
#include "samples/canny/reference.h"

#include <cmath>
#include <utility>
#include <vector>

namespace samples::canny {
namespace {

constexpr unsigned char kWeakLabel = 128;
constexpr unsigned char kStrongLabel = 255;

/// Whether (row, column) keeps `ring` pixels of distance from the edge of the picture.
template <class T>
bool hasRing(const Raster<T>& raster, int row, int column, int ring) {
  return row >= ring && row < raster.height() - ring && column >= ring &&
         column < raster.width() - ring;
}

/// The picture in sixteenths, smoothed by the 5x5 Gaussian; the two outermost rings stay as they
/// are.
Raster<int> smoothed(const Raster<unsigned char>& picture) {
  // The upper left quarter of the mask; it is symmetric in both directions.
  const int quarter[3][3] = {{2, 4, 5}, {4, 9, 12}, {5, 12, 15}};
  Raster<int> result(picture.extent());
  for (int row = 0; row < picture.height(); ++row) {
    for (int column = 0; column < picture.width(); ++column) {
      if (!hasRing(picture, row, column, 2)) {
        result.at(row, column) = 16 * picture.at(row, column);
        continue;
      }
      int sum = 0;
      for (int r = row - 2; r <= row + 2; ++r) {
        for (int c = column - 2; c <= column + 2; ++c) {
          sum += quarter[2 - std::abs(r - row)][2 - std::abs(c - column)] * picture.at(r, c);
        }
      }
      result.at(row, column) = (16 * sum + 79) / 159;
    }
  }
  return result;
}

struct Gradient {
  int x = 0;
  int y = 0;
  int squared() const { return x * x + y * y; }

  /// The step (rows, columns) to the neighbour that the gradient points at, of eight.
  std::pair<int, int> step() const {
    const double quarterTurns = std::atan2(y, x) / std::acos(0.0);
    const int eighths = static_cast<int>(std::lround(2 * quarterTurns));
    static const std::pair<int, int> kSteps[9] = {{0, -1}, {-1, -1}, {-1, 0}, {-1, 1}, {0, 1},
                                                  {1, 1},  {1, 0},   {1, -1}, {0, -1}};
    return kSteps[eighths + 4];
  }
};

Raster<Gradient> gradients(const Raster<int>& picture) {
  Raster<Gradient> result(picture.extent());
  for (int row = 1; row + 1 < picture.height(); ++row) {
    for (int column = 1; column + 1 < picture.width(); ++column) {
      Gradient& gradient = result.at(row, column);
      for (int d = -1; d <= 1; ++d) {
        const int weight = d == 0 ? 2 : 1;
        gradient.x += weight * (picture.at(row + d, column + 1) - picture.at(row + d, column - 1));
        gradient.y += weight * (picture.at(row + 1, column + d) - picture.at(row - 1, column + d));
      }
    }
  }
  return result;
}

/// The squared gradient of a pixel that is a ridge, else 0. Among the two neighbours in the
/// gradient's direction, the one that comes first (above, or to the left) may be as large, the
/// other may not.
int ridge(const Raster<Gradient>& field, int row, int column) {
  const int here = field.at(row, column).squared();
  if (here == 0) return 0;
  auto [dy, dx] = field.at(row, column).step();
  if (dy < 0 || (dy == 0 && dx < 0)) dy = -dy, dx = -dx;
  const int before = field.at(row - dy, column - dx).squared();
  const int after = field.at(row + dy, column + dx).squared();
  return before <= here && after < here ? here : 0;
}

}  // namespace

Raster<unsigned char> referenceLabels(const Raster<unsigned char>& picture, int low, int high) {
  const Raster<Gradient> field = gradients(smoothed(picture));
  Raster<unsigned char> labels(picture.extent());
  for (int row = 1; row + 1 < picture.height(); ++row) {
    for (int column = 1; column + 1 < picture.width(); ++column) {
      const double length = std::sqrt(ridge(field, row, column)) / 16;
      if (length >= low) labels.at(row, column) = length >= high ? kStrongLabel : kWeakLabel;
    }
  }
  return labels;
}

Raster<unsigned char> referenceHysteresis(Raster<unsigned char> labels) {
  std::vector<std::pair<int, int>> front;
  for (int row = 0; row < labels.height(); ++row) {
    for (int column = 0; column < labels.width(); ++column) {
      if (labels.at(row, column) == kStrongLabel) front.emplace_back(row, column);
    }
  }
  while (!front.empty()) {
    const auto [row, column] = front.back();
    front.pop_back();
    for (int r = row - 1; r <= row + 1; ++r) {
      for (int c = column - 1; c <= column + 1; ++c) {
        if (!hasRing(labels, r, c, 1) || labels.at(r, c) != kWeakLabel) continue;
        labels.at(r, c) = kStrongLabel;
        front.emplace_back(r, c);
      }
    }
  }
  return labels;
}

}  // namespace samples::canny
