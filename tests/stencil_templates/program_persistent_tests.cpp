// SPDX-License-Identifier: Apache-2.0
// Programs of several stencils whose steps are one launch, on the device.
#include <doctest/doctest.h>

#include <thread>

#include "../messages.h"
#include "persistent_support.h"
#include "tests/seeds.h"

namespace program_persistent_tests {

using namespace hpl;
using namespace stencil_tests;

namespace {

bool hasEmptyFunction(const RandomProgram& program) {
  for (const RandomFunction& f : program.functions)
    for (std::size_t d = 0; d < 3; ++d)
      if (f.low[d] + f.high[d] >= program.extents[d]) return true;
  return false;
}

/// Waves in two dimensions: one field is updated everywhere, two but for a border.
struct Waves {
  Array<float, 2> ex, ey, hz;
  StencilProgram program;

  explicit Waves(std::size_t n) : ex(n, n), ey(n, n), hz(n, n) {
    using Field = Neighbourhood<float, 2>;
    const auto last = static_cast<std::int64_t>(n) - 1;
    ex = 0.0f;
    ey = 0.0f;
    hz = 0.0f;
    hz(n / 2, n / 3) = 10.0f;
    program.apply([](Field y, Field h) { return y(0, 0) - 0.5f * (h(0, 0) - h(-1, 0)); })
        .over(Range(1, last), Range(0, last))(ey, hz, ey);
    program.apply([](Field x, Field h) { return x(0, 0) - 0.5f * (h(0, 0) - h(0, -1)); })
        .over(Range(0, last), Range(1, last))(ex, hz, ex);
    program
        .apply([](Field h, Field x, Field y, Float c) {
          return h(0, 0) - c * (x(0, 1) - x(0, 0) + y(1, 0) - y(0, 0));
        })
        .over(Range(0, last - 1), Range(0, last - 1))(hz, ex, ey, hz, 0.7f);
    program.label("waves");
  }

  std::vector<float> cells() const {
    std::vector<float> all = cellsOf(ex);
    for (const Array<float, 2>* field : {&ey, &hz}) {
      const std::vector<float> own = cellsOf(*field);
      all.insert(all.end(), own.begin(), own.end());
    }
    return all;
  }
};

std::vector<float> wavesAfter(std::size_t n, int steps, bool persistent) {
  Waves waves(n);
  waves.program.persistent(persistent);
  if (!persistent) waves.program.fuse(false).timeTile(1);
  waves.program.run(steps);
  return waves.cells();
}

}  // namespace

TEST_CASE("persistent programs: random programs equal one function after another") {
  if (!canSpin()) return;
  int kept = 0;
  for (const unsigned seed : Seeds(1, 6)) {
    std::mt19937 random(seed);
    const RandomProgram program = oncePerField(randomProgram(random));
    kept += checkKept(program, random, seed) ? 1 : 0;
  }
  CHECK(kept >= 3);
}

TEST_CASE("persistent programs: random programs with temporaries equal function after function") {
  if (!canSpin()) return;
  int kept = 0;
  for (const unsigned seed : Seeds(1, 2)) {
    std::mt19937 random(seed);
    RandomProgram program = randomChain(random, true);
    while (hasEmptyFunction(program)) program = randomChain(random, true);
    kept += checkKept(program, random, seed) ? 1 : 0;
  }
  CHECK(kept >= 1);
}

TEST_CASE("persistent programs: runs that come again, with questions, equal steps by themselves") {
  if (!canSpin()) return;
  Waves kept(48), apart(48);
  kept.program.persistent();
  apart.program.persistent(false).fuse(false).timeTile(1);
  for (const int steps : {41, 2, 1, 60}) {
    CAPTURE(steps);
    kept.program.run(steps);
    apart.program.run(steps);
    CHECK(kept.cells() == apart.cells());
  }
  for (Waves* waves : {&kept, &apart}) {
    waves->program.every(7, [waves](std::int64_t step) {
      waves->hz(3, 4) = static_cast<float>(step);
      return step == 21;
    });
    const StencilRun run = waves->program.run(100);
    CHECK(run.steps == 21);
    CHECK(run.converged);
  }
  CHECK(kept.cells() == apart.cells());
}

TEST_CASE("persistent programs: functions that come later have their own kernel") {
  if (!canSpin()) return;
  std::vector<double> sums[2];
  for (const bool persistent : {false, true}) {
    Array<int, 1> a(300);
    Array<double, 1> sum(300);
    for (int i = 0; i < 300; ++i) a(i) = i % 17;
    sum = 0.5;
    StencilProgram program;
    program.persistent(persistent);
    program.apply([](Neighbourhood<int, 1> p) { return p(1) - p(0); }).over(Range(0, 298))(a, a);
    program.run(9);
    program.apply([](Neighbourhood<double, 1> s, Neighbourhood<int, 1> p) {
      return s(0) + cast<double>(p(0));
    })(sum, a, sum);
    program.run(12);
    sums[persistent ? 1 : 0] = cellsOf(sum);
  }
  CHECK(sums[0] == sums[1]);
  CHECK(sums[0][3] != 0.5);
}

TEST_CASE("persistent programs: groups that wait in vain give up, and the steps are launched") {
  if (!canSpin() || defaultDevice().getProperties().computeUnits < 2) return;
  const std::vector<float> expected = wavesAfter(48, 300, false);
  const Planted planted;
  runtime::Settings impatient = planted.before;
  impatient.patience = 1;
  runtime::overrideSettings(impatient);
  bool gaveUp = false;
  for (int k = 0; k < 20 && !gaveUp; ++k) {
    CHECK(wavesAfter(48, 300, true) == expected);
    gaveUp = stencils::hasGivenUp(defaultDevice());
  }
  CHECK(gaveUp);
  CHECK(messageOf<LaunchError>([] {
          wavesAfter(48, 300, true);
        }).find("groups have waited for each other in vain on this device before") !=
        std::string::npos);
}

TEST_CASE("persistent programs: two at once on one device, of which one may have to be streamed") {
  if (!canSpin()) return;
  const std::vector<float> expected = wavesAfter(48, 201, false);
  std::vector<float> cells[2][4];
  std::vector<std::thread> threads;
  for (auto& results : cells)
    threads.emplace_back([&results] {
      for (std::vector<float>& result : results) result = wavesAfter(48, 201, true);
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& results : cells)
    for (const std::vector<float>& result : results) CHECK(result == expected);
}

TEST_CASE("persistent programs: what cannot be one launch is refused with the reason") {
  const std::string begin = "stencil program 'waves': its steps cannot be one launch: ";
  const std::string end = "; leave out .persistent()";
  Waves waves(32);
  waves.program.persistent();
  CHECK(messageOf<LaunchError>([&] { waves.program.fuse(false).run(5); }) ==
        begin + ".fuse(false) asks for a launch of each function" + end);
  CHECK(messageOf<LaunchError>([&] { waves.program.fuse(Fusion::Rows).run(5); }) ==
        begin + ".fuse(Fusion::Rows) asks for a kernel of one step" + end);
  Array<float, 2> result(32, 32);
  StencilProgram chain;
  chain.label("waves").persistent();
  chain.apply([](Neighbourhood<float, 2> h) { return 2.0f * h(0, 0); })(waves.hz, result);
  CHECK(messageOf<LaunchError>([&] { chain.run(5); }) ==
        begin + "no step sees what the one before it has written" + end);
  CHECK(chain.run(1).steps == 1);
}

}  // namespace program_persistent_tests
