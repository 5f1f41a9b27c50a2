// SPDX-License-Identifier: Apache-2.0
// Poisson's equation on a square, by multigrid V-cycles (Brandt 1977): few sweeps on each of many
// grids, where each grid removes the part of the error that the finer ones cannot see.
// multigrid --help.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <utility>
#include <vector>

#include "hpl/hpl.h"
#include "hpl/io.h"
#include "samples/common/arguments.h"
#include "samples/common/device_choice.h"
#include "samples/common/session.h"

using namespace hpl;

namespace {

using Field = Array<double, 2>;

// One colour of the chessboard: solves each of its cells' equations for the cell.
void relax(Field u, const Field& f, Double square, Int colour) {
  if_(idx > 0 && idy > 0 && idx + 1 < szx && idy + 1 < szy && cast<int>(idx + idy) % 2 == colour) {
    u[idy][idx] = 0.25 * (u[idy - 1][idx] + u[idy + 1][idx] + u[idy][idx - 1] + u[idy][idx + 1] +
                          square * f[idy][idx]);
  }
}

// r = f + Laplacian of u; the rim is 0.
void residualOf(Field r, const Field& u, const Field& f, Double square) {
  r[idy][idx] = 0.0;
  if_(idx > 0 && idy > 0 && idx + 1 < szx && idy + 1 < szy) {
    r[idy][idx] = f[idy][idx] + (u[idy - 1][idx] + u[idy + 1][idx] + u[idy][idx - 1] +
                                 u[idy][idx + 1] - 4.0 * u[idy][idx]) /
                                    square;
  }
}

// Means of 3 x 3 fine cells, the middle one counted four times, its neighbours twice.
void restrictTo(Field coarse, const Field& fine) {
  coarse[idy][idx] = 0.0;
  if_(idx > 0 && idy > 0 && idx + 1 < szx && idy + 1 < szy) {
    Int y = 2 * cast<int>(idy), x = 2 * cast<int>(idx);
    Double sum = 0.0;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        sum += static_cast<double>((2 - std::abs(dy)) * (2 - std::abs(dx))) * fine[y + dy][x + dx];
    coarse[idy][idx] = sum / 16.0;
  }
}

// Adds the coarse correction; between coarse cells their mean.
void correct(Field fine, const Field& coarse) {
  Int y = cast<int>(idy) / 2, x = cast<int>(idx) / 2;
  Int nextY = (cast<int>(idy) + 1) / 2, nextX = (cast<int>(idx) + 1) / 2;
  fine[idy][idx] +=
      0.25 * (coarse[y][x] + coarse[nextY][x] + coarse[y][nextX] + coarse[nextY][nextX]);
}

/// One grid: 2^k cells and one more along a side.
struct Grid {
  Field u, f, r;
  double square;

  explicit Grid(int cells)
      : u(cells + 1, cells + 1),
        f(cells + 1, cells + 1),
        r(cells + 1, cells + 1),
        square(1.0 / cells / cells) {
    u = 0.0;
  }
};

class Multigrid {
 public:
  Multigrid(int cells, std::vector<Device> devices) : devices_(std::move(devices)) {
    for (; cells >= 2; cells /= 2) grids_.emplace_back(cells);
  }
  Grid& finest() { return grids_.front(); }

  void cycle(std::size_t level = 0) {
    Grid& grid = grids_[level];
    if (level > 0) grid.u = 0.0;
    sweep(grid, 2);
    if (level + 1 == grids_.size()) return;
    Grid& coarse = grids_[level + 1];
    residual(grid);
    eval(restrictTo).devices(devices_)(coarse.f, grid.r);
    cycle(level + 1);
    eval(correct).devices(devices_)(grid.u, coarse.u);
    sweep(grid, 2);
  }
  /// The length of the finest grid's residual.
  double error() {
    residual(finest());
    return norm(finest().r);
  }

 private:
  void sweep(Grid& grid, int times) {
    for (int colour = 0; colour < 2 * times; ++colour)
      eval(relax).devices(devices_)(grid.u, grid.f, grid.square, colour % 2);
  }
  void residual(Grid& grid) {
    eval(residualOf).devices(devices_)(grid.r, grid.u, grid.f, grid.square);
  }

