// SPDX-License-Identifier: Apache-2.0
#include "perf/evaluation/applications.h"

#include <algorithm>
#include <cstring>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <utility>

#include "perf/evaluation/canny/host.h"
#include "perf/evaluation/gauss/host.h"
#include "perf/evaluation/jacobi3d/host.h"
#include "perf/evaluation/life/host.h"
#include "perf/evaluation/shwa/host.h"
#include "samples/canny/options.h"
#include "samples/common/plan_choice.h"
#include "samples/common/test_picture.h"
#include "samples/gauss/options.h"
#include "samples/shwa/scenario.h"

namespace evaluation {
namespace {

using namespace samples;  // NOLINT: what is compared
using Words = std::vector<const char*>;

/// Reads options as the program of the sample does.
template <class Options>
Options read(Words words, std::optional<Options> (*parse)(int, const char* const*, std::ostream&,
                                                          std::ostream&, int&)) {
  words.insert(words.begin(), "hpl_evaluation_bench");
  int exitCode = 0;
  auto options =
      parse(static_cast<int>(words.size()), words.data(), std::cout, std::cerr, exitCode);
  if (!options) throw std::invalid_argument("the options of a sample have changed");
  return *std::move(options);
}

/// `run(options, plan, progress)` returns something with size() cells from data() on.
template <class Options, class Run>
Application make(const char* name, const Options& given, Run run) {
  return {name, [given, run](const Way& way, const std::vector<double>& weights) {
            Styled<Options> options{given, way};
            options.run.weights = weights;
            Progress progress(options.run.iterations, "steps", Progress::Mode::Off);
            const auto result = run(options, planOf(way, options.run), progress);
            Bytes bytes(result.size() * sizeof *result.data());
            std::memcpy(bytes.data(), result.data(), bytes.size());
            return bytes;
          }};
}

Application makeCanny(const Words& words) {
  const auto given = read(words, samples::canny::parseOptions);
  return make(
      "canny", given,
      [picture = testPicture(given.extent)](const auto& options, const auto& plan, auto& progress) {
        return canny::runStyle(picture, options, plan, progress);
      });
}

Application makeGauss(const Words& words) {
  const auto given = read(words, samples::gauss::parseOptions);
  const Raster<unsigned char> grays = testPicture(given.extent);
  Raster<float> picture(given.extent);
  std::copy_n(grays.data(), grays.size(), picture.data());
  return make("gauss", given, [picture](const auto& options, const auto& plan, auto& progress) {
    return gauss::runStyle(picture, options, plan, progress);
  });
}

Application makeJacobi3d(const Words& words) {
  const auto given = read(words, samples::jacobi3d::parseOptions);
  return make("jacobi3d", given,
              [begin = jacobi3d::start(given.boundary, given.side)](
                  const auto& options, const auto& plan, auto& progress) {
                return jacobi3d::runStyle(begin, options, plan, progress).cube.values;
              });
}

Application makeLife(const Words& words) {
  return make("life", read(words, parseLifeOptions),
              [](const auto& options, const auto& plan, auto& progress) {
                return life::runStyle(options, plan, progress, {});
              });
}

Application makeShwa(const Words& words) {
  const auto given = read(words, samples::shwa::parseOptions);
  return make("shwa", given,
              [input = shwa::makeScenario(given.scenario, given.extent)](
                  const auto& options, const auto& plan, auto& progress) {
                return shwa::runStyle(input, options, plan, progress, {}).cells;
              });
}

}  // namespace

std::vector<Application> applications(bool small) {
  if (small) {
    return {makeCanny({"--size", "203x101", "-n", "2"}),
            makeGauss({"--size", "203x101", "-n", "4"}), makeJacobi3d({"--size", "24", "-n", "20"}),
            makeLife({"--pattern", "r-pentomino", "--size", "101", "--edges", "dead", "-n", "40"}),
            makeShwa({"--size", "80", "-n", "20"})};
  }
  return {makeCanny({"--size", "1024", "-n", "3"}), makeGauss({"--size", "1024", "-n", "120"}),
          makeJacobi3d({"--size", "96", "-n", "800"}),
          makeLife({"--pattern", "r-pentomino", "--size", "1024", "--edges", "dead", "-n", "1000"}),
          makeShwa({"--size", "400", "-n", "120"})};
}

}  // namespace evaluation
