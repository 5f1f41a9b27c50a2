// SPDX-License-Identifier: Apache-2.0
// An electromagnetic wave in a box with perfectly conducting walls and a block of glass in it:
// three fields in turns, the finite-difference time-domain method (Yee 1966), as a StencilProgram.
// fdtd2d --help.
#include <CLI/CLI.hpp>
#include <algorithm>
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

/// Cells per step that a wave may travel; at most 1 / sqrt(2).
constexpr float kCourant = 0.5f;

/// Side x side cells of each field. The magnetic field points out of the plane.
struct Fields {
  int side;
  std::vector<float> ex, ey, hz;
  /// 1 / permittivity: slower where there is glass.
  std::vector<float> glass;

  explicit Fields(int n)
      : side(n), ex(count(n)), ey(count(n)), hz(count(n)), glass(count(n), kCourant) {
    for (int y = 0; y < n; ++y) {
      for (int x = 0; x < n; ++x) {
        const float dy = static_cast<float>(y) / static_cast<float>(n) - 0.5f;
        const float dx = static_cast<float>(x) / static_cast<float>(n) - 0.25f;
        hz[at(y, x)] = std::exp(-(dy * dy + dx * dx) * 900.0f);
        if (x > n * 55 / 100 && x < n * 75 / 100 && y > n / 4 && y < n * 3 / 4)
          glass[at(y, x)] = kCourant / 2.25f;
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

  /// The same steps in plain C++.
  void onHost(int steps) {
    const int n = side;
    for (int step = 0; step < steps; ++step) {
      for (int y = 1; y < n; ++y)
        for (int x = 0; x < n; ++x)
          ex[at(y, x)] = ex[at(y, x)] + glass[at(y, x)] * (hz[at(y, x)] - hz[at(y - 1, x)]);
      for (int y = 0; y < n; ++y)
        for (int x = 1; x < n; ++x)
          ey[at(y, x)] = ey[at(y, x)] - glass[at(y, x)] * (hz[at(y, x)] - hz[at(y, x - 1)]);
      for (int y = 0; y < n - 1; ++y)
        for (int x = 0; x < n - 1; ++x)
          hz[at(y, x)] = hz[at(y, x)] + kCourant * (ex[at(y + 1, x)] - ex[at(y, x)] -
                                                    (ey[at(y, x + 1)] - ey[at(y, x)]));
    }
  }
};

Array<float, 2> arrayOf(const std::vector<float>& cells, int n) {
  Array<float, 2> array(n, n);
  array.copyFrom(cells.data());
  return array;
}

}  // namespace

int main(int argc, char** argv) try {
  int side = 768, steps = 900, perPass = 0, devices = 0;
  bool check = false;
  std::string png, device;
  CLI::App app("An electromagnetic wave meets a block of glass, on an OpenCL device.", "fdtd2d");
  app.add_option("--size", side, "cells of a side")
      ->check(CLI::Range(8, 16384))
      ->capture_default_str();
  app.add_option("-n,--steps", steps, "time steps")
      ->check(CLI::Range(1, 10000000))
      ->capture_default_str();
  app.add_option("--time-tile", perPass, "steps per pass over memory; 0: the library chooses")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  app.add_option("-d,--device", device, "list, a number of that list, gpu, cpu or accelerator");
  app.add_option("--devices", devices, "so many devices of the type of --device share the plane")
      ->check(CLI::Range(1, 1024));
  app.add_option("--png", png, "write a picture of the magnetic field")->type_name("FILE");
  app.add_flag("--check", check, "compare with the same steps on the host");
  samples::refuseEmptyArguments(argc, argv);
  CLI11_PARSE(app, argc, argv);
  const samples::Session session(argc, argv);
  if (device == "list") return samples::listDevices(), 0;

  Fields begin(side);
  Array<float, 2> ex = arrayOf(begin.ex, side), ey = arrayOf(begin.ey, side);
  Array<float, 2> hz = arrayOf(begin.hz, side), glass = arrayOf(begin.glass, side);
  using Field = Neighbourhood<float, 2>;
  const int last = side - 1;
  StencilProgram maxwell;
  maxwell.label("maxwell");
  maxwell.apply([](Field e, Field h, Field k) { return e(0, 0) + k(0, 0) * (h(0, 0) - h(-1, 0)); })
      .over(Range(1, last), Range(0, last))(ex, hz, glass, ex);
  maxwell.apply([](Field e, Field h, Field k) { return e(0, 0) - k(0, 0) * (h(0, 0) - h(0, -1)); })
      .over(Range(0, last), Range(1, last))(ey, hz, glass, ey);
  maxwell
      .apply([](Field h, Field x, Field y) {
        return h(0, 0) + kCourant * (x(1, 0) - x(0, 0) - (y(0, 1) - y(0, 0)));
      })
      .over(Range(0, last - 1), Range(0, last - 1))(hz, ex, ey, hz);
  const Device chosen = samples::chooseDevice(device);
  if (devices > 0) {
    maxwell.devices(chosen.type(), devices);
  } else {
    maxwell.device(chosen);
  }
  if (perPass > 0) maxwell.timeTile(perPass);

  const auto started = std::chrono::steady_clock::now();
  maxwell.run(steps);
  const float* result = hz.data(HPL_RD);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  std::printf(
      "%d steps on %d x %d cells in %.2f s, compilation included: %.2f billion cells per "
      "second\n",
      steps, side, side, seconds, 1e-9 * steps * side * side / seconds);
  if (!png.empty()) {
    const float most = std::abs(*std::max_element(
        result, result + hz.size(), [](float a, float b) { return std::abs(a) < std::abs(b); }));
    io::writePng(session.file(png), hz,
                 io::ColorScale().range(-most / 2, most / 2).zoom(std::max(1, 512 / side)));
    std::printf("picture: %s\n", png.c_str());
  }
  if (!check) return 0;
  begin.onHost(steps);
  const samples::Comparison comparison =
      samples::compare(std::span<const float>(result, begin.hz.size()), begin.hz);
  return samples::reportCheck("cells", comparison, 1e-4) ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "fdtd2d: %s\n", error.what());
  return 1;
}
