// SPDX-License-Identifier: Apache-2.0
// Solves the Laplace equation in a cube on an OpenCL device: jacobi3d --help.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "samples/common/comparison.h"
#include "samples/common/io.h"
#include "samples/common/plan_choice.h"
#include "samples/common/program.h"
#include "samples/jacobi3d/reference.h"
#include "samples/jacobi3d/solve.h"

namespace samples::jacobi3d {
namespace {

/// Values are up to 2; where the device contracts products and sums, a few units in the last place
/// get lost in each iteration, and means of neighbours do not amplify them.
constexpr double kTolerance = 2e-5;
constexpr int kPicturePixels = 512;

/// The slice y = 1/2, z upwards, x to the right.
Image drawSlice(const Cube& cube) {
  hpl::Array<float, 2> slice(cube.side, cube.side);
  for (int z = 0; z < cube.side; ++z) {
    for (int x = 0; x < cube.side; ++x) {
      slice(cube.side - 1 - z, x) = cube.at(z, cube.side / 2, x);
    }
  }
  return hpl::io::colorImage(slice,
                             hpl::io::ColorScale().zoom(std::max(1, kPicturePixels / cube.side)));
}

int run(const Options& options) {
  const hpl::ExecutionPlan plan = choosePlan(options.run);
  const Cube begin = start(options.boundary, options.side);
  std::printf("%d x %d x %d points, %d-point stencil, on %s\n", options.side, options.side,
              options.side, options.points, describePlan(plan).c_str());

  const auto started = std::chrono::steady_clock::now();
  Progress progress(options.run.iterations, "iterations", progressMode(options.run.progress));
  const Result result = solve(begin, options, plan, progress);
  progress.finish();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();

  std::printf("%d iterations; the last one changed no point by more than %.3g\n", result.iterations,
              result.change);
  std::printf("largest difference from the exact solution: %.3g\n",
              largestError(result.cube, options.boundary));
  reportSpeed(plan, seconds,
              static_cast<double>(result.iterations) * static_cast<double>(begin.values.size()));
  if (!options.png.empty()) {
    writePng(options.png, drawSlice(result.cube));
    std::printf("picture: %s\n", options.png.c_str());
  }
  if (!options.run.check) return 0;
  const Cube expected = referenceRun(begin, result.iterations, options.points);
  return reportCheck("points", compare(result.cube.values, expected.values), kTolerance) ? 0 : 1;
}

}  // namespace
}  // namespace samples::jacobi3d

int main(int argc, char** argv) {
  return samples::programMain<samples::jacobi3d::Options>(
      "jacobi3d", argc, argv, samples::jacobi3d::parseOptions, samples::jacobi3d::run);
}
