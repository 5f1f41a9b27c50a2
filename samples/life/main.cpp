// SPDX-License-Identifier: Apache-2.0
// Runs the Game of Life of a pattern file on an OpenCL device: life --help.
#include <chrono>
#include <cstdio>

#include "samples/common/io.h"
#include "samples/common/plan_choice.h"
#include "samples/common/program.h"
#include "samples/common/terminal_picture.h"
#include "samples/life/evolve.h"

namespace samples::life {
namespace {

/// Runs on the devices, writing the animation on the way.
Grid runAndDraw(const LifeOptions& options, const hpl::ExecutionPlan& plan) {
  Progress progress(options.run.iterations, "generations", progressMode(options.run.progress));
  if (options.gif.empty()) return evolve(options, plan, progress, {});
  GifWriter gif(options.gif, options.gifScale.width(options.start),
                options.gifScale.height(options.start), cellPalette(), options.delay);
  Grid last = evolve(options, plan, progress,
                     [&](const Grid& cells) { gif.addFrame(drawCells(cells, options.gifScale)); });
  gif.close();
  return last;
}

int run(const LifeOptions& options) {
  const hpl::ExecutionPlan plan = choosePlan(options.run);
  std::printf("%s: %d x %d cells, %s edges, rule %s, on %s\n", options.title.c_str(),
              options.start.width(), options.start.height(),
              options.edges == Edges::Torus ? "torus" : "dead", ruleText(options.rule).c_str(),
              describePlan(plan).c_str());
  std::printf("generation 0: population %zu\n", population(options.start));

  const auto begin = std::chrono::steady_clock::now();
  const Grid last = runAndDraw(options, plan);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  if (options.show) std::fputs(terminalPicture(last, 100).c_str(), stdout);
  std::printf("generation %d: population %zu\n", options.run.iterations, population(last));
  reportSpeed(plan, seconds,
              static_cast<double>(options.run.iterations) * static_cast<double>(last.size()));
  if (!options.png.empty()) {
    writePng(options.png, cellImage(last, options.scale));
    std::printf("picture: %s\n", options.png.c_str());
  }
  if (!options.gif.empty()) std::printf("animation: %s\n", options.gif.c_str());
  if (options.run.check) {
    const bool same =
        last == referenceRun(options.start, options.run.iterations, options.rule, options.edges);
    std::printf("check against the host: %s\n", same ? "equal" : "DIFFERENT");
    return same ? 0 : 1;
  }
  return 0;
}

}  // namespace
}  // namespace samples::life

int main(int argc, char** argv) {
  return samples::programMain<samples::LifeOptions>("life", argc, argv, samples::parseLifeOptions,
                                                    samples::life::run);
}
