// SPDX-License-Identifier: Apache-2.0
#include "samples/jacobi3d/problem.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace samples::jacobi3d {
namespace {

/// Calls visit(z, y, x) for every point.
template <class Visit>
void forEachPoint(int side, const Visit& visit) {
  for (int z = 0; z < side; ++z) {
    for (int y = 0; y < side; ++y) {
      for (int x = 0; x < side; ++x) visit(z, y, x);
    }
  }
}

}  // namespace

Cube::Cube(int points) : side(points) {
  if (points < 3) {
    throw std::invalid_argument("the cube needs at least 3 points per side, got " +
                                std::to_string(points));
  }
  values.assign(offset(points, 0, 0), 0.0f);
}

bool Cube::isBoundary(int z, int y, int x) const {
  const auto last = side - 1;
  return z == 0 || y == 0 || x == 0 || z == last || y == last || x == last;
}

double exact(Boundary boundary, double z, double y, double x) {
  if (boundary == Boundary::Saddle) return x * x + y * y - 2 * z * z + x * y * z;
  using std::numbers::pi;
  const double decay = std::numbers::sqrt2 * pi;
  return std::sin(pi * x) * std::sin(pi * y) * std::sinh(decay * z) / std::sinh(decay);
}

Cube start(Boundary boundary, int side) {
  Cube cube(side);
  const double step = 1.0 / (side - 1);
  forEachPoint(side, [&](int z, int y, int x) {
    if (!cube.isBoundary(z, y, x)) return;
    cube.at(z, y, x) = static_cast<float>(exact(boundary, z * step, y * step, x * step));
  });
  return cube;
}

double largestError(const Cube& cube, Boundary boundary) {
  double largest = 0;
  const double step = 1.0 / (cube.side - 1);
  forEachPoint(cube.side, [&](int z, int y, int x) {
    const double error = cube.at(z, y, x) - exact(boundary, z * step, y * step, x * step);
    largest = std::max(largest, std::abs(error));
  });
  return largest;
}

}  // namespace samples::jacobi3d
