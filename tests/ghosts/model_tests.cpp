// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "model_program.h"
#include "tests/seeds.h"

namespace model_tests {

namespace {

using namespace ghosts_model;

// The first seeds make short programs, so that what fails first is easy to read.
int lengthOf(unsigned seed) { return 4 + static_cast<int>(seed % 64); }

}  // namespace

TEST_CASE("random programs on vectors give the model's values and move its bytes") {
  for (const unsigned seed : Seeds(1, 30)) {
    CAPTURE(seed);
    RandomProgram<1>(seed).run(lengthOf(seed));
  }
}

TEST_CASE("random programs on matrices give the model's values and move its bytes") {
  for (const unsigned seed : Seeds(1, 30)) {
    CAPTURE(seed);
    RandomProgram<2>(seed).run(lengthOf(seed));
  }
  // Parts of three devices overwrote the only copies of what an older view owned.
  RandomProgram<2>(821).run(lengthOf(821));
}

}  // namespace model_tests
