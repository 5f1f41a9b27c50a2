// SPDX-License-Identifier: Apache-2.0
#include "samples/shwa/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "samples/common/arguments.h"
#include "samples/shwa/scenario.h"

namespace samples::shwa {
namespace {

constexpr SizeRange kSizes = {{2000, 2000}, 3, 16384};
constexpr int kFrames = 100;

const char* const kExamples =
    "Examples:\n"
    "  shwa --gif flood.gif                             a dam breaches, a polluted spot drifts\n"
    "  shwa --scenario dam-break --size 400x30 -n 300   compared with the exact solution\n"
    "  shwa --scenario lake-at-rest -n 1000 --check     stays at rest\n"
    "  shwa --size paper -n 100000                      the benchmark of the paper (Table I)\n"
    "  shwa --weights 3,1                                 the rows over two unlike devices\n";

}  // namespace

std::optional<Options> parseOptions(int argc, const char* const* argv, std::ostream& out,
                                    std::ostream& errors, int& exitCode) {
  Options options;
  options.run.iterations = 600;
  std::string size = "258";
  int every = 0;
  CLI::App app("Simulates shallow water that carries a pollutant on an OpenCL device.", "shwa");
  app.footer(kExamples);
  app.add_option("--scenario", options.scenario, "what the water does")
      ->check(CLI::IsMember(scenarioNames()))
      ->capture_default_str();
  app.add_option("-s,--size", size, "cells, the walls included: " + sizeHelp(kSizes))
      ->capture_default_str();
  app.add_option("--courant", options.courant,
                 "share of a cell that the fastest wave may cross in one step")
      ->check(finiteNumber)
      ->check(CLI::Range(0.01, 0.45))
      ->capture_default_str();
  app.add_option("--png", options.png, "write the last state as a picture")->type_name("FILE");
  app.add_option("--gif", options.gif, "write an animation")->type_name("FILE");
  app.add_option("--every", every, "steps between two frames (default: 100 frames in all)")
      ->check(CLI::PositiveNumber);
  app.add_option("--delay", options.delay, "hundredths of a second per frame")
      ->check(CLI::Range(2, 65535))
      ->capture_default_str();
  addRunOptions(app, options.run, "how many time steps");
  addDeviceOptions(app, options.run);
  const auto resolve = [&] {
    options.extent = parseExtent(size, kSizes);
    options.every =
        every > 0 ? every : std::max(1, (options.run.iterations + kFrames - 1) / kFrames);
  };
  if (!parseCommandLine(app, argc, argv, options.run, resolve, out, errors, exitCode)) return {};
  return options;
}

}  // namespace samples::shwa
