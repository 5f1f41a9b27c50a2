// SPDX-License-Identifier: Apache-2.0
// Air flows past a cylinder, and behind it vortices break off by turns: the lattice Boltzmann
// method in nine directions (D2Q9; Qian, d'Humieres and Lallemand 1992), on one device or several.
// lbm --help.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

#include "hpl/hpl.h"
#include "hpl/io.h"
#include "samples/common/arguments.h"
#include "samples/common/device_choice.h"
#include "samples/common/session.h"

using namespace hpl;

namespace {

/// The nine directions: a step, the share of resting air, and which direction leads back.
constexpr int kX[] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, kY[] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
constexpr float kShare[] = {4.f / 9,  1.f / 9,  1.f / 9,  1.f / 9, 1.f / 9,
                            1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};
constexpr int kBack[] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
/// Speed of the wind, in cells per step.
constexpr float kSpeed = 0.08f;

// Air[i] moves in direction i. Air that would enter a solid cell comes back; the left rim blows,
// the right one lets out.
void stepOf(Array<float, 3> next, const Array<float, 3>& air, const Array<unsigned char, 2>& solid,
            Float relaxation) {
  Int x = idx, y = idy, width = szx, height = szy;
  if_(x > 0 && y > 0 && y + 1 < height && solid[y][x] == 0) {
    if_(x + 1 < width) {
      Float f[9], density = 0.0f, u = 0.0f, v = 0.0f;
      for (int i = 0; i < 9; ++i) {
        f[i] = where(solid[y - kY[i]][x - kX[i]] != 0, air[kBack[i]][y][x],
                     air[i][y - kY[i]][x - kX[i]]);
        density += f[i];
        if (kX[i] != 0) u += static_cast<float>(kX[i]) * f[i];
        if (kY[i] != 0) v += static_cast<float>(kY[i]) * f[i];
      }
      u /= density;
      v /= density;
      for (int i = 0; i < 9; ++i) {
        Float along = static_cast<float>(kX[i]) * u + static_cast<float>(kY[i]) * v;
        Float resting = kShare[i] * density *
                        (1.0f + 3.0f * along + 4.5f * along * along - 1.5f * (u * u + v * v));
        next[i][y][x] = f[i] + relaxation * (resting - f[i]);
      }
    }
    else_ {
      for (int i = 0; i < 9; ++i) next[i][y][x] = air[i][y][x - 1];
    }
  }
}

// How fast the air is.
void velocityOf(Array<float, 2> u, Array<float, 2> v, const Array<float, 3>& air) {
  Float density = 0.0f, alongX = 0.0f, alongY = 0.0f;
  for (int i = 0; i < 9; ++i) {
    Float f = air[i][idy][idx];
    density += f;
    alongX += static_cast<float>(kX[i]) * f;
    alongY += static_cast<float>(kY[i]) * f;
  }
  u[idy][idx] = alongX / density;
  v[idy][idx] = alongY / density;
}

// How fast it turns.
void curlOf(Array<float, 2> curl, const Array<float, 2>& u, const Array<float, 2>& v) {
  curl[idy][idx] = 0.0f;
  if_(idx > 0 && idx + 1 < szx && idy > 0 && idy + 1 < szy) {
    curl[idy][idx] = v[idy][idx + 1] - v[idy][idx - 1] - u[idy + 1][idx] + u[idy - 1][idx];
  }
}

/// The amount of blowing air in direction i.
template <class T>
T blowing(int i) {
  const T along = kX[i] * static_cast<T>(kSpeed);
  return static_cast<T>(kShare[i]) *
         (1 + 3 * along + T(4.5) * along * along - T(1.5) * static_cast<T>(kSpeed) * kSpeed);
}

/// The same in plain C++ and double precision: air is pushed to where it goes.
class HostTunnel {
 public:
  HostTunnel(const std::vector<unsigned char>& solid, int height, int width)
      : solid_(solid), height_(height), width_(width), air_(9 * solid.size()) {
    for (int i = 0; i < 9; ++i)
      std::fill_n(air_.begin() + static_cast<std::ptrdiff_t>(at(i, 0, 0)), solid.size(),
                  blowing<double>(i));
  }

  void step(double relaxation) {
    std::vector<double> next = air_;
    for (int y = 0; y < height_; ++y) {
      for (int x = 0; x < width_; ++x) {
        for (int i = 0; i < 9; ++i) {
          const int toY = y + kY[i], toX = x + kX[i];
          if (isAir(toY, toX) && !isSolid(y, x)) next[at(i, toY, toX)] = air_[at(i, y, x)];
          if (isAir(y, x) && isSolid(toY, toX)) next[at(kBack[i], y, x)] = air_[at(i, y, x)];
        }
      }
    }
    for (int y = 1; y + 1 < height_; ++y) {
      for (int x = 1; x + 1 < width_; ++x)
        if (!isSolid(y, x)) collide(next, y, x, relaxation);
      for (int i = 0; i < 9 && !isSolid(y, width_ - 1); ++i)
        next[at(i, y, width_ - 1)] = air_[at(i, y, width_ - 2)];
    }
    air_ = std::move(next);
  }
  /// The largest distance from another tunnel's air.
  double distance(const float* air) const {
    double largest = 0;
    for (std::size_t k = 0; k < air_.size(); ++k)
      largest = std::max(largest, std::abs(air_[k] - static_cast<double>(air[k])));
    return largest;
  }

