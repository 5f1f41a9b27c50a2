// SPDX-License-Identifier: Apache-2.0
#include "samples/jacobi3d/options.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <stdexcept>

#include "samples/common/arguments.h"

namespace samples::jacobi3d {
namespace {

constexpr int kPaperSide = 512;
constexpr int kSmallest = 3;
constexpr int kLargest = 1024;

const char* const kExamples =
    "Examples:\n"
    "  jacobi3d --png slice.png                one warm face, until nothing changes any more\n"
    "  jacobi3d --boundary saddle --points 27  a function that the stencil solves exactly\n"
    "  jacobi3d --size paper -n 100            the benchmark of the paper (Table I)\n"
    "  jacobi3d --size 20 -n 50 --check        compare with a sequential reference\n"
    "  jacobi3d --devices all                  the layers z over all devices\n";

int parseSide(const std::string& text) {
  if (text == "paper") return kPaperSide;
  int side = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, side);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == end;
  if (whole && side >= kSmallest && side <= kLargest) return side;
  throw std::invalid_argument("--size " + text +
                              ": expected 'paper' (512) or the points per side, 3 to 1024");
}

}  // namespace

std::optional<Options> parseOptions(int argc, const char* const* argv, std::ostream& out,
                                    std::ostream& errors, int& exitCode) {
  Options options;
  options.run.iterations = 10000;
  std::string size = std::to_string(options.side);
  std::string boundary = "sine";
  CLI::App app("Solves the Laplace equation in a cube by Jacobi's method on an OpenCL device.",
               "jacobi3d");
  app.footer(kExamples);
  app.add_option("-s,--size", size, "points per side, boundary included, or 'paper' (512)")
      ->capture_default_str();
  app.add_option("--points", options.points, "of the stencil: 7 or 27")
      ->check(CLI::IsMember({7, 27}))
      ->capture_default_str();
  app.add_option("--boundary", boundary,
                 "sine: one warm face; saddle: x^2 + y^2 - 2 z^2 + x y z, free of discretisation "
                 "error")
      ->check(CLI::IsMember({"sine", "saddle"}))
      ->capture_default_str();
  app.add_option("--tolerance", options.tolerance,
                 "stop when no point changes by more (0: do all iterations)")
      ->check(finiteNumber)
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--every", options.every, "iterations between two looks at the change")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--png", options.png, "write the slice in the middle, z upwards")
      ->type_name("FILE");
  addRunOptions(app, options.run, "how many iterations at most");
  addDeviceOptions(app, options.run);
  const auto resolve = [&] {
    options.side = parseSide(size);
    options.boundary = boundary == "saddle" ? Boundary::Saddle : Boundary::Sine;
  };
  if (!parseCommandLine(app, argc, argv, options.run, resolve, out, errors, exitCode)) return {};
  return options;
}

}  // namespace samples::jacobi3d
