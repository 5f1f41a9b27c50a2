// SPDX-License-Identifier: Apache-2.0
// Sound in the ground: a source near the surface, layers that echo, and a row of receivers. The
// acoustic wave equation, 16th order in space, 2nd in time, on two time levels in place: a
// StencilProgram whose source changes from step to step and whose receivers listen in each. The
// sponge at the edges is that of Cerjan, Kosloff, Kosloff and Reshef (1985). acoustic --help.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

#include "hpl/io.h"
#include "samples/common/arguments.h"
#include "samples/common/comparison.h"
#include "samples/common/device_choice.h"
#include "samples/common/session.h"
#include "stencil_templates/stencil_templates.h"

using namespace hpl;

namespace {

constexpr int kReach = 8;
/// Weights of the second derivative, from the cell itself outwards.
constexpr std::array<float, kReach + 1> kWeights = {-3.0548446f,   1.7777778f,    -0.31111111f,
                                                    0.07542088f,   -0.017676768f, 0.0034809635f,
                                                    -0.000518001f, 5.0742907e-5f, -2.4281274e-6f};
/// Cells at each edge in which waves fade.
constexpr int kSponge = 24;
/// Steps from one peak of the source to the next, about.
constexpr float kPeriod = 30;

struct Ground {
  int side;
  /// (cells per step)^2, at most 1/4, and what is left of a wave after a step.
  std::vector<float> speed, sponge;

  explicit Ground(int n) : side(n), speed(count(n)), sponge(count(n)) {
    for (int y = 0; y < n; ++y) {
      for (int x = 0; x < n; ++x) {
        // Two layers below a hill, the lower ones faster.
        const float across = static_cast<float>(x) / static_cast<float>(n) - 0.5f;
        const float depth = static_cast<float>(y) / static_cast<float>(n) +
                            0.15f * std::exp(-30.0f * across * across);
        const float velocity = depth < 0.45f ? 0.25f : depth < 0.7f ? 0.35f : 0.45f;
        speed[at(y, x)] = velocity * velocity;
        const int edge = std::min(std::min(x, n - 1 - x), std::min(y, n - 1 - y));
        const float within = 0.012f * static_cast<float>(std::max(0, kSponge - edge));
        sponge[at(y, x)] = std::exp(-within * within);
      }
    }
  }
  std::size_t at(int y, int x) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(side) +
           static_cast<std::size_t>(x);
  }
  static std::size_t count(int n) {
    return static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  }
};

/// Where the source is, and how fast it moves to the right, in cells per step.
struct Source {
  int row = 0, column = 0;
  float drift = 0;
  int side = 0;

  /// Ricker's wavelet.
  static float amount(std::int64_t step) {
    const float turns = 3.14159265f * (static_cast<float>(step) / kPeriod - 1.5f);
    return (1 - 2 * turns * turns) * std::exp(-turns * turns);
  }
  int columnAt(std::int64_t step) const {
    return std::clamp(column + static_cast<int>(std::lround(drift * static_cast<float>(step))), 0,
                      side - 1);
  }
};

/// One step in plain C++: from `before` and `now` to the new `before`.
void stepOnHost(const Ground& ground, const Source& source, std::int64_t step,
                std::vector<float>& before, const std::vector<float>& now) {
  const int n = ground.side;
  const auto value = [&](int y, int x) {
    return y < 0 || x < 0 || y >= n || x >= n ? 0.0f : now[ground.at(y, x)];
  };
  for (int y = 0; y < n; ++y) {
    for (int x = 0; x < n; ++x) {
      float laplacian = 2 * kWeights[0] * value(y, x);
      for (int r = 1; r <= kReach; ++r)
        laplacian += kWeights[static_cast<std::size_t>(r)] *
                     (value(y - r, x) + value(y + r, x) + value(y, x - r) + value(y, x + r));
      const std::size_t cell = ground.at(y, x);
      const float left = ground.sponge[cell];
      float next = left * (2 * now[cell] - left * before[cell] + ground.speed[cell] * laplacian);
      if (x == source.columnAt(step) && y == source.row) next += Source::amount(step);
      before[cell] = next;
    }
  }
}

/// The wave field after an even number of steps, and what the cells of the source's row heard.
struct Heard {
  std::vector<float> wave, traces;
};
Heard waveOnHost(const Ground& ground, const Source& source, int steps) {
  Heard heard;
  std::vector<float> before(ground.speed.size()), now(ground.speed.size());
  for (int step = 0; step < steps; ++step) {
    stepOnHost(ground, source, step, before, now);
    std::swap(before, now);
    const auto row = now.begin() + static_cast<std::ptrdiff_t>(ground.at(source.row, 0));
    heard.traces.insert(heard.traces.end(), row, row + ground.side);
  }
  heard.wave = std::move(now);
  return heard;
}

Array<float, 2> arrayOf(const std::vector<float>& cells, int n) {
  Array<float, 2> array(n, n);
  array.copyFrom(cells.data());
  return array;
}

using Field = Neighbourhood<float, 2>;

Float wave(Field before, Field now, Field speed, Field sponge, Float amount, Int column, Int row) {
  Float laplacian = 2 * kWeights[0] * now(0, 0);
  for (int r = 1; r <= kReach; ++r)
    laplacian +=
        kWeights[static_cast<std::size_t>(r)] * (now(-r, 0) + now(r, 0) + now(0, -r) + now(0, r));
  Float left = sponge(0, 0);
  Float next = left * (2 * now(0, 0) - left * before(0, 0) + speed(0, 0) * laplacian);
  if_(idx == column && idy == row) {
    next += amount;
  }
  endif_;
  return next;
}

}  // namespace

