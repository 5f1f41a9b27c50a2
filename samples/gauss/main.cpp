// SPDX-License-Identifier: Apache-2.0
// Smoothes a picture with a Gaussian filter on OpenCL devices: gauss --help.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "samples/common/comparison.h"
#include "samples/common/plan_choice.h"
#include "samples/common/program.h"
#include "samples/common/read_picture.h"
#include "samples/common/test_picture.h"
#include "samples/gauss/reference.h"
#include "samples/gauss/smooth.h"
#include "samples/gauss/weights.h"

namespace samples::gauss {
namespace {

/// Brightnesses run from 0 to 255. 121 products, contracted or not, differ by a few units in the
/// last place of 255 (1.5e-5); smoothing again averages such differences out.
constexpr double kTolerance = 1e-3;

Raster<float> input(const Options& options) {
  const Raster<unsigned char> bytes =
      options.input.empty() ? testPicture(options.extent) : readGrayPicture(options.input);
  if (bytes.width() < kTaps || bytes.height() < kTaps) {
    throw std::invalid_argument(
        "--input " + options.input + ": the picture has " + std::to_string(bytes.width()) + " x " +
        std::to_string(bytes.height()) + " pixels; the filter needs 11 x 11 at least");
  }
  Raster<float> picture(bytes.extent());
  std::copy_n(bytes.data(), bytes.size(), picture.data());
  return picture;
}

Image draw(const Raster<float>& picture) {
  Raster<unsigned char> bytes(picture.extent());
  std::transform(picture.data(), picture.data() + picture.size(), bytes.data(), [](float value) {
    return static_cast<unsigned char>(std::lround(std::clamp(value, 0.0f, 255.0f)));
  });
  return grayImage(bytes);
}

int run(const Options& options) {
  const hpl::ExecutionPlan plan = choosePlan(options.run);
  const Raster<float> picture = input(options);
  std::printf("%s: %d x %d pixels, sigma %g, on %s\n",
              options.input.empty() ? "synthetic picture" : options.input.c_str(), picture.width(),
              picture.height(), options.sigma, describePlan(plan).c_str());

  const auto begin = std::chrono::steady_clock::now();
  Progress progress(options.run.iterations, "iterations", progressMode(options.run.progress));
  const Raster<float> result = smooth(picture, options, plan, progress);
  progress.finish();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  reportSpeed(plan, seconds, options.run.iterations * static_cast<double>(result.size()));
  if (!options.png.empty()) {
    writePng(options.png, draw(result));
    std::printf("picture: %s\n", options.png.c_str());
  }
  if (!options.run.check) return 0;
  const Raster<float> expected =
      referenceRun(picture, options.run.iterations, gaussianWeights(options.sigma));
  return reportCheck("pixels", compare(result.cells(), expected.cells()), kTolerance) ? 0 : 1;
}

}  // namespace
}  // namespace samples::gauss

int main(int argc, char** argv) {
  return samples::programMain<samples::gauss::Options>(
      "gauss", argc, argv, samples::gauss::parseOptions, samples::gauss::run);
}
