// SPDX-License-Identifier: Apache-2.0
// A magnet in two dimensions: spins that want to point as their neighbours do, and heat that shakes
// them (Ising 1925), by the method of Metropolis with random numbers by place and step. The host
// computes the same spins, and Onsager's solution of 1944 says what they come to. ising --help.
#include <CLI/CLI.hpp>
#include <algorithm>
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

using Spin = signed char;

/// Turns the spins of one colour of the chessboard, which do not see each other. `chance[k]`: that
/// of a turn which costs 4 k units of energy.
void turn(Array<Spin, 2> spins, const Array<float, 1>& chance, Int colour, Ulong seed, Uint step) {
  if_((cast<int>(idx) + cast<int>(idy)) % 2 == colour) {
    Ulong up = where(idy == 0, szy - 1, idy - 1), down = where(idy + 1 == szy, 0, idy + 1);
    Ulong left = where(idx == 0, szx - 1, idx - 1), right = where(idx + 1 == szx, 0, idx + 1);
    Int around = cast<int>(spins[up][idx]) + cast<int>(spins[down][idx]) +
                 cast<int>(spins[idy][left]) + cast<int>(spins[idy][right]);
    Int against = around * cast<int>(spins[idy][idx]);
    Random random(seed, idy * szx + idx, step);
    if_(against <= 0 || random.uniform() < chance[max(against, 0) / 2]) {
      spins[idy][idx] = cast<Spin>(-cast<int>(spins[idy][idx]));
    }
  }
}

/// The same in plain C++, one spin after the other.
class HostMagnet {
 public:
  HostMagnet(std::vector<Spin> spins, int side) : spins_(std::move(spins)), side_(side) {}

  void turn(const std::vector<float>& chance, int colour, std::uint64_t seed, unsigned step) {
    for (int y = 0; y < side_; ++y) {
      for (int x = (y + colour) % 2; x < side_; x += 2) {
        const int against = at(y, x) * (at(y - 1, x) + at(y + 1, x) + at(y, x - 1) + at(y, x + 1));
        HostRandom random(seed, static_cast<std::uint64_t>(y) * static_cast<unsigned>(side_) + x,
                          step);
        if (against <= 0 || random.uniform() < chance[static_cast<std::size_t>(against / 2)])
          at(y, x) = static_cast<Spin>(-at(y, x));
      }
    }
  }
  const std::vector<Spin>& spins() const { return spins_; }

 private:
  Spin& at(int y, int x) {
    return spins_[static_cast<std::size_t>((y + side_) % side_) * static_cast<std::size_t>(side_) +
                  static_cast<std::size_t>((x + side_) % side_)];
  }
  std::vector<Spin> spins_;
  int side_;
};

/// Onsager's magnetisation of an endless magnet in thermal equilibrium.
double exactMagnetisation(double temperature) {
  const double s = std::sinh(2 / temperature);
  return s <= 1 ? 0 : std::pow(1 - std::pow(s, -4), 0.125);
}

}  // namespace

int main(int argc, char** argv) try {
  int side = 512, steps = 1000, devices = 0;
  double temperature = 2.0;
  int seed = 1;
  bool check = false, hot = false, noProgress = false;
  std::string png, device;
  CLI::App app("A magnet of spins at a temperature, on an OpenCL device.", "ising");
  app.footer("Example: ising --hot --temperature 2.2 -n 200 --png domains.png");
  app.add_option("--size", side, "spins of a side, an even number")
      ->check(CLI::Range(2, 16384))
      ->capture_default_str();
  app.add_option("-n,--steps", steps, "times that every spin is asked")
      ->check(CLI::Range(0, 10000000))
      ->capture_default_str();
  app.add_option("-t,--temperature", temperature, "in units of the coupling; order ends at 2.269")
      ->check(samples::finiteNumber)
      ->check(CLI::Range(0.01, 1000.0))
      ->capture_default_str();
  app.add_option("--seed", seed, "of the random numbers")
      ->check(CLI::Range(0, 2147483646))
      ->capture_default_str();
  app.add_flag("--hot", hot, "begin with spins at random instead of all up");
  app.add_option("-d,--device", device, "list, a number of that list, gpu, cpu or accelerator");
  app.add_option("--devices", devices, "so many devices of the type of --device share the magnet")
      ->check(CLI::Range(1, 1024));
  app.add_option("--png", png, "write a picture of the spins")->type_name("FILE");
  app.add_flag("--no-progress", noProgress, "draw no progress bar");
  app.add_flag("--check", check, "compare with the same steps on the host");
  samples::refuseEmptyArguments(argc, argv);
  CLI11_PARSE(app, argc, argv);
  const samples::Session session(argc, argv);
  if (device == "list") return samples::listDevices(), 0;
  if (side % 2 != 0)
    throw std::invalid_argument("--size " + std::to_string(side) +
                                ": colours meet at the rim of an odd side; choose an even one");

  std::vector<Spin> begin(static_cast<std::size_t>(side) * static_cast<std::size_t>(side), 1);
  for (std::size_t i = 0; hot && i < begin.size(); ++i)
    if (HostRandom(static_cast<std::uint64_t>(seed) + 1, i).bits() % 2 == 0) begin[i] = -1;
  const std::vector<float> chances = {1.0f, static_cast<float>(std::exp(-4 / temperature)),
                                      static_cast<float>(std::exp(-8 / temperature))};
  Array<Spin, 2> spins(side, side);
  Array<float, 1> chance(3);
  spins.copyFrom(begin.data());
  chance.copyFrom(chances.data());
  const std::vector<Device> used = samples::chooseDevices(device, devices);
  io::Progress progress(steps, "steps",
                        noProgress ? io::Progress::Mode::Off : io::Progress::Mode::Auto);
  for (int step = 0; step < steps; ++step) {
    for (const int colour : {0, 1}) eval(turn).devices(used)(spins, chance, colour, seed, step);
    if (step % 32 != 0) continue;
    for (const Device& each : used) each.sync();
    progress.update(step);
  }
  const Spin* result = spins.data(HPL_RD);
  progress.finish();
  const double mean = static_cast<double>(sum(spins)) / static_cast<double>(spins.size());
  std::printf("%d steps at temperature %g: magnetisation %.3f; Onsager: %.3f\n", steps, temperature,
              std::abs(mean), exactMagnetisation(temperature));
  if (!png.empty()) {
    io::writePng(session.file(png), spins,
                 io::ColorScale(io::gray()).zoom(std::max(1, 512 / side)));
    std::printf("picture: %s\n", png.c_str());
  }
  if (!check) return 0;
  HostMagnet magnet(begin, side);
  for (int step = 0; step < steps; ++step)
    for (const int colour : {0, 1}) magnet.turn(chances, colour, seed, static_cast<unsigned>(step));
  const bool isSame = std::equal(magnet.spins().begin(), magnet.spins().end(), result);
  std::printf("check: %s\n",
              isSame ? "all spins are those of the host" : "spins differ from the host's");
  return isSame ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "ising: %s\n", error.what());
  return 1;
}