 private:
  std::size_t at(int i, int y, int x) const {
    return (static_cast<std::size_t>(i) * static_cast<std::size_t>(height_) +
            static_cast<std::size_t>(y)) *
               static_cast<std::size_t>(width_) +
           static_cast<std::size_t>(x);
  }
  bool isSolid(int y, int x) const {
    return y >= 0 && x >= 0 && y < height_ && x < width_ && solid_[at(0, y, x)] != 0;
  }
  /// Neither solid nor on the rims that blow and let out.
  bool isAir(int y, int x) const {
    return y > 0 && x > 0 && y + 1 < height_ && x + 1 < width_ && !isSolid(y, x);
  }
  void collide(std::vector<double>& f, int y, int x, double relaxation) const {
    double density = 0, u = 0, v = 0;
    for (int i = 0; i < 9; ++i) {
      density += f[at(i, y, x)];
      u += kX[i] * f[at(i, y, x)];
      v += kY[i] * f[at(i, y, x)];
    }
    u /= density;
    v /= density;
    for (int i = 0; i < 9; ++i) {
      const double along = kX[i] * u + kY[i] * v;
      const double resting = static_cast<double>(kShare[i]) * density *
                             (1 + 3 * along + 4.5 * along * along - 1.5 * (u * u + v * v));
      f[at(i, y, x)] += relaxation * (resting - f[at(i, y, x)]);
    }
  }

  const std::vector<unsigned char>& solid_;
  int height_, width_;
  std::vector<double> air_;
};

/// Walls above and below, and a cylinder a little off the middle.
std::vector<unsigned char> tunnel(int height, int width) {
  std::vector<unsigned char> solid(static_cast<std::size_t>(height) *
                                   static_cast<std::size_t>(width));
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const double far = std::hypot(y - 0.48 * height, x - 0.5 * height);
      solid[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
            static_cast<std::size_t>(x)] = y == 0 || y == height - 1 || far < 0.1 * height;
    }
  }
  return solid;
}

}  // namespace

int main(int argc, char** argv) try {
  int height = 160, steps = 12000, devices = 0;
  double reynolds = 150;
  bool check = false, noProgress = false;
  std::string png, device;
  CLI::App app("Air flows past a cylinder, on an OpenCL device.", "lbm");
  app.add_option("--size", height, "cells across the tunnel, which is three times as long")
      ->check(CLI::Range(16, 4096))
      ->capture_default_str();
  app.add_option("-n,--steps", steps, "time steps")
      ->check(CLI::Range(0, 10000000))
      ->capture_default_str();
  app.add_option("--reynolds", reynolds, "Reynolds number; vortices break off above 50")
      ->check(samples::finiteNumber)
      ->check(CLI::Range(1.0, 1000.0))
      ->capture_default_str();
  app.add_option("-d,--device", device, "list, a number of that list, gpu, cpu or accelerator");
  app.add_option("--devices", devices, "n devices of the type of --device share the tunnel")
      ->check(CLI::Range(1, 1024));
  app.add_option("--png", png, "write a picture of the vortices")->type_name("FILE");
  app.add_flag("--no-progress", noProgress, "draw no progress bar");
  app.add_flag("--check", check, "compare with the same steps on the host");
  samples::refuseEmptyArguments(argc, argv);
  CLI11_PARSE(app, argc, argv);
  const samples::Session session(argc, argv);
  if (device == "list") return samples::listDevices(), 0;

  const int width = 3 * height;
  const double viscosity = static_cast<double>(kSpeed) * 0.2 * height / reynolds;
  const auto relaxation = static_cast<float>(1 / (3 * viscosity + 0.5));
  const std::vector<unsigned char> cells = tunnel(height, width);
  Array<unsigned char, 2> solid(height, width);
  Array<float, 3> air(9, height, width), next(9, height, width);
  solid.copyFrom(cells.data());
  for (int i = 0; i < 9; ++i)
    air(Range(i), Range(0, height - 1), Range(0, width - 1)) = blowing<float>(i);
  next = air;
  const std::vector<Device> used = samples::chooseDevices(device, devices);

  io::Progress progress(steps, "steps",
                        noProgress ? io::Progress::Mode::Off : io::Progress::Mode::Auto);
  const auto started = std::chrono::steady_clock::now();
  for (int step = 0; step < steps; ++step) {
    // Parts of the tunnel with a row of their neighbours, fetched when it is needed.
    eval(stepOf).devices(used).global(of(solid))(
        PART2(next, 1, AUTO_SYNC), PART2(air, 1, AUTO_SYNC), PART1(solid, 1), relaxation);
    swap(air, next);
    if (step % 16 != 15) continue;
    for (const Device& each : used) each.sync();
    progress.update(step + 1);
  }
  const float* result = air.data(HPL_RD);
  progress.finish();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  std::printf("%d steps on %d x %d cells in %.2f s: %.1f million cells per second\n", steps, width,
              height, seconds, 1e-6 * steps * width * height / seconds);
  if (!png.empty()) {
    Array<float, 2> u(height, width), v(height, width), curl(height, width);
    eval(velocityOf).device(used.front())(u, v, air);
    eval(curlOf).device(used.front())(curl, u, v);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        if (solid(y, x) != 0) curl(y, x) = std::nanf("");
    io::ColorScale scale(io::coolwarm());
    io::writePng(session.file(png), curl,
                 scale.range(-0.02, 0.02).nan({40, 40, 40}).zoom(std::max(1, 256 / height)));
    std::printf("picture: %s\n", png.c_str());
  }
  if (!check) return 0;
  HostTunnel host(cells, height, width);
  for (int step = 0; step < steps; ++step) host.step(relaxation);
  const double distance = host.distance(result);
  const bool isRight = distance <= 1e-4;
  std::printf("check: the air differs from the host's by at most %.2g: %s\n", distance,
              isRight ? "right" : "wrong");
  return isRight ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "lbm: %s\n", error.what());
  return 1;
}
