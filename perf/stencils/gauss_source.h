// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>

#include "samples/gauss/weights.h"

/// GAUSS as OpenCL C. The best kernel has its 121 products as constants four rows by three vectors
/// apart: too much to write by hand, so loops write it.
namespace perf::stencils {

constexpr double kSigma = 2.0;

inline std::string literal(float value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9ef", static_cast<double>(value));
  return text;
}

/// The mask as a constant array.
inline std::string gaussMask() {
  std::string source = "constant float kWeights[121] = {";
  for (float weight : samples::gauss::gaussianWeights(kSigma)) source += literal(weight) + ", ";
  return source + "};\n";
}

/// A function that computes `rows` x `vectors` vectors whose first one is at (x, y). Each loaded
/// vector goes into the sums of all rows that it is a neighbour of.
inline std::string gaussBlock(const std::string& name, int rows, int vectors) {
  using samples::gauss::kRadius;
  using samples::gauss::kTaps;
  const auto mask = samples::gauss::gaussianWeights(kSigma);
  const auto sum = [](int row, int vector) {
    return "s" + std::to_string(row) + "_" + std::to_string(vector);
  };
  std::string source = "VECTORS void " + name +
                       "(__global float* out, const __global float* in, size_t x, size_t y, "
                       "size_t w) {\n";
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v) source += "  FL " + sum(r, v) + " = 0.0f;\n";
  for (int line = 0; line < rows + kTaps - 1; ++line) {
    source += "  {\n    const __global float* q = in + (y + " + std::to_string(line) +
              " - 5) * w + x - 5;\n";
    for (int tap = 0; tap < kTaps; ++tap) {
      for (int v = 0; v < vectors; ++v) {
        const std::string at = std::to_string(tap) + " + " + std::to_string(v) + " * V";
        source += (v == 0 ? "    { FL v0 = LDFL(q + "
                          : "      FL v" + std::to_string(v) + " = LDFL(q + ") +
                  at + ");\n";
      }
      for (int r = 0; r < rows; ++r) {
        const int maskRow = line - r;
        if (maskRow < 0 || maskRow >= kTaps) continue;
        const std::string weight = literal(mask[static_cast<std::size_t>(maskRow * kTaps + tap)]);
        for (int v = 0; v < vectors; ++v)
          source += "      " + sum(r, v) + " += " + weight + " * v" + std::to_string(v) + ";\n";
      }
      source += "    }\n";
    }
    source += "  }\n";
  }
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v)
      source += "  STFL(out + (y + " + std::to_string(r) + ") * w + x + " + std::to_string(v) +
                " * V, " + sum(r, v) + ");\n";
  return source + "}\n";
}

/// The kernel `gauss`. Pixels at the border keep their values.
inline std::string gaussRows() {
  return gaussBlock("gaussFour", 4, 3) + gaussBlock("gaussOne", 1, 1) + R"CLC(
WIDE void gauss(__global float* out, const __global float* in, int width, int height, int band) {
  const size_t w = width, h = height, last = w - 5 - V;
  size_t y = 5 + get_global_id(0) * band;
  const size_t end = min(y + band, h - 5);
  for (; y + 4 <= end; y += 4) {
    size_t x = 5;
    for (; x + 3 * V <= w - 5; x += 3 * V) gaussFour(out, in, x, y, w);
    if (x < w - 5 && w >= 10 + 3 * V)
      gaussFour(out, in, w - 5 - 3 * V, y, w);
    else
      for (; x < w - 5; x += V)
        for (int i = 0; i < 4; i++) gaussOne(out, in, min(x, last), y + i, w);
  }
  for (; y < end; y++)
    for (size_t x = 5; x < w - 5; x += V) gaussOne(out, in, min(x, last), y, w);
}
)CLC";
}

}  // namespace perf::stencils