int main(int argc, char** argv) try {
  int side = 512, steps = 2000, perPass = 0, devices = 0;
  Source source;
  bool check = false;
  std::string png, traces, device;
  CLI::App app("Sound in layers of ground, on an OpenCL device.", "acoustic");
  app.add_option("--size", side, "cells of a side")
      ->check(CLI::Range(64, 16384))
      ->capture_default_str();
  app.add_option("-n,--steps", steps, "time steps, rounded up to an even number")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--drift", source.drift, "cells per step that the source moves to the right")
      ->check(samples::finiteNumber)
      ->check(CLI::Range(-10.0, 10.0))
      ->capture_default_str();
  app.add_option("--time-tile", perPass,
                 "pairs of steps per pass over memory; 0: the library chooses")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  app.add_option("-d,--device", device, "list, a number of that list, gpu, cpu or accelerator");
  app.add_option("--devices", devices, "so many devices of the type of --device share the ground")
      ->check(CLI::Range(1, 1024));
  app.add_option("--png", png, "write a picture of the wave")->type_name("FILE");
  app.add_option("--traces", traces, "write a picture of what the receivers heard, time downwards")
      ->type_name("FILE");
  app.add_flag("--check", check, "compare with the same steps on the host");
  samples::refuseEmptyArguments(argc, argv);
  CLI11_PARSE(app, argc, argv);
  const samples::Session session(argc, argv);
  if (device == "list") return samples::listDevices(), 0;

  const Ground ground(side);
  source.side = side;
  source.row = kSponge + 2;
  source.column = side / 3;
  const int pairs = (steps + 1) / 2;
  Array<float, 2> before(side, side), now(side, side);
  before = 0.0f;
  now = 0.0f;
  Array<float, 2> speed = arrayOf(ground.speed, side), sponge = arrayOf(ground.sponge, side);

  // Each step overwrites the older time level; a pair of them is a step of the program.
  Stencil step(wave);
  step.boundary(Fixed(0.0f)).label("acoustic wave");
  const auto amount = [](int which) {
    return perStep([which](std::int64_t pair) { return Source::amount(2 * pair + which); });
  };
  const auto column = [&](int which) {
    return perStep([&, which](std::int64_t pair) { return source.columnAt(2 * pair + which); });
  };
  StencilProgram program;
  program.label("acoustic");
  // The receivers are the cells of a row; of each pair, one array has the first step's samples and
  // one the second's. (Where several devices do several steps per pass, there is no moment to
  // listen in between.)
  const bool listens = !traces.empty() || (check && (devices < 2 || perPass < 2));
  Array<float, 2> first(listens ? pairs : 1, side), second(listens ? pairs : 1, side);
  const Range row(0, side - 1);
  program.apply(step)(before, now, speed, sponge, before, amount(0), column(0), source.row);
  if (listens) program.record(before, first, source.row, row);
  program.apply(step)(now, before, speed, sponge, now, amount(1), column(1), source.row);
  if (listens) program.record(now, second, source.row, row);
  const Device chosen = samples::chooseDevice(device);
  if (devices > 0) {
    program.devices(chosen.type(), devices);
  } else {
    program.device(chosen);
  }
  if (perPass > 0) program.timeTile(perPass);
  const auto started = std::chrono::steady_clock::now();
  program.run(pairs);
  const float* result = now.data(HPL_RD);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  std::printf(
      "%d steps on %d x %d cells in %.2f s, compilation included: %.2f billion cells per "
      "second\n",
      2 * pairs, side, side, seconds, 2e-9 * pairs * side * side / seconds);
  std::vector<float> heard;
  for (int pair = 0; listens && pair < pairs; ++pair) {
    for (Array<float, 2>* samples : {&first, &second}) {
      const float* sample = samples->data(HPL_RD) + static_cast<std::ptrdiff_t>(pair) * side;
      heard.insert(heard.end(), sample, sample + side);
    }
  }
  if (listens) std::printf("%d samples of %d receivers\n", 2 * pairs, side);
  // Echoes are weak beside what comes from the source straight.
  const auto scaleFor = [](const float* cells, std::size_t count) {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += std::abs(cells[i]);
    const float most = static_cast<float>(8 * sum / static_cast<double>(count)) + 1e-30f;
    return io::ColorScale().range(-most, most);
  };
  if (!png.empty()) {
    io::writePng(session.file(png), now, scaleFor(result, now.size()));
    std::printf("picture: %s\n", png.c_str());
  }
  if (!traces.empty()) {
    Array<float, 2> picture(2 * pairs, side);
    picture.copyFrom(heard.data());
    io::writePng(session.file(traces), picture, scaleFor(heard.data(), heard.size()));
    std::printf("traces: %s\n", traces.c_str());
  }
  if (!check) return 0;
  const Heard expected = waveOnHost(ground, source, 2 * pairs);
  const auto isNear = [](const char* what, std::span<const float> cells,
                         const std::vector<float>& own) {
    return samples::reportCheck(what, samples::compare(cells, own), 1e-5);
  };
  const bool isWaveRight = isNear("cells", {result, now.size()}, expected.wave);
  const bool areTracesRight = !listens || isNear("samples", heard, expected.traces);
  return isWaveRight && areTracesRight ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "acoustic: %s\n", error.what());
  return 1;
}
