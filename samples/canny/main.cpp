// SPDX-License-Identifier: Apache-2.0
// Finds the edges of a picture on OpenCL devices: canny --help.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "samples/canny/find_edges.h"
#include "samples/canny/reference.h"
#include "samples/canny/values.h"
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

Raster<unsigned char> input(const Options& options) {
  if (options.input.empty()) return testPicture(options.extent);
  Raster<unsigned char> picture = readGrayPicture(options.input);
  if (picture.width() < 5 || picture.height() < 5)
    throw std::invalid_argument(
        "--input " + options.input + ": the picture has " + std::to_string(picture.width()) +
        " x " + std::to_string(picture.height()) + " pixels; the filter needs 5 x 5 at least");
  return picture;
}

int run(const Options& options) {
  const ExecutionPlan plan = choosePlan(options.run);
  const Raster<unsigned char> picture = input(options);
  std::printf("%s: %d x %d pixels, thresholds %d and %d, on %s\n",
              options.input.empty() ? "synthetic picture" : options.input.c_str(), picture.width(),
              picture.height(), options.low, options.high, describePlan(plan).c_str());

  const auto begin = std::chrono::steady_clock::now();
  Progress progress(options.run.iterations, "pictures", progressMode(options.run.progress));
  const Raster<unsigned char> labels = findEdges(picture, options, plan, progress);
  progress.finish();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  const auto& cells = labels.cells();
  std::printf("%td strong and %td weak edge pixels\n",
              std::count(cells.begin(), cells.end(), kStrong),
              std::count(cells.begin(), cells.end(), kWeak));
  reportSpeed(plan, seconds, options.run.iterations * static_cast<double>(labels.size()));
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