  std::vector<Grid> grids_;
  std::vector<Device> devices_;
};

/// A sum of products of sines, which the discrete Laplacian only multiplies: right sides whose
/// exact solutions are known.
class Waves {
 public:
  explicit Waves(int cells) : cells_(cells) {
    for (int k = 0; k < 40; ++k) {
      HostRandom random(11, static_cast<std::uint64_t>(k));
      const auto count = [&] {
        return 1 + static_cast<int>(random.uniform() * random.uniform() *
                                    static_cast<float>(cells - 1));
      };
      const int x = count(), y = count();
      waves_.push_back({x, y, (2.0 * random.uniformDouble() - 1) / (x + y)});
    }
  }
  /// The right side, or the solution.
  std::vector<double> values(bool solved) const {
    const auto side = static_cast<std::size_t>(cells_ + 1);
    std::vector<double> sum(side * side);
    for (const Wave& wave : waves_) {
      const double factor = wave.height * (solved ? 1 : eigenvalue(wave.x) + eigenvalue(wave.y));
      for (std::size_t y = 1; y + 1 < side; ++y) {
        const double row = factor * sine(wave.y, y);
        for (std::size_t x = 1; x + 1 < side; ++x) sum[y * side + x] += row * sine(wave.x, x);
      }
    }
    return sum;
  }

 private:
  struct Wave {
    int x, y;
    double height;
  };
  double sine(int count, std::size_t at) const {
    // In whole half waves, as far as possible, so that large angles lose nothing.
    const long turns = static_cast<long>(count) * static_cast<long>(at) % (2L * cells_);
    return std::sin(std::numbers::pi * static_cast<double>(turns) / cells_);
  }
  double eigenvalue(int count) const {
    const double half = std::sin(0.5 * std::numbers::pi * count / cells_);
    return 4.0 * cells_ * cells_ * half * half;
  }

  int cells_;
  std::vector<Wave> waves_;
};

}  // namespace

int main(int argc, char** argv) try {
  int cells = 512, cycles = 12, devices = 0;
  bool check = false, noProgress = false;
  std::string png, device;
  CLI::App app("Poisson's equation by multigrid, on an OpenCL device.", "multigrid");
  app.add_option("--size", cells, "cells of a side, a power of two")
      ->check(CLI::Range(2, 8192))
      ->capture_default_str();
  app.add_option("-n,--cycles", cycles, "V-cycles")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("-d,--device", device, "list, a number of that list, gpu, cpu or accelerator");
  app.add_option("--devices", devices, "so many devices of the type of --device share each grid")
      ->check(CLI::Range(1, 1024));
  app.add_option("--png", png, "write a picture of the solution")->type_name("FILE");
  app.add_flag("--no-progress", noProgress, "draw no progress bar");
  app.add_flag("--check", check, "compare with the exact solution");
  samples::refuseEmptyArguments(argc, argv);
  CLI11_PARSE(app, argc, argv);
  const samples::Session session(argc, argv);
  if (device == "list") return samples::listDevices(), 0;
  if ((cells & (cells - 1)) != 0)
    throw std::invalid_argument("--size " + std::to_string(cells) + ": expected a power of two");

  const Waves waves(cells);
  Multigrid solver(cells, samples::chooseDevices(device, devices));
  solver.finest().f.copyFrom(waves.values(false).data());
  io::Progress progress(cycles, "cycles",
                        noProgress ? io::Progress::Mode::Off : io::Progress::Mode::Auto);
  const double begin = solver.error();
  double last = begin, factor = 0;
  const auto started = std::chrono::steady_clock::now();
  for (int cycle = 0; cycle < cycles; ++cycle) {
    solver.cycle();
    const double now = solver.error();
    // The last cycles only move rounding errors about.
    if (now > 1e-8 * begin) factor = now / last;
    last = now;
    progress.update(cycle + 1);
  }
  progress.finish();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  std::printf("%d cycles on %d x %d cells: the residual fell to %.2g, by %.2f per cycle\n", cycles,
              cells, cells, last / begin, factor);
  std::printf("%.2f s, %.1f million cells per second\n", seconds,
              1e-6 * cycles * cells * cells / seconds);
  Field& u = solver.finest().u;
  if (!png.empty()) {
    io::writePng(session.file(png), u,
                 io::ColorScale(io::coolwarm()).zoom(std::max(1, 512 / cells)));
    std::printf("picture: %s\n", png.c_str());
  }
  if (!check) return 0;
  const std::vector<double> exact = waves.values(true);
  const double* result = u.data(HPL_RD);
  double largest = 0;
  for (std::size_t i = 0; i < exact.size(); ++i)
    largest = std::max(largest, std::abs(result[i] - exact[i]));
  // Each cycle takes at least four fifths of the error away.
  const double allowed = std::max(1e-8, std::pow(0.2, cycles));
  std::printf("check: the solution is off by at most %.2g, %.2g is allowed\n", largest, allowed);
  return largest <= allowed ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "multigrid: %s\n", error.what());
  return 1;
}
