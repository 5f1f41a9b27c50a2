// SPDX-License-Identifier: Apache-2.0
#include "samples/gauss/options.h"

#include <CLI/CLI.hpp>

#include "samples/common/arguments.h"
#include "samples/gauss/weights.h"

namespace samples::gauss {
namespace {

constexpr SizeRange kSizes = {{4096, 4096}, 11, 32768};

const char* const kExamples =
    "Examples:\n"
    "  gauss --png smooth.png                     smoothes the synthetic picture\n"
    "  gauss --input photo.jpg -n 3 --sigma 1.5 --png smooth.png\n"
    "  gauss --size paper -n 1000                 the benchmark of the paper (Table I)\n"
    "  gauss --devices all -n 100                 the rows over all devices\n"
    "  gauss --size 300x200 -n 4 --check          compare with a sequential reference\n";

}  // namespace

std::optional<Options> parseOptions(int argc, const char* const* argv, std::ostream& out,
                                    std::ostream& errors, int& exitCode) {
  Options options;
  options.run.iterations = 10;
  std::string size = "512";
  CLI::App app("Smoothes a picture with a Gaussian of 11 x 11 weights on OpenCL devices.", "gauss");
  app.footer(kExamples);
  auto* input = app.add_option("-i,--input", options.input,
                               "a PNG, JPEG, BMP, TGA, GIF or PNM file of 11 x 11 pixels or more "
                               "(default: a synthetic picture)")
                    ->type_name("FILE");
  app.add_option("-s,--size", size, "of the synthetic picture: " + sizeHelp(kSizes))
      ->capture_default_str()
      ->excludes(input);
  app.add_option("--sigma", options.sigma, "width of the Gaussian of one iteration, in pixels")
      ->check(finiteNumber)
      ->check(CLI::Range(0.2, 20.0))
      ->capture_default_str();
  app.add_option("--png", options.png, "write the result")->type_name("FILE");
  addRunOptions(app, options.run, "how often to smooth");
  addDeviceOptions(app, options.run);
  const auto resolve = [&] { options.extent = parseExtent(size, kSizes); };
  if (!parseCommandLine(app, argc, argv, options.run, resolve, out, errors, exitCode)) return {};
  return options;
}

}  // namespace samples::gauss
