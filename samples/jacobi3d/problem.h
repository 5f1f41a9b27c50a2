// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace samples::jacobi3d {

/// A cube of side x side x side points, z slowest and x fastest; point i of a side lies at
/// i / (side - 1).
struct Cube {
  explicit Cube(int side);  ///< all points 0; throws std::invalid_argument below 3 points a side

  std::size_t offset(int z, int y, int x) const {
    const auto n = static_cast<std::size_t>(side);
    return (static_cast<std::size_t>(z) * n + static_cast<std::size_t>(y)) * n +
           static_cast<std::size_t>(x);
  }
  float& at(int z, int y, int x) { return values[offset(z, y, x)]; }
  float at(int z, int y, int x) const { return values[offset(z, y, x)]; }
  bool isBoundary(int z, int y, int x) const;

  int side;
  std::vector<float> values;
};

/// Harmonic functions (solutions of the Laplace equation) whose values on the boundary are given.
enum class Boundary {
  Saddle,  ///< x^2 + y^2 - 2 z^2 + x y z, which both stencils solve without discretisation error
  Sine     ///< sin(pi x) sin(pi y) sinh(sqrt(2) pi z) / sinh(sqrt(2) pi): one warm face
};

/// The harmonic function at a point of the unit cube.
double exact(Boundary boundary, double z, double y, double x);

/// The start of the iteration: the exact values on the boundary, 0 inside.
Cube start(Boundary boundary, int side);

/// The largest difference of any point from the harmonic function.
double largestError(const Cube& cube, Boundary boundary);

}  // namespace samples::jacobi3d
