// SPDX-License-Identifier: Apache-2.0
#include "samples/gauss/reference.h"

#include <stdexcept>
#include <utility>

namespace samples::gauss {
namespace {

constexpr int kSide = 11;
constexpr int kReach = kSide / 2;

float convolved(const Raster<float>& picture, std::span<const float> weights, int row, int column) {
  float sum = 0;
  std::size_t tap = 0;
  for (int r = row - kReach; r <= row + kReach; ++r) {
    for (int c = column - kReach; c <= column + kReach; ++c) {
      sum += weights[tap++] * picture.at(r, c);
    }
  }
  return sum;
}

}  // namespace

Raster<float> referenceRun(Raster<float> picture, int iterations, std::span<const float> weights) {
  if (weights.size() != kSide * kSide) {
    throw std::invalid_argument("the filter needs 11 x 11 weights, got " +
                                std::to_string(weights.size()));
  }
  Raster<float> next = picture;
  for (int i = 0; i < iterations; ++i) {
    for (int row = kReach; row < picture.height() - kReach; ++row) {
      for (int column = kReach; column < picture.width() - kReach; ++column) {
        next.at(row, column) = convolved(picture, weights, row, column);
      }
    }
    std::swap(picture, next);
  }
  return picture;
}

}  // namespace samples::gauss
