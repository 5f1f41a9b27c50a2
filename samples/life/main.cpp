// SPDX-License-Identifier: Apache-2.0
// Runs the Game of Life of a pattern file on an OpenCL device: life --help.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <optional>

#include "hpl/hpl.h"
#include "samples/common/device_choice.h"
#include "samples/common/gif.h"
#include "samples/common/progress.h"
#include "samples/common/terminal_picture.h"
#include "samples/life/options.h"

using namespace hpl;
using Cells = Array<unsigned char, 2>;

// One generation on a torus. Bit n of `birth` (for a dead cell) or of `survive` (for a living one)
// says whether the cell is alive next time if n of its neighbours are now.
void lifeOnTorus(Cells next, Cells now, Int birth, Int survive) {
  Size_t north = where(idy > 0, idy - 1, szy - 1), south = where(idy + 1 < szy, idy + 1, 0);
  Size_t west = where(idx > 0, idx - 1, szx - 1), east = where(idx + 1 < szx, idx + 1, 0);
  Int above = now[north][west] + now[north][idx] + now[north][east];
  Int beside = now[idy][west] + now[idy][east];
  Int below = now[south][west] + now[south][idx] + now[south][east];
  Int neighbours = above + beside + below;
  next[idy][idx] = where(now[idy][idx] != 0, survive, birth) >> neighbours & 1;
}

// One generation where everything beyond the edge is dead. The C++ loops run while the kernel is
// captured, so the generated OpenCL C is unrolled.
void lifeWithDeadEdges(Cells next, Cells now, Int birth, Int survive) {
  Int neighbours = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      if (dy == 0 && dx == 0) continue;
      Int y = cast<int>(idy) + dy, x = cast<int>(idx) + dx;
      if_(y >= 0 && y < cast<int>(szy) && x >= 0 && x < cast<int>(szx)) {
        neighbours += now[y][x];
      }
    }
  }
  next[idy][idx] = where(now[idy][idx] != 0, survive, birth) >> neighbours & 1;
}

/// The array's present cells on the host. Valid until the next launch that writes the array.
samples::GridView onHost(Cells& cells, const samples::LifeOptions& options) {
  return {cells.data(HPL_RD), options.start.height(), options.start.width()};
}

/// Computes all generations, writing the animation on the way, and returns the last one.
samples::Grid run(const samples::LifeOptions& options, const Device& device) {
  const auto height = static_cast<std::size_t>(options.start.height());
  const auto width = static_cast<std::size_t>(options.start.width());
  Cells first(height, width), second(height, width);
  Cells *now = &first, *next = &second;
  std::copy_n(options.start.data(), options.start.size(), first.data(HPL_WR));

  std::optional<samples::GifWriter> gif;
  if (!options.gif.empty()) {
    gif.emplace(options.gif, options.gifScale.width(options.start),
                options.gifScale.height(options.start), samples::cellPalette(), options.delay);
    gif->addFrame(samples::drawCells(options.start, options.gifScale));
  }

  using Mode = samples::Progress::Mode;
  samples::Progress progress(options.generations, "generations",
                             options.progress ? Mode::Auto : Mode::Off);
  const auto step = options.edges == samples::Edges::Torus ? &lifeOnTorus : &lifeWithDeadEdges;
  const int birth = static_cast<int>(options.rule.birth);
  const int survive = static_cast<int>(options.rule.survive);

  for (int generation = 0; generation < options.generations;) {
    // Launches are asynchronous: a batch of them is queued before the progress bar waits.
    std::int64_t batch = std::min<std::int64_t>(progress.batch(), options.generations - generation);
    if (gif) {
      batch = std::min<std::int64_t>(batch, options.every - generation % options.every);
    }
    for (std::int64_t i = 0; i < batch; ++i, ++generation) {
      eval(step).device(device).global(width, height)(*next, *now, birth, survive);
      std::swap(now, next);
    }
    device.sync();
    progress.update(generation);
    if (gif && generation % options.every == 0) {
      gif->addFrame(samples::drawCells(onHost(*now, options), options.gifScale));
    }
  }
  if (gif) gif->close();
  samples::Grid result(options.start.height(), options.start.width());
  std::copy_n(now->data(HPL_RD), result.size(), result.data());
  return result;
}

/// Runs what the options ask for; the program's exit code.
int life(const samples::LifeOptions& options) {
  const Device device = samples::chooseDevice(options.device);
  const bool torus = options.edges == samples::Edges::Torus;
  std::printf("%s: %d x %d cells, %s edges, rule %s, on %s\n", options.title.c_str(),
              options.start.width(), options.start.height(), torus ? "torus" : "dead",
              samples::ruleText(options.rule).c_str(), device.name().c_str());
  std::printf("generation 0: population %zu\n", samples::population(options.start));

  const auto begin = std::chrono::steady_clock::now();
  const samples::Grid last = run(options, device);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  if (options.show) std::fputs(samples::terminalPicture(last, 100).c_str(), stdout);
  std::printf("generation %d: population %zu\n", options.generations, samples::population(last));
  std::printf("%.2f s: %.0f generations/s, %.1f million cells/s\n", seconds,
              options.generations / seconds,
              1e-6 * options.generations * static_cast<double>(last.size()) / seconds);
  if (!options.png.empty()) {
    samples::writePng(options.png, samples::cellImage(last, options.scale));
    std::printf("picture: %s\n", options.png.c_str());
  }
  if (!options.gif.empty()) std::printf("animation: %s\n", options.gif.c_str());
  if (options.check) {
    const bool same = last == samples::referenceRun(options.start, options.generations,
                                                    options.rule, options.edges);
    std::printf("check against the host: %s\n", same ? "equal" : "DIFFERENT");
    return same ? 0 : 1;
  }
  return 0;
}

int main(int argc, char** argv) {
  try {
    int exitCode = 0;
    const auto options = samples::parseLifeOptions(argc, argv, std::cout, std::cerr, exitCode);
    if (!options) return exitCode;
    if (options->device != "list") return life(*options);
    samples::listDevices();
    return 0;
  } catch (const std::exception& error) {
    std::fflush(stdout);
    std::cerr << "life: " << error.what() << '\n';
    return 1;
  }
}
