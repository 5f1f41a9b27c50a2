// SPDX-License-Identifier: Apache-2.0
#include "samples/canny/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <stdexcept>

#include "samples/canny/values.h"

namespace samples::canny {
namespace {

constexpr SizeRange kSizes = {{4096, 4096}, 5, 32768};
/// The largest Sobel gradient of a picture with values up to 255: a step between two halves of it,
/// 4 * 255 in one direction and 4 * 255 in the other at most.
constexpr int kLargestGradient = 1442;

const char* const kExamples =
    "Examples:\n"
    "  canny --png edges.png                       edges of the synthetic picture\n"
    "  canny --input photo.jpg --png edges.png     edges of a photograph\n"
    "  canny --size paper --no-hysteresis          the benchmark of the paper (Table I)\n"
    "  canny --devices 2                           on two devices\n"
    "  canny --size 300x200 --check                compare with a sequential reference\n";

}  // namespace

std::optional<Options> parseOptions(int argc, const char* const* argv, std::ostream& out,
                                    std::ostream& errors, int& exitCode) {
  Options options;
  std::string size = "1024";
  CLI::App app("Finds the edges of a picture (J. Canny, 1986) on OpenCL devices.", "canny");
  app.footer(kExamples);
  auto* input = app.add_option("-i,--input", options.input,
                               "a PNG, JPEG, BMP, TGA, GIF or PNM file of 5 x 5 pixels or more "
                               "(default: a synthetic picture)")
                    ->type_name("FILE");
  app.add_option("-s,--size", size, "of the synthetic picture: " + sizeHelp(kSizes))
      ->capture_default_str()
      ->excludes(input);
  app.add_option("--low", options.low, "gradient from which on an edge is weak, in Sobel units")
      ->check(CLI::Range(1, kLargestGradient))
      ->capture_default_str();
  app.add_option("--high", options.high, "gradient from which on an edge is strong")
      ->check(CLI::Range(1, kLargestGradient))
      ->capture_default_str();
  app.add_flag_callback(
      "--no-hysteresis", [&options] { options.hysteresis = false; },
      "stop after the four kernels of the paper: weak edges are drawn grey");
  app.add_option("--png", options.png, "write the edges")->type_name("FILE");
  app.add_option("--input-png", options.inputPng, "write the input as brightness")
      ->type_name("FILE");
  addRunOptions(app, options.run, "how often to run the whole detection, for timing");
  addDeviceOptions(app, options.run);
  const auto resolve = [&] {
    if (options.high < options.low) {
      throw std::invalid_argument(
          fmt::format("--high {} is below --low {}: a strong edge has the "
                      "larger gradient",
                      options.high, options.low));
    }
    options.extent = parseExtent(size, kSizes);
  };
  if (!parseCommandLine(app, argc, argv, options.run, resolve, out, errors, exitCode)) return {};
  return options;
}

}  // namespace samples::canny
