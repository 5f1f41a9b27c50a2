// SPDX-License-Identifier: Apache-2.0
// Two substances that react and spread, one feeding on the other, draw spots, stripes and mazes
// (Gray and Scott 1983, Pearson 1993): a stencil with two inputs and two outputs. grayscott --help.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <vector>

#include "hpl/io.h"
#include "samples/common/arguments.h"
#include "samples/common/comparison.h"
#include "samples/common/device_choice.h"
#include "stencil_templates/stencil_templates.h"

using namespace hpl;

namespace {

constexpr float kSpreadU = 0.16f, kSpreadV = 0.08f;

/// Where on Pearson's map a pattern lives: how fast U flows in and V dies.
struct Rates {
  float feed, kill;
};
const std::map<std::string, Rates> kPatterns = {{"coral", {0.0545f, 0.062f}},
                                                {"maze", {0.029f, 0.057f}},
                                                {"spots", {0.0367f, 0.0649f}},
                                                {"waves", {0.014f, 0.045f}}};

/// U everywhere, and squares with V in it.
struct Dish {
  int side;
  std::vector<float> u, v;

  explicit Dish(int n) : side(n), u(count(n), 1.0f), v(count(n), 0.0f) {
    const int patch = std::max(2, n / 20);
    for (int spot = 0; spot < 12; ++spot) {
      HostRandom place(7, static_cast<std::uint64_t>(spot));
      const int top = static_cast<int>(place.uniform() * static_cast<float>(n));
      const int left = static_cast<int>(place.uniform() * static_cast<float>(n));
      for (int y = 0; y < patch; ++y) {
        for (int x = 0; x < patch; ++x) {
          u[at(top + y, left + x)] = 0.5f;
          v[at(top + y, left + x)] = 0.25f;
        }
      }
    }
  }
  static std::size_t count(int n) {
    return static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  }
  /// The dish has no rim: what leaves it on one side comes back on the other.
  std::size_t at(int y, int x) const {
    return static_cast<std::size_t>((y + side) % side) * static_cast<std::size_t>(side) +
           static_cast<std::size_t>((x + side) % side);
  }

  /// The same steps in plain C++.
  void onHost(int steps, Rates rates) {
    std::vector<float> nextU(u.size()), nextV(v.size());
    const auto spread = [this](const std::vector<float>& w, int y, int x) {
      return w[at(y - 1, x)] + w[at(y + 1, x)] + w[at(y, x - 1)] + w[at(y, x + 1)] -
             4.0f * w[at(y, x)];
    };
    for (int step = 0; step < steps; ++step) {
      for (int y = 0; y < side; ++y) {
        for (int x = 0; x < side; ++x) {
          const std::size_t i = at(y, x);
          const float reaction = u[i] * v[i] * v[i];
          nextU[i] = u[i] + (kSpreadU * spread(u, y, x) - reaction + rates.feed * (1.0f - u[i]));
          nextV[i] =
              v[i] + (kSpreadV * spread(v, y, x) + reaction - (rates.feed + rates.kill) * v[i]);
        }
      }
      std::swap(u, nextU);
      std::swap(v, nextV);
    }
  }
};

}  // namespace

int main(int argc, char** argv) try {
  int side = 512, steps = 8000;
  bool check = false, noProgress = false;
  std::string pattern = "coral", png, device;
  CLI::App app("Spots and stripes of a chemical reaction, on an OpenCL device.", "grayscott");
  app.add_option("--size", side, "cells of a side")
      ->check(CLI::Range(3, 16384))
      ->capture_default_str();
  app.add_option("-n,--steps", steps, "time steps")
      ->check(CLI::Range(0, 10000000))
      ->capture_default_str();
  app.add_option("--pattern", pattern, "coral, maze, spots or waves")
      ->check(CLI::IsMember(kPatterns))
      ->capture_default_str();
  app.add_option("-d,--device", device, "list, a number of that list, gpu, cpu or accelerator");
  app.add_option("--png", png, "write a picture of V")->type_name("FILE");
  app.add_flag("--no-progress", noProgress, "draw no progress bar");
  app.add_flag("--check", check, "compare with the same steps on the host");
  samples::refuseEmptyArguments(argc, argv);
  CLI11_PARSE(app, argc, argv);
  if (device == "list") return samples::listDevices(), 0;

  Dish begin(side);
  const Rates rates = kPatterns.at(pattern);
  Array<float, 2> u(side, side), v(side, side);
  u.copyFrom(begin.u.data());
  v.copyFrom(begin.v.data());
  using Field = Neighbourhood<float, 2>;
  const auto spread = [](const Field& w) {
    return w(-1, 0) + w(1, 0) + w(0, -1) + w(0, 1) - 4.0f * w(0, 0);
  };
  Stencil react(
      [spread](Field a, Field b, Output<float> nextA, Output<float> nextB, Float feed, Float kill) {
        Float reaction = a(0, 0) * b(0, 0) * b(0, 0);
        nextA = a(0, 0) + (kSpreadU * spread(a) - reaction + feed * (1.0f - a(0, 0)));
        nextB = b(0, 0) + (kSpreadV * spread(b) + reaction - (feed + kill) * b(0, 0));
      });
  react.boundary(Periodic());
  StencilProgram dish;
  dish.label("Gray-Scott").device(samples::chooseDevice(device));
  dish.apply(react)(u, v, u, v, rates.feed, rates.kill);

  io::Progress progress(steps, "steps",
                        noProgress ? io::Progress::Mode::Off : io::Progress::Mode::Auto);
  dish.every(std::max(1, steps / 100), std::ref(progress)).run(steps);
  const float* result = v.data(HPL_RD);
  progress.finish();
  if (!png.empty()) {
    io::writePng(png, v, io::ColorScale(io::magma()).range(0, 0.4).zoom(std::max(1, 512 / side)));
    std::printf("picture: %s\n", png.c_str());
  }
  const float amount = sum(v);
  std::printf("%d steps: V fills %.1f %% of the dish\n", steps,
              100.0f * amount / static_cast<float>(v.size()));
  if (!check) return 0;
  begin.onHost(steps, rates);
  const samples::Comparison comparison =
      samples::compare(std::span<const float>(result, begin.v.size()), begin.v);
  // The reaction amplifies what the device rounds otherwise.
  return samples::reportCheck("cells", comparison, 1e-3) ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "grayscott: %s\n", error.what());
  return 1;
}
