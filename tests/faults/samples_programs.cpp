// SPDX-License-Identifier: Apache-2.0
// The applications of the samples, small.
#include <stdexcept>

#include "samples/canny/host.h"
#include "samples/canny/reference.h"
#include "samples/common/plan_choice.h"
#include "samples/common/test_picture.h"
#include "samples/gauss/host.h"
#include "samples/gauss/reference.h"
#include "samples/gauss/weights.h"
#include "samples/jacobi3d/host.h"
#include "samples/jacobi3d/reference.h"
#include "samples/life/host.h"
#include "samples/shwa/host.h"
#include "samples/shwa/reference.h"
#include "samples/shwa/scenario.h"
#include "tests/faults/programs.h"

namespace faults_tests {

using namespace samples;

namespace {

constexpr int kSteps = 3;
constexpr Extent kExtent{36, 24};

RunOptions runOptions(const std::string& style) {
  RunOptions run;
  run.iterations = kSteps;
  for (const Style known : {Style::Single, Style::Subarrays, Style::Annotations, Style::Sync,
                            Style::Auto, Style::Stencil, Style::Template}) {
    if (styleName(known) != style) continue;
    run.style = known;
    return run;
  }
  throw std::invalid_argument("there is no style " + style);
}

Progress quiet() { return Progress(kSteps, "steps", Progress::Mode::Off); }

template <class Cells>
std::vector<double> numbersOf(const Cells& cells) {
  return {cells.begin(), cells.end()};
}

std::vector<double> numbersOf(const Grid& grid) { return {grid.data(), grid.data() + grid.size()}; }

}  // namespace

Program lifeProgram(const std::string& style) {
  LifeOptions options;
  options.run = runOptions(style);
  options.start = Grid(kExtent.height, kExtent.width);
  fillWithSoup(options.start, 0.35, 7);
  options.edges = Edges::Torus;
  const Grid expected = referenceRun(options.start, kSteps, options.rule, options.edges);
  const auto run = [options] {
    Progress progress = quiet();
    return numbersOf(life::runStyle(options, choosePlan(options.run), progress, {}));
  };
  return {"life " + style, run, numbersOf(expected)};
}

Program cannyProgram(const std::string& style) {
  canny::Options options;
  options.run = runOptions(style);
  options.run.iterations = 1;
  options.low = 15;
  options.high = 90;
  const auto picture = testPicture(kExtent);
  const auto expected =
      canny::referenceHysteresis(canny::referenceLabels(picture, options.low, options.high));
  const auto run = [options, picture] {
    Progress progress = quiet();
    return numbersOf(canny::runStyle(picture, options, choosePlan(options.run), progress).cells());
  };
  return {"canny " + style, run, numbersOf(expected.cells())};
}

Program gaussProgram(const std::string& style) {
  gauss::Options options;
  options.run = runOptions(style);
  Raster<float> picture(kExtent);
  const auto pixels = testPicture(kExtent);
  for (std::size_t i = 0; i < picture.size(); ++i) picture.data()[i] = pixels.data()[i];
  const auto weights = gauss::gaussianWeights(options.sigma);
  const auto expected = gauss::referenceRun(picture, kSteps, weights);
  const auto run = [options, picture] {
    Progress progress = quiet();
    return numbersOf(gauss::runStyle(picture, options, choosePlan(options.run), progress).cells());
  };
  return {"gauss " + style, run, numbersOf(expected.cells())};
}

Program jacobiProgram(const std::string& style) {
  jacobi3d::Options options;
  options.run = runOptions(style);
  options.tolerance = 0;
  options.every = 2;
  const auto start = jacobi3d::start(jacobi3d::Boundary::Saddle, 14);
  const auto expected = jacobi3d::referenceRun(start, kSteps, options.points);
  const auto run = [options, start] {
    Progress progress = quiet();
    return numbersOf(
        jacobi3d::runStyle(start, options, choosePlan(options.run), progress).cube.values);
  };
  return {"jacobi3d " + style, run, numbersOf(expected.values)};
}

Program shwaProgram(const std::string& style) {
  shwa::Options options;
  options.run = runOptions(style);
  const auto input = shwa::makeScenario("pollutant", kExtent);
  const auto expected = shwa::referenceRun(input, kSteps, options.courant);
  const auto run = [options, input] {
    Progress progress = quiet();
    return numbersOf(
        shwa::flat(shwa::runStyle(input, options, choosePlan(options.run), progress, {}).cells));
  };
  return {"shwa " + style, run, numbersOf(shwa::flat(expected.cells))};
}

}  // namespace faults_tests
