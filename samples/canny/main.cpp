// SPDX-License-Identifier: Apache-2.0
// Finds the edges of a picture on OpenCL devices: canny --help.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "samples/canny/host.h"
#include "samples/canny/kernels.h"
#include "samples/canny/reference.h"
#include "samples/common/comparison.h"
#include "samples/common/plan_choice.h"
#include "samples/common/program.h"
#include "samples/common/read_picture.h"
#include "samples/common/test_picture.h"

namespace samples::canny {
namespace {

/// White lines on black. After hysteresis, the weak edges that are left are no edges.
Image drawEdges(Raster<unsigned char> labels, bool hysteresis) {
  if (hysteresis) std::replace(labels.data(), labels.data() + labels.size(), kWeak, kNone);
  return grayImage(labels);
}

bool isRight(const Raster<unsigned char>& labels, const Raster<unsigned char>& picture,
             const Options& options) {
  Raster<unsigned char> expected = referenceLabels(picture, options.low, options.high);
  if (options.hysteresis) expected = referenceHysteresis(std::move(expected));
  return reportCheck("labels", compare(labels.cells(), expected.cells()), 0);
}

int run(const Options& options) {
  const ExecutionPlan plan = choosePlan(options.run);
  const Raster<unsigned char> picture =
      options.input.empty() ? testPicture(options.extent) : readGrayPicture(options.input);
  std::printf("%s: %d x %d pixels, thresholds %d and %d, on %s\n",
              options.input.empty() ? "synthetic picture" : options.input.c_str(), picture.width(),
              picture.height(), options.low, options.high, describePlan(plan).c_str());

  const auto begin = std::chrono::steady_clock::now();
  Progress progress(options.run.iterations, "pictures", progressMode(options.run.progress));
  const Raster<unsigned char> labels = runStyle(picture, options, plan, progress);
  progress.finish();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  const auto& cells = labels.cells();
  std::printf("%td strong and %td weak edge pixels\n",
              std::count(cells.begin(), cells.end(), kStrong),
              std::count(cells.begin(), cells.end(), kWeak));
  reportSpeed(options.run, plan, seconds,
              options.run.iterations * static_cast<double>(labels.size()));
  if (!options.inputPng.empty()) writePng(options.inputPng, grayImage(picture));
  if (!options.png.empty()) {
    writePng(options.png, drawEdges(labels, options.hysteresis));
    std::printf("picture: %s\n", options.png.c_str());
  }
  if (!options.run.check || options.run.iterations == 0) return 0;
  return isRight(labels, picture, options) ? 0 : 1;
}

}  // namespace
}  // namespace samples::canny

int main(int argc, char** argv) {
  return samples::programMain<samples::canny::Options>(
      "canny", argc, argv, samples::canny::parseOptions, samples::canny::run);
}
