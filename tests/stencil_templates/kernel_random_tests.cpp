// SPDX-License-Identifier: Apache-2.0
// Random shapes, groups, numbers of elements, parts and ghosts for some stencils.
#include <doctest/doctest.h>

#include <cstdlib>

#include "kernel_support.h"

namespace kernel_random_tests {

using namespace kernel_tests;

namespace {

/// TEST_SEEDS runs of each kernel; few by default, because each builds it for new groups.
unsigned seedCount() {
  const char* wish = std::getenv("TEST_SEEDS");
  return wish != nullptr ? static_cast<unsigned>(std::strtoul(wish, nullptr, 10)) : 1;
}

template <int N>
Run randomRun(std::mt19937& random, bool isPeriodic) {
  const auto from = [&](int least, int most) {
    return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
  };
  Run run;
  run.parts = isPeriodic ? 1 : from(1, deviceCount());
  run.dim = from(1, N);
  run.moreGhosts = from(0, 3);
  run.perThread = from(1, 7);
  run.shape = {1, 1, 1};
  for (int d = 0; d < N; ++d) run.shape[static_cast<std::size_t>(3 - N + d)] = from(3, 40 / N);
  run.shape[static_cast<std::size_t>(3 - N + run.dim - 1)] += 6 * run.parts;
  const auto side = [&] { return static_cast<std::size_t>(from(1, 8)); };
  if constexpr (N == 1) run.local = Domain(2 * side());
  if constexpr (N == 2) run.local = Domain(side(), side());
  if constexpr (N == 3) run.local = Domain(side(), side(), static_cast<std::size_t>(from(1, 3)));
  return run;
}

template <char Letter, class T, class U, int N, int... E>
void checkRandomly(unsigned offset) {
  for (unsigned seed = offset; seed < offset + seedCount(); ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const Run run = randomRun<N>(random, Letter == 'P');
    CAPTURE(run.text());
    CHECK(agrees<Letter, StencilForm::Tile, T, U, N, E...>(run));
    CHECK(agrees<Letter, StencilForm::Direct, T, U, N, E...>(run));
  }
}

}  // namespace

TEST_CASE("random launches of the templates equal loops on the host") {
  checkRandomly<'M', int, int, 1, 2, 3>(100);
  checkRandomly<'F', float, float, 2, 1, 2, 0, 3>(200);
  checkRandomly<'N', short, int, 3, 1, 2, 0, 1, 1, 1>(400);
}

}  // namespace kernel_random_tests
