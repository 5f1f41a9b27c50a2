// SPDX-License-Identifier: Apache-2.0
// Heat spreads in a plate: a stencil applied many times, several steps per pass over memory where
// the library finds that it pays (HPL_EXPLAIN=1 says so). heat2d --help.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
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

constexpr float kRate = 0.2f;

/// A plate at 0 degrees with hot discs; its rim is kept at 0.
std::vector<float> plate(int height, int width) {
  struct Disc {
    float y, x, radius, heat;
  };
  constexpr Disc discs[] = {{0.30f, 0.25f, 0.12f, 100},
                            {0.62f, 0.42f, 0.20f, 60},
                            {0.35f, 0.72f, 0.16f, 80},
                            {0.78f, 0.80f, 0.08f, 100}};
  std::vector<float> cells(static_cast<std::size_t>(height) * static_cast<std::size_t>(width));
  const auto side = static_cast<float>(std::min(height, width));
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      float& cell = cells[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                          static_cast<std::size_t>(x)];
      for (const Disc& disc : discs) {
        const float dy = (static_cast<float>(y) - disc.y * static_cast<float>(height)) / side;
        const float dx = (static_cast<float>(x) - disc.x * static_cast<float>(width)) / side;
        if (dy * dy + dx * dx < disc.radius * disc.radius) cell = disc.heat;
      }
    }
  }
  return cells;
}

/// The same steps in plain C++.
std::vector<float> onHost(std::vector<float> now, int height, int width, int steps) {
  std::vector<float> next = now;
  const auto w = static_cast<std::size_t>(width);
  for (int step = 0; step < steps; ++step) {
    for (std::size_t y = 0; y < static_cast<std::size_t>(height); ++y) {
      for (std::size_t x = 0; x < w; ++x) {
        const std::size_t i = y * w + x;
        const float up = y > 0 ? now[i - w] : 0,
                    down = y + 1 < static_cast<std::size_t>(height) ? now[i + w] : 0;
        const float left = x > 0 ? now[i - 1] : 0, right = x + 1 < w ? now[i + 1] : 0;
        next[i] = now[i] + kRate * (up + down + left + right - 4.0f * now[i]);
      }
    }
    std::swap(now, next);
  }
  return now;
}

}  // namespace

int main(int argc, char** argv) try {
  int side = 1024, steps = 1000, perPass = 0, devices = 0;
  bool check = false;
  std::string png, device;
  CLI::App app("Heat spreads in a plate, on an OpenCL device.", "heat2d");
  app.add_option("--size", side, "cells of a side")
      ->check(CLI::Range(3, 32768))
      ->capture_default_str();
  app.add_option("-n,--steps", steps, "time steps")
      ->check(CLI::Range(0, 10000000))
      ->capture_default_str();
  app.add_option("--time-tile", perPass, "steps per pass over memory; 0: the library chooses")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  app.add_option("-d,--device", device, "list, a number of that list, gpu, cpu or accelerator");
  app.add_option("--devices", devices, "so many devices of the type of --device share the plate")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--png", png, "write the picture")->type_name("FILE");
  app.add_flag("--check", check, "compare with the same steps on the host");
  samples::refuseEmptyArguments(argc, argv);
  CLI11_PARSE(app, argc, argv);
  const samples::Session session(argc, argv);
  if (device == "list") return samples::listDevices(), 0;

  Stencil heat([](Neighbourhood<float, 2> t, Float rate) {
    return t(0, 0) + rate * (t(-1, 0) + t(1, 0) + t(0, -1) + t(0, 1) - 4.0f * t(0, 0));
  });
  heat.label("heat").boundary(Fixed(0.0f));
  const Device chosen = samples::chooseDevice(device);
  StencilLauncher on = devices > 0 ? heat.devices(chosen.type(), devices) : heat.device(chosen);
  if (perPass > 0) on.timeTile(perPass);

  const std::vector<float> begin = plate(side, side);
  Array<float, 2> now(side, side), next(side, side);
  now.copyFrom(begin.data());
  on.iterate(std::min(steps, 64))(now, next, kRate);  // compiles what the steps below will run
  now.copyFrom(begin.data());
  const auto started = std::chrono::steady_clock::now();
  const StencilRun run = on.iterate(steps)(now, next, kRate);
  const float* result = now.data(HPL_RD);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  std::printf("%d steps on %d x %d cells in %.2f s, %lld launch%s: %.2f billion cells per second\n",
              steps, side, side, seconds, static_cast<long long>(run.launches),
              run.launches == 1 ? "" : "es", 1e-9 * steps * side * side / seconds);
  if (!png.empty()) {
    io::writePng(session.file(png), now,
                 io::ColorScale().range(0, 100).zoom(std::max(1, 512 / side)));
    std::printf("picture: %s\n", png.c_str());
  }
  if (!check || isDryRun()) return 0;
  const std::vector<float> expected = onHost(begin, side, side, steps);
  const samples::Comparison comparison =
      samples::compare(std::span<const float>(result, expected.size()), expected);
  // The device may contract products and sums; values are up to 100.
  return samples::reportCheck("cells", comparison, 1e-3) ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "heat2d: %s\n", error.what());
  return 1;
}
