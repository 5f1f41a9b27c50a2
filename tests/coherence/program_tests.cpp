// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "program.h"

namespace program_tests {

namespace {

std::uint32_t numberFrom(const char* variable, std::uint32_t usual) {
  const char* text = std::getenv(variable);
  return text != nullptr ? static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10)) : usual;
}

}  // namespace

// TEST_SEEDS programs, from TEST_FIRST_SEED on. The first seeds make short ones, so that what fails
// first is easy to read.
TEST_CASE("random programs on 1 to 16 spaces keep the model's values and move its cells") {
  const std::uint32_t count = numberFrom("TEST_SEEDS", 2000);
  const std::uint32_t first = numberFrom("TEST_FIRST_SEED", 1);
  for (std::uint32_t seed = first; seed < first + count; ++seed) {
    coherence_model::Program program(seed);
    try {
      program.run(4 + static_cast<int>(seed % 16));
    } catch (const std::runtime_error& error) {
      FAIL(std::string(error.what()));
    }
  }
}

}  // namespace program_tests
