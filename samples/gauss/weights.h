// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <stdexcept>

namespace samples::gauss {

/// Neighbours that count, to each side.
constexpr int kRadius = 5;
constexpr int kTaps = 2 * kRadius + 1;

/// The weights of a Gaussian of width `sigma` pixels, row by row; their sum is 1 up to rounding.
/// Throws std::invalid_argument unless sigma is positive.
inline std::array<float, kTaps * kTaps> gaussianWeights(double sigma) {
  if (!(sigma > 0)) throw std::invalid_argument("the width of a Gaussian must be positive");
  std::array<double, kTaps> line{};
  double sum = 0;
  for (int i = 0; i < kTaps; ++i) {
    const double distance = (i - kRadius) / sigma;
    sum += line[static_cast<std::size_t>(i)] = std::exp(-0.5 * distance * distance);
  }
  std::array<float, kTaps * kTaps> weights{};
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = static_cast<float>(line[i / kTaps] * line[i % kTaps] / (sum * sum));
  }
  return weights;
}

}  // namespace samples::gauss
