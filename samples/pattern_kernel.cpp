// SPDX-License-Identifier: Apache-2.0
// Prints the OpenCL C kernel of a stencil pattern that stands in a small text file, and what its
// first step makes of a picture with one bright cell (EPSILOD, Section 4.1: its kernel generation
// tool).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "samples/common/arguments.h"
#include "stencil_templates/pattern.h"

using namespace hpl;

namespace {

/// One step from a single 1 in the middle: the weights, turned round, divided by the factor. False
/// if it is something else.
bool printResponse(const StencilPattern& pattern) {
  // All cells that are reached lie within the picture.
  int middle = 3;
  for (const auto& [first, last] : pattern.shape()) middle = std::max({middle, -first, last});
  const int side = 2 * middle + 1;
  Array<float, 2> in(side, side), out(side, side);
  in = 0.0f;
  in(middle, middle) = 1.0f;
  Stencil step = pattern.specific<float, 2>();
  step.boundary(Fixed(0.0f));
  step(in, out);
  std::puts("\nOne step from a single 1:");
  for (int y = middle - 3; y <= middle + 3; ++y) {
    for (int x = middle - 3; x <= middle + 3; ++x) std::printf("%9.3f", double(out(y, x)));
    std::puts("");
  }
  bool right = true;
  for (const PatternNeighbour& n : pattern.neighbours()) {
    const double expected = n.weight / pattern.factor();
    const double got = out(middle - n.offset[0], middle - n.offset[1]);
    right = right && std::abs(got - expected) <= 1e-6 * std::abs(expected);
  }
  if (!right) std::puts("DIFFERENT from the weights");
  return right;
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("Prints the kernel of a stencil pattern");
  std::string file;
  std::string name = "stencil";
  app.add_option("file", file, "pattern file: shape -1:1 -1:1, weights ..., factor ...")
      ->required();
  app.add_option("--name", name, "name of the kernel")->capture_default_str();
  samples::refuseEmptyArguments(argc, argv);
  CLI11_PARSE(app, argc, argv);
  const StencilPattern pattern = StencilPattern::read(file);
  std::fputs(pattern.openClSource(name).c_str(), stdout);
  return pattern.dimensions() != 2 || printResponse(pattern) ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "pattern_kernel: %s\n", error.what());
  return 1;
}
