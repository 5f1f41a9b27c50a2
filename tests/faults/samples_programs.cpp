// SPDX-License-Identifier: Apache-2.0
// The applications of the stencil paper in several host styles, small.
#include "perf/evaluation/canny/host.h"
#include "perf/evaluation/gauss/host.h"
#include "perf/evaluation/jacobi3d/host.h"
#include "perf/evaluation/life/host.h"
#include "perf/evaluation/shwa/host.h"
#include "samples/canny/reference.h"
#include "samples/common/test_picture.h"
#include "samples/gauss/reference.h"
#include "samples/gauss/weights.h"
#include "samples/jacobi3d/reference.h"
#include "samples/shwa/reference.h"
#include "samples/shwa/scenario.h"
#include "tests/faults/programs.h"

namespace faults_tests {

using namespace samples;

namespace {

constexpr int kSteps = 3;
constexpr Extent kExtent{36, 24};

template <class Options>
void setUp(Options& options, const std::string& style) {
  options.style = evaluation::styleOf(style);
  options.run.iterations = kSteps;
}

Progress quiet() { return Progress(kSteps, "steps", Progress::Mode::Off); }

template <class Cells>
std::vector<double> numbersOf(const Cells& cells) {
  return {cells.begin(), cells.end()};
}

std::vector<double> numbersOf(const Grid& grid) { return {grid.data(), grid.data() + grid.size()}; }

}  // namespace

Program lifeProgram(const std::string& style) {
  evaluation::life::Options options;
  setUp(options, style);
  options.start = Grid(kExtent.height, kExtent.width);
  fillWithSoup(options.start, 0.35, 7);
  options.edges = Edges::Torus;
  const Grid expected = referenceRun(options.start, kSteps, options.rule, options.edges);
  const auto run = [options] {
    Progress progress = quiet();
    return numbersOf(
        evaluation::life::runStyle(options, planOf(options, options.run), progress, {}));
  };
  return {"life " + style, run, numbersOf(expected)};
}

Program cannyProgram(const std::string& style) {
  evaluation::canny::Options options;
  setUp(options, style);
  options.run.iterations = 1;
  options.low = 15;
  options.high = 90;
  const auto picture = testPicture(kExtent);
  const auto expected =
      canny::referenceHysteresis(canny::referenceLabels(picture, options.low, options.high));
  const auto run = [options, picture] {
    Progress progress = quiet();
    return numbersOf(
        evaluation::canny::runStyle(picture, options, planOf(options, options.run), progress)
            .cells());
  };
  return {"canny " + style, run, numbersOf(expected.cells())};
}

Program gaussProgram(const std::string& style) {
  evaluation::gauss::Options options;
  setUp(options, style);
  Raster<float> picture(kExtent);
  const auto pixels = testPicture(kExtent);
  for (std::size_t i = 0; i < picture.size(); ++i) picture.data()[i] = pixels.data()[i];
  const auto weights = gauss::gaussianWeights(options.sigma);
  const auto expected = gauss::referenceRun(picture, kSteps, weights);
  const auto run = [options, picture] {
    Progress progress = quiet();
    return numbersOf(
        evaluation::gauss::runStyle(picture, options, planOf(options, options.run), progress)
            .cells());
  };
  return {"gauss " + style, run, numbersOf(expected.cells())};
}

Program jacobiProgram(const std::string& style) {
  evaluation::jacobi3d::Options options;
  setUp(options, style);
  options.tolerance = 0;
  options.every = 2;
  const auto start = jacobi3d::start(jacobi3d::Boundary::Saddle, 14);
  const auto expected = jacobi3d::referenceRun(start, kSteps, options.points);
  const auto run = [options, start] {
    Progress progress = quiet();
    return numbersOf(
        evaluation::jacobi3d::runStyle(start, options, planOf(options, options.run), progress)
            .cube.values);
  };
  return {"jacobi3d " + style, run, numbersOf(expected.values)};
}

Program shwaProgram(const std::string& style) {
  evaluation::shwa::Options options;
  setUp(options, style);
  const auto input = shwa::makeScenario("pollutant", kExtent);
  const auto expected = shwa::referenceRun(input, kSteps, options.courant);
  const auto run = [options, input] {
    Progress progress = quiet();
    return numbersOf(shwa::flat(
        evaluation::shwa::runStyle(input, options, planOf(options, options.run), progress, {})
            .cells));
  };
  return {"shwa " + style, run, numbersOf(shwa::flat(expected.cells))};
}

}  // namespace faults_tests
