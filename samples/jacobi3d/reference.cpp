// SPDX-License-Identifier: Apache-2.0
#include "samples/jacobi3d/reference.h"

#include <stdexcept>
#include <string>
#include <utility>

namespace samples::jacobi3d {
namespace {

float mean7(const Cube& cube, int z, int y, int x) {
  float sum = cube.at(z - 1, y, x);
  sum += cube.at(z + 1, y, x);
  sum += cube.at(z, y - 1, x);
  sum += cube.at(z, y + 1, x);
  sum += cube.at(z, y, x - 1);
  sum += cube.at(z, y, x + 1);
  return sum * (1.0f / 6.0f);
}

float mean27(const Cube& cube, int z, int y, int x) {
  float faces = 0;
  float edges = 0;
  float corners = 0;
  for (int point = 0; point < 27; ++point) {
    const int dz = point / 9 - 1;
    const int dy = point / 3 % 3 - 1;
    const int dx = point % 3 - 1;
    const float value = cube.at(z + dz, y + dy, x + dx);
    const int steps = dz * dz + dy * dy + dx * dx;
    if (steps == 1) faces += value;
    if (steps == 2) edges += value;
    if (steps == 3) corners += value;
  }
  return (14 * faces + 3 * edges + corners) * (1.0f / 128.0f);
}

}  // namespace

Cube referenceRun(Cube cube, int iterations, int points) {
  if (points != 7 && points != 27) {
    throw std::invalid_argument("the stencil has 7 or 27 points, not " + std::to_string(points));
  }
  const auto mean = points == 7 ? mean7 : mean27;
  Cube next = cube;
  for (int i = 0; i < iterations; ++i) {
    for (int z = 1; z + 1 < cube.side; ++z) {
      for (int y = 1; y + 1 < cube.side; ++y) {
        for (int x = 1; x + 1 < cube.side; ++x) next.at(z, y, x) = mean(cube, z, y, x);
      }
    }
    std::swap(cube, next);
  }
  return cube;
}

}  // namespace samples::jacobi3d
