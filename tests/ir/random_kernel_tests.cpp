// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <set>

#include "tests/ir/random_kernel.h"

namespace random_kernel_tests {

using namespace hpl::ir;
using namespace hpl::ir::test;

TEST_CASE("random kernels have no uninitialised read, race, divergent barrier or wild access") {
  InterpreterOptions options;
  options.detectUninitialised = true;
  options.detectRaces = true;
  options.maxLoopIterations = 1000;
  std::set<std::vector<std::byte>> outcomes;
  const std::uint64_t count = 300;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    INFO("seed " << seed);
    const RandomKernel random = makeRandomKernel(seed);
    std::vector<std::vector<std::byte>> checked;
    REQUIRE_NOTHROW(checked = interpretRandomKernel(random, options));
    // Nothing may depend on what the checks change: the contents of unwritten memory, the copies.
    CHECK(interpretRandomKernel(random) == checked);
    for (std::size_t k = 0; k < checked.size(); ++k) {
      if (random.arguments[k].output) {
        outcomes.insert(checked[k]);
      } else {
        CHECK(checked[k] == random.arguments[k].bytes);
      }
    }
  }
  // Kernels that compute nothing would agree everywhere.
  CHECK(outcomes.size() > count);
}

TEST_CASE("a seed gives the same kernel again, options leave things out") {
  RandomKernelOptions plain;
  plain.doubles = plain.vectors = plain.functions = plain.barriers = plain.atomics = false;
  plain.surplus = false;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    INFO("seed " << seed);
    CHECK(interpretRandomKernel(makeRandomKernel(seed)) ==
          interpretRandomKernel(makeRandomKernel(seed)));
    const RandomKernel random = makeRandomKernel(seed, plain);
    CHECK(random.kernel.functions.empty());
    for (const RandomArgument& argument : random.arguments) {
      CHECK(argument.type.isScalar());
      CHECK(argument.type.scalar != Scalar::Double);
      CHECK(argument.kind != RandomArgument::Kind::Local);
    }
    for (std::size_t d = 0; d < 3; ++d) CHECK(random.range.global[d] % random.range.local[d] == 0);
    CHECK_NOTHROW(interpretRandomKernel(random));
  }
}

}  // namespace random_kernel_tests
