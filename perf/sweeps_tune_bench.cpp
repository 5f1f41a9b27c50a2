// SPDX-License-Identifier: Apache-2.0
// Sweeps over grids that no cache holds: the library's layout against the best that tuning finds in
// a few seconds, as bytes that a sweep must move. hpl_sweeps_tune_bench --help.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "hpl/hpl.h"

namespace {

using namespace hpl;

using Plane = Array<float, 2>;
using Cube = Array<float, 3>;

void copyOf(Plane out, const Plane& in) { out[idy][idx] = in[idy][idx]; }

void sumOfThree(Plane out, const Plane& a, const Plane& b, const Plane& c) {
  out[idy][idx] = a[idy][idx] + b[idy][idx] * c[idy][idx];
}

void fivePoints(Plane out, const Plane& in) {
  if_(idx >= 1 && idx + 1 < szx && idy >= 1 && idy + 1 < szy) {
    out[idy][idx] =
        0.25f * (in[idy - 1][idx] + in[idy + 1][idx] + in[idy][idx - 1] + in[idy][idx + 1]);
  }
}

void box5x5(Plane out, const Plane& in) {
  if_(idx >= 2 && idx + 2 < szx && idy >= 2 && idy + 2 < szy) {
    Float sum = 0.0f;
    for (int y = -2; y <= 2; ++y)
      for (int x = -2; x <= 2; ++x)
        sum = sum + 0.01f * static_cast<float>(x + 2 * y * y) * in[idy + y][idx + x];
    out[idy][idx] = sum;
  }
}

void sevenPoints(Cube out, const Cube& in) {
  if_(idx >= 1 && idx + 1 < szx && idy >= 1 && idy + 1 < szy && idz >= 1 && idz + 1 < szz) {
    out[idz][idy][idx] = 0.1f * (in[idz][idy][idx] + in[idz - 1][idy][idx] + in[idz + 1][idy][idx] +
                                 in[idz][idy - 1][idx] + in[idz][idy + 1][idx] +
                                 in[idz][idy][idx - 1] + in[idz][idy][idx + 1]);
  }
}

void box3x3x3(Cube out, const Cube& in) {
  if_(idx >= 1 && idx + 1 < szx && idy >= 1 && idy + 1 < szy && idz >= 1 && idz + 1 < szz) {
    Float sum = 0.0f;
    for (int z = -1; z <= 1; ++z)
      for (int y = -1; y <= 1; ++y)
        for (int x = -1; x <= 1; ++x)
          sum = sum + 0.01f * static_cast<float>(x + 2 * y + 3 * z) * in[idz + z][idy + y][idx + x];
    out[idz][idy][idx] = sum;
  }
}

template <class F, class... A>
void tune(const char* name, double bytes, double seconds, F f, A&... arrays) {
  const TuneResult found = eval(f).tuning({.seconds = seconds}).tune(arrays...);
  const auto show = [&](const char* which, double time, const std::string& choice) {
    fmt::print("{:<14} {:<8} {:>9.1f} us {:>7.0f} GB/s  {}\n", name, which, time * 1e6,
               bytes / time * 1e-9, choice);
  };
  show("default", found.defaultSeconds, found.defaultChoice);
  show("tuned", found.seconds, found.choice);
  fmt::print("{:<14} {} of {} layouts measured\n", "", found.measured, found.variants);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) try {
  double seconds = 4;
  std::size_t plane = 8192, cube = 512;
  CLI::App app("The library's layouts of sweeps against tuned ones", "hpl_sweeps_tune_bench");
  app.add_option("--seconds", seconds, "For tuning one kernel")->check(CLI::PositiveNumber);
  app.add_option("--plane", plane, "Side of the square")->check(CLI::Range(16, 1 << 15));
  app.add_option("--cube", cube, "Side of the cube")->check(CLI::Range(8, 1 << 10));
  CLI11_PARSE(app, argc, argv);
  Plane a(plane, plane), b(plane, plane), c(plane, plane), out(plane, plane);
  for (Plane* each : {&a, &b, &c, &out}) *each = 1.0f;
  Cube in(cube, cube, cube), next(cube, cube, cube);
  in = 1.0f;
  next = 2.0f;
  const double flat = 4 * static_cast<double>(plane * plane);
  const double solid = 4 * static_cast<double>(cube * cube * cube);
  tune("copy", 2 * flat, seconds, copyOf, out, a);
  tune("sum of three", 4 * flat, seconds, sumOfThree, out, a, b, c);
  tune("5 points", 2 * flat, seconds, fivePoints, out, a);
  tune("5 x 5 points", 2 * flat, seconds, box5x5, out, a);
  tune("7 points", 2 * solid, seconds, sevenPoints, next, in);
  tune("27 points", 2 * solid, seconds, box3x3x3, next, in);
} catch (const std::exception& error) {
  fmt::print(stderr, "hpl_sweeps_tune_bench: {}\n", error.what());
  return 1;
}
