// SPDX-License-Identifier: Apache-2.0
// Two discs of stars meet: each body attracts each other one, and the work-items of a group read
// bodies together, through local memory (Nyland, Harris and Prins 2007). nbody --help.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include "hpl/hpl.h"
#include "hpl/io.h"
#include "samples/common/arguments.h"
#include "samples/common/device_choice.h"

using namespace hpl;

namespace {

constexpr int kGroup = 32;
/// Square of the distance below which attraction fades.
constexpr float kSoftening = 0.0025f;

// acceleration of each body; .w of a body is its mass.
void attract(Array<float4, 1> acceleration, const Array<float4, 1>& bodies, Int count) {
  Array<float4, 1, Local> tile(kGroup);
  Float4 own = bodies[idx], sum = float4(0, 0, 0, 0);
  for_(Int begin = 0, begin < count, begin += kGroup) {
    tile[lidx] = bodies[begin + cast<int>(lidx)];
    barrier(LOCAL);
    for_(Int k = 0, k < kGroup, k++) {
      Float4 other = tile[k];
      Float x = other.x - own.x, y = other.y - own.y, z = other.z - own.z;
      Float near = rsqrt(x * x + y * y + z * z + kSoftening);
      Float pull = other.w * near * near * near;
      sum += pull * make<float4>(x, y, z, 0.0f);
    }
    barrier(LOCAL);
  }
  acceleration[idx] = sum;
}

// Leapfrog: half a kick, a drift; attract() and the other half follow.
void drift(Array<float4, 1> bodies, Array<float4, 1> velocity, const Array<float4, 1>& acceleration,
           Float dt) {
  velocity[idx] += 0.5f * dt * acceleration[idx];
  bodies[idx] += dt * velocity[idx];
}
void kick(Array<float4, 1> velocity, const Array<float4, 1>& acceleration, Float dt) {
  velocity[idx] += 0.5f * dt * acceleration[idx];
}

using Point = std::array<double, 3>;

/// The same in plain C++ and double precision.
struct HostBodies {
  std::vector<Point> place, velocity, acceleration;
  std::vector<double> mass;

  HostBodies(const std::vector<float4>& bodies, const std::vector<float4>& velocities) {
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      place.push_back({bodies[i][0], bodies[i][1], bodies[i][2]});
      velocity.push_back({velocities[i][0], velocities[i][1], velocities[i][2]});
      mass.push_back(bodies[i][3]);
    }
    attract();
  }
  void attract() {
    acceleration.assign(place.size(), Point{});
    for (std::size_t i = 0; i < place.size(); ++i) {
      for (std::size_t j = 0; j < place.size(); ++j) {
        double square = kSoftening;
        for (std::size_t d = 0; d < 3; ++d) square += std::pow(place[j][d] - place[i][d], 2);
        for (std::size_t d = 0; d < 3; ++d)
          acceleration[i][d] +=
              mass[j] * (place[j][d] - place[i][d]) / (square * std::sqrt(square));
      }
    }
  }
  void step(double dt) {
    for (std::size_t i = 0; i < place.size(); ++i) {
      for (std::size_t d = 0; d < 3; ++d) {
        velocity[i][d] += 0.5 * dt * acceleration[i][d];
        place[i][d] += dt * velocity[i][d];
      }
    }
    attract();
    for (std::size_t i = 0; i < place.size(); ++i)
      for (std::size_t d = 0; d < 3; ++d) velocity[i][d] += 0.5 * dt * acceleration[i][d];
  }
};

/// Two discs, each turning around a heavy centre, on their way past each other.
void makeDiscs(std::vector<float4>& bodies, std::vector<float4>& velocities) {
  const std::size_t half = bodies.size() / 2;
  constexpr float centre = 0.5f, stars = 0.5f;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    HostRandom random(3, i);
    const bool second = i >= half;
    const float side = second ? 1.0f : -1.0f;
    const float radius = i % half == 0 ? 0 : 0.15f + 0.75f * std::sqrt(random.uniform());
    const float angle = 2 * std::numbers::pi_v<float> * random.uniform();
    const float inside = centre + stars * radius * radius;
    const float speed = radius > 0 ? std::sqrt(inside / radius) : 0;
    bodies[i] =
        float4(radius * std::cos(angle) + 1.3f * side, radius * std::sin(angle) + 0.5f * side,
               0.02f * random.normal(), radius > 0 ? stars / static_cast<float>(half) : centre);
    velocities[i] = float4(-speed * std::sin(angle) - 0.45f * side, speed * std::cos(angle), 0, 0);
  }
}

