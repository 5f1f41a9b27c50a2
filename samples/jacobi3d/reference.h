// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "samples/jacobi3d/problem.h"

namespace samples::jacobi3d {

/// The cube after `iterations` of Jacobi's method with the stencil of 7 or 27 points, computed on
/// the host, one point after the other: what the kernels are checked against.
/// Throws std::invalid_argument for another number of points.
Cube referenceRun(Cube cube, int iterations, int points);

}  // namespace samples::jacobi3d
