// SPDX-License-Identifier: Apache-2.0
// Simulates shallow water that carries a pollutant on an OpenCL device: shwa --help.
#include <chrono>
#include <cmath>
#include <cstdio>

#include "samples/common/comparison.h"
#include "samples/common/io.h"
#include "samples/common/plan_choice.h"
#include "samples/common/program.h"
#include "samples/shwa/draw.h"
#include "samples/shwa/reference.h"
#include "samples/shwa/scenario.h"
#include "samples/shwa/simulate.h"
#include "samples/shwa/stoker.h"

namespace samples::shwa {
namespace {

/// Depths are some metres and discharges some 10 m^2/s. Contracted operations differ in the last
/// place (1e-6); at shores, where thin water runs or does not, that grows.
constexpr double kTolerance = 0.05;
constexpr int kPngPixels = 768;
constexpr int kGifPixels = 512;

/// Runs on the devices, writing the animation on the way.
State runAndDraw(const Input& input, const Options& options, const hpl::ExecutionPlan& plan) {
  Progress progress(options.run.iterations, "steps", progressMode(options.run.progress));
  if (options.gif.empty()) return simulate(input, options, plan, progress, {});
  const Painter painter(input, kGifPixels);
  GifWriter gif(options.gif, painter.width(), painter.height(), Painter::palette(), options.delay);
  State last = simulate(input, options, plan, progress,
                        [&](const State& state) { gif.addFrame(painter.indices(state.cells)); });
  gif.close();
  return last;
}

/// Prints how far the middle row is from Stoker's solution while no wave has met a wall.
void compareWithStoker(const State& state, const Input& input) {
  const DamBreakSolution exact(kDamBehind, kDamBefore, kGravity);
  const int columns = state.cells.width();
  const double half = 0.5 * (columns - 2) * input.cellSize;
  if (state.time <= 0 || exact.boreVelocity() * state.time >= half) return;
  double sum = 0;
  for (int column = 1; column + 1 < columns; ++column) {
    const double distance = (column - 0.5) * input.cellSize - half;
    sum += std::abs(state.cells.at(state.cells.height() / 2, column).depth -
                    exact.depth(distance, state.time));
  }
  std::printf("mean difference of the depth from Stoker's exact solution: %.3g m\n",
              sum / (columns - 2));
}

bool isRight(const State& state, const Input& input, const Options& options) {
  const State expected = referenceRun(input, options.run.iterations, options.courant);
  bool right = reportCheck("cells", compare(flat(state.cells), flat(expected.cells)), kTolerance);
  const double before = waterVolume(input.water, input.cellSize);
  if (std::abs(waterVolume(state.cells, input.cellSize) - before) > 1e-5 * before) {
    std::printf("check: water got LOST or came from nowhere\n");
    right = false;
  }
  if (options.scenario == "lake-at-rest" && largestVelocity(state.cells) > 1e-3) {
    std::printf("check: the lake MOVES\n");
    right = false;
  }
  return right;
}

int run(const Options& options) {
  const hpl::ExecutionPlan plan = choosePlan(options.run);
  const Input input = makeScenario(options.scenario, options.extent);
  std::printf("%s: %d x %d cells of %.3g m, on %s\n", options.scenario.c_str(),
              options.extent.width, options.extent.height, input.cellSize,
              describePlan(plan).c_str());

  const auto begin = std::chrono::steady_clock::now();
  const State last = runAndDraw(input, options, plan);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  const double before = waterVolume(input.water, input.cellSize);
  std::printf("%d steps, %.4g s of simulated time, fastest water %.3g m/s\n", last.steps, last.time,
              largestVelocity(last.cells));
  std::printf("water %.6g m^3 (%+.1e of it since the beginning), pollutant %.6g m^3\n", before,
              waterVolume(last.cells, input.cellSize) / before - 1,
              pollutantVolume(last.cells, input.cellSize));
  if (options.scenario == "dam-break") compareWithStoker(last, input);
  reportSpeed(plan, seconds,
              static_cast<double>(last.steps) * static_cast<double>(last.cells.size()));
  if (!options.png.empty()) {
    writePng(options.png, Painter(input, kPngPixels).image(last.cells));
    std::printf("picture: %s\n", options.png.c_str());
  }
  if (!options.gif.empty()) std::printf("animation: %s\n", options.gif.c_str());
  return !options.run.check || isRight(last, input, options) ? 0 : 1;
}

}  // namespace
}  // namespace samples::shwa

int main(int argc, char** argv) {
  return samples::programMain<samples::shwa::Options>(
      "shwa", argc, argv, samples::shwa::parseOptions, samples::shwa::run);
}