/// Bodies per pixel, seen from above.
Array<float, 2> skyOf(const float4* bodies, std::size_t count, int pixels) {
  Array<float, 2> sky(pixels, pixels);
  sky = 0.0f;
  for (std::size_t i = 0; i < count; ++i) {
    const int x = static_cast<int>((bodies[i][0] / 5.0f + 0.5f) * static_cast<float>(pixels));
    const int y = static_cast<int>((bodies[i][1] / 5.0f + 0.5f) * static_cast<float>(pixels));
    if (x >= 0 && x < pixels && y >= 0 && y < pixels) sky(y, x) += 1.0f;
  }
  for (int y = 0; y < pixels; ++y)
    for (int x = 0; x < pixels; ++x) sky(y, x) = std::log1p(sky(y, x).value());
  return sky;
}

}  // namespace

int main(int argc, char** argv) try {
  int count = 4096, steps = 400;
  float dt = 0.005f;
  bool check = false, noProgress = false;
  std::string png, device;
  CLI::App app("Two discs of stars meet, on an OpenCL device.", "nbody");
  app.add_option("--bodies", count, "a multiple of 64")
      ->check(CLI::Range(64, 1048576))
      ->capture_default_str();
  app.add_option("-n,--steps", steps, "time steps")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app.add_option("--dt", dt, "length of a step")
      ->check(samples::finiteNumber)
      ->check(CLI::Range(1e-6, 0.1))
      ->capture_default_str();
  app.add_option("-d,--device", device, "list, a number of that list, gpu, cpu or accelerator");
  app.add_option("--png", png, "write a picture of the sky")->type_name("FILE");
  app.add_flag("--no-progress", noProgress, "draw no progress bar");
  app.add_flag("--check", check, "compare with the same steps on the host");
  samples::refuseEmptyArguments(argc, argv);
  CLI11_PARSE(app, argc, argv);
  if (device == "list") return samples::listDevices(), 0;
  if (count % 64 != 0)
    throw std::invalid_argument("--bodies " + std::to_string(count) +
                                ": expected a multiple of 64");

  std::vector<float4> begin(static_cast<std::size_t>(count)), velocities(begin.size());
  makeDiscs(begin, velocities);
  Array<float4, 1> bodies(count), velocity(count), acceleration(count);
  bodies.copyFrom(begin.data());
  velocity.copyFrom(velocities.data());
  const Device chosen = samples::chooseDevice(device);
  const auto launchAttract = [&] {
    eval(attract).device(chosen).local(kGroup)(acceleration, bodies, count);
  };
  io::Progress progress(steps, "steps",
                        noProgress ? io::Progress::Mode::Off : io::Progress::Mode::Auto);
  const auto started = std::chrono::steady_clock::now();
  launchAttract();
  for (int step = 0; step < steps; ++step) {
    eval(drift).device(chosen)(bodies, velocity, acceleration, dt);
    launchAttract();
    eval(kick).device(chosen)(velocity, acceleration, dt);
    if (step % 8 != 7) continue;
    chosen.sync();
    progress.update(step + 1);
  }
  const float4* result = bodies.data(HPL_RD);
  progress.finish();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  std::printf("%d steps of %d bodies in %.2f s: %.2f billion attractions per second\n", steps,
              count, seconds, 1e-9 * count * count * (steps + 1.0) / seconds);
  if (!png.empty()) {
    io::writePng(png, skyOf(result, begin.size(), 256),
                 io::ColorScale(io::inferno()).range(0, 1.5).zoom(2));
    std::printf("picture: %s\n", png.c_str());
  }
  if (!check) return 0;
  HostBodies host(begin, velocities);
  for (int step = 0; step < steps; ++step) host.step(dt);
  double largest = 0;
  for (std::size_t i = 0; i < begin.size(); ++i)
    for (int d = 0; d < 3; ++d)
      largest = std::max(largest, std::abs(static_cast<double>(result[i][d]) -
                                           host.place[i][static_cast<std::size_t>(d)]));
  // Encounters amplify what single precision rounds.
  const bool isRight = largest <= 1e-3;
  std::printf("check: bodies are at most %.2g from where the host has them: %s\n", largest,
              isRight ? "right" : "wrong");
  return isRight ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "nbody: %s\n", error.what());
  return 1;
}
