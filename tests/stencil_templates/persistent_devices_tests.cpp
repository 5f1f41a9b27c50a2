// SPDX-License-Identifier: Apache-2.0
// Iterations and programs that are one launch on each of several devices, whose groups exchange
// cells by themselves, against one step after another.
#include <cstdlib>
#include <thread>

#include "hpl/runtime/device_state.h"
#include "persistent_support.h"
#include "tests/seeds.h"

namespace persistent_devices_tests {

using namespace hpl;
using namespace stencil_tests;

namespace {

/// All devices of the default type, where their groups can wait for each other; else none.
std::vector<Device> spinningDevices() {
  std::vector<Device> all = devices(defaultDevice().type());
  if (all.size() < 2 || !stencils::whyNotSpinning(all, 1, 1).empty()) all.clear();
  return all;
}

/// Cells of a square after that many steps, in a few runs.
std::vector<float> cellsAfter(StencilLauncher launcher, int n, std::initializer_list<int> runs) {
  Array<float, 2> a(n, n), b(n, n);
  a = 0.0f;
  a(n / 2, n / 3) = 100.0f;
  for (const int steps : runs) {
    const StencilRun run = launcher.iterate(steps)(a, b);
    CHECK(run.launches >= 1);
    CHECK(run.launches <= steps);
  }
  return cellsOf(a);
}

std::vector<float> expectedAfter(int n, std::initializer_list<int> runs) {
  return cellsAfter(jacobi().persistent(false).timeTile(1), n, runs);
}

StencilLauncher keptOn(const std::vector<Device>& devices) {
  const Stencil stencil = jacobi();
  StencilLauncher launcher = stencil.persistent();
  launcher.devices(devices);
  return launcher;
}

}  // namespace

TEST_CASE("persistent on several devices: random stencils of integers equal step after step") {
  const std::vector<Device> all = spinningDevices();
  if (all.empty()) return;
  for (const unsigned seed : Seeds(1, 6)) {
    checkPersistent<int, 1>(seed, all);
    checkPersistent<int, 2>(100 + seed, all);
    checkPersistent<int, 3>(200 + seed, all);
  }
}

TEST_CASE("persistent on several devices: random stencils of other types equal step after step") {
  const std::vector<Device> all = spinningDevices();
  if (all.empty()) return;
  for (const unsigned seed : Seeds(1, 2)) {
    checkPersistent<float, 2>(300 + seed, all);
    checkPersistent<double, 2>(400 + seed, all);
    checkPersistent<std::int64_t, 3>(500 + seed, all);
    checkPersistent<short, 2>(600 + seed, all);
    checkPersistent<signed char, 1>(700 + seed, all);
  }
}

TEST_CASE("persistent on several devices: in blocks along any dimension") {
  const std::vector<Device> all = spinningDevices();
  if (all.empty()) return;
  const std::size_t n = all.size();
  for (const unsigned seed : Seeds(1, 3)) {
    checkPersistent<int, 2>(seed, all, {1, n});
    checkPersistent<float, 2>(100 + seed, all, {1, n});
    checkPersistent<int, 3>(200 + seed, all, {1, n, 1});
    checkPersistent<short, 3>(300 + seed, all, {1, 1, n});
    checkPersistent<double, 3>(400 + seed, all, {n, 1, 1});
    if (n % 2 != 0) continue;
    checkPersistent<int, 2>(500 + seed, all, {2, n / 2});
    checkPersistent<int, 3>(600 + seed, all, {n / 2, 1, 2});
  }
}

TEST_CASE("persistent on several devices: groups that wait for all others compute the same") {
  const std::vector<Device> all = spinningDevices();
  const Planted planted;
  runtime::Settings barrier = planted.before;
  barrier.groupsWait = runtime::GroupsWait::All;
  runtime::overrideSettings(barrier);
  if (canSpin()) checkPersistent<int, 2>(700);
  if (all.empty()) return;
  for (const unsigned seed : Seeds(1, 3)) {
    checkPersistent<int, 1>(seed, all);
    checkPersistent<int, 2>(100 + seed, all, {1, all.size()});
    checkLooks<float, 2>(200 + seed, all);
  }
}

TEST_CASE("persistent on several devices: random programs equal one function after another") {
  const std::vector<Device> all = spinningDevices();
  if (all.empty()) return;
  int kept = 0;
  for (const unsigned seed : Seeds(1, 10)) {
    std::mt19937 random(seed);
    RandomProgram program = oncePerField(randomProgram(random));
    // Bands at least as thick as what a few steps reach.
    program.extents[static_cast<std::size_t>(3 - program.dims)] +=
        36 * static_cast<int>(all.size());
    kept += checkKept(program, random, seed, all) ? 1 : 0;
  }
  CHECK(kept >= 5);
}

TEST_CASE("persistent on several devices: iterations come again, by turns with other launches") {
  const std::vector<Device> all = spinningDevices();
  if (all.empty()) return;
  CHECK(cellsAfter(keptOn(all), 70, {41, 2, 1, 60, 7}) == expectedAfter(70, {41, 2, 1, 60, 7}));
  Array<float, 2> a(66, 50), b(66, 50), c(66, 50), d(66, 50);
  a = 0.0f;
  c = 0.0f;
  const Stencil stencil = jacobi();
  for (int k = 0; k < 4; ++k) {
    a(10 + k, 7) = 40.0f + static_cast<float>(k);
    c(10 + k, 7) = 40.0f + static_cast<float>(k);
    keptOn(all).iterate(20 + k)(a, b);
    stencil.device(all[static_cast<std::size_t>(k) % all.size()]).timeTile(1).iterate(3)(a, b);
    stencil.persistent(false).timeTile(1).iterate(23 + k)(c, d);
    CHECK(cellsOf(a) == cellsOf(c));
  }
}

TEST_CASE("persistent on several devices: until looks at the same steps") {
  const std::vector<Device> all = spinningDevices();
  if (all.empty()) return;
  const auto runOf = [&](StencilLauncher launcher) {
    Array<float, 2> a(40, 40), b(40, 40);
    a = 0.0f;
    const StencilRun run = launcher.until(0.002, 25).iterate(2000)(a, b);
    CHECK(run.converged);
    return std::pair(run.steps, cellsOf(a));
  };
  CHECK(runOf(keptOn(all)) == runOf(jacobi().persistent(false)));
}

TEST_CASE("persistent on several devices: random looks are those of launches between them") {
  const std::vector<Device> all = spinningDevices();
  if (all.empty()) return;
  for (const unsigned seed : Seeds(1, 4)) {
    checkLooks<float, 2>(seed, all);
    checkLooks<int, 1>(100 + seed, all);
    checkLooks<double, 3>(200 + seed, all);
  }
}

TEST_CASE(
    "persistent on several devices: groups that wait in vain give up, and steps are launched") {
  const std::vector<Device> all = spinningDevices();
  if (all.empty()) return;
  const Planted planted;
  const std::vector<float> expected = expectedAfter(64, {400});
  runtime::Settings impatient = planted.before;
  impatient.patience = 1;
  runtime::overrideSettings(impatient);
  bool gaveUp = false;
  for (int k = 0; k < 20 && !gaveUp; ++k) {
    CHECK(cellsAfter(keptOn(all), 64, {400}) == expected);
    gaveUp = stencils::hasGivenUp(all);
  }
  CHECK(gaveUp);
  for (const Device& device : all) CHECK(stencils::hasGivenUp(device));
  stencils::plantCensus(std::nullopt);
  runtime::overrideSettings(planted.before);
  CHECK(cellsAfter(keptOn(all), 64, {400}) == expected);
}

TEST_CASE("persistent on several devices: looks at elements that are vectors") {
  if (const std::vector<Device> all = spinningDevices(); !all.empty()) checkLooksOfVectors(all);
}

TEST_CASE("persistent on several devices: scalars that change from step to step") {
  const std::vector<Device> all = spinningDevices();
  if (all.empty()) return;
  Stencil stencil([](Neighbourhood<float, 2> p, Float factor) {
    return factor * (p(-1, 0) + p(1, 0) + p(0, -1) + p(0, 1));
  });
  stencil.boundary(Periodic());
  const auto cellsWith = [&](StencilLauncher launcher) {
    Array<float, 2> a(44, 37), b(44, 37);
    a = 1.0f;
    a(20, 5) = 9.0f;
    launcher.iterate(33)(a, b, perStep([](std::int64_t step) {
                           return step % 3 == 0 ? 0.2f : 0.25f + 0.001f * static_cast<float>(step);
                         }));
    return cellsOf(a);
  };
  StencilLauncher kept = stencil.persistent();
  kept.devices(all);
  CHECK(cellsWith(kept) == cellsWith(stencil.persistent(false).timeTile(1)));
}

TEST_CASE("persistent on several devices: two iterations at once, of which one may be streamed") {
  const std::vector<Device> all = spinningDevices();
  if (all.empty()) return;
  const std::vector<float> expected = expectedAfter(48, {300});
  std::vector<float> cells[2];
  std::vector<std::thread> threads;
  for (std::vector<float>& result : cells)
    threads.emplace_back([&result, &all] {
      for (int k = 0; k < 4; ++k) result = cellsAfter(keptOn(all), 48, {300});
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(cells[0] == expected);
  CHECK(cells[1] == expected);
}

TEST_CASE("persistent on several devices: a device that has other work to do is waited for") {
  const std::vector<Device> all = spinningDevices();
  if (all.empty()) return;
  Array<float, 1> busy(1);
  busy = 1.0f;
  // A few seconds: longer than groups wait for each other.
  const auto work = [&] {
    eval([](Array<float, 1> x) {
      for_(Int k = 0, k < 1000000000, k++) {
        x[0] = x[0] * 0.999f + 0.5f;
      }
    })
        .global(1)
        .device(all.back())(busy);
  };
  const std::vector<float> expected = expectedAfter(40, {100});
  CHECK(cellsAfter(keptOn(all), 40, {100}) == expected);
  work();
  CHECK(cellsAfter(keptOn(all), 40, {100}) == expected);
  CHECK_FALSE(stencils::hasGivenUp(all));
}

TEST_CASE("persistent on several devices: many runs of any size, with and without looks") {
  const char* const asked = std::getenv("TEST_RUNS");
  const int runs = asked != nullptr ? std::atoi(asked) : 12;
  const std::vector<Device> all = spinningDevices();
  const Planted planted;
  int gaveUp = 0;
  for (int k = 0; k < runs; ++k) {
    CAPTURE(k);
    std::mt19937 random(static_cast<unsigned>(k));
    const int n = 24 + 8 * static_cast<int>(random() % 12);
    const int steps = 40 + 20 * static_cast<int>(random() % 10);
    const bool isOnAll = random() % 2 == 0 && !all.empty();
    const std::vector<Device> own = isOnAll ? all : std::vector<Device>{defaultDevice()};
    if (!stencils::whyNotSpinning(own, 1, 1).empty()) continue;
    const std::vector<float> expected = expectedAfter(n, {steps});
    Array<float, 2> a(n, n), b(n, n);
    a = 0.0f;
    a(n / 2, n / 3) = 100.0f;
    StencilLauncher launcher = keptOn(own);
    if (random() % 2 == 0) {
      launcher.iterate(steps)(a, b);
    } else {
      CHECK(launcher.until(1e-30, 7).iterate(steps)(a, b).steps == steps);
    }
    CHECK(cellsOf(a) == expected);
    if (!stencils::hasGivenUp(own)) continue;
    ++gaveUp;
    stencils::plantCensus(std::nullopt);
  }
  MESSAGE(runs << " runs, in " << gaveUp << " of them groups gave up");
}

TEST_CASE("persistent on several devices: what cannot be is refused with the reason") {
  const std::vector<Device> all = devices(defaultDevice().type());
  if (all.size() < 2) return;
  const std::vector<Device> two{all[0], all[1]};
  Array<float, 2> a(64, 64), b(64, 64);
  a = 0.0f;
  const auto refusal = [&](StencilLauncher launcher) {
    return launchErrorOf([&] { launcher.iterate(20)(a, b); });
  };
  const auto says = [](const std::string& message, const std::string& part) {
    CAPTURE(message);
    return message.find(part) != std::string::npos;
  };
  StencilLauncher weighted = keptOn(two);
  weighted.weights({1, 2});
  CHECK(says(refusal(weighted),
             "groups on several devices take equal bands or blocks, one for each, and .weights"));
  StencilLauncher blocks = keptOn(two);
  blocks.blocks(3, 1);
  CHECK(says(refusal(blocks), ".blocks or a plan says otherwise; leave out .persistent()"));
  CHECK(says(refusal(keptOn(two)), stencils::whyNotSpinning(two, 1, 1).empty()
                                       ? "no error"
                                       : stencils::whyNotSpinning(two, 1, 1)));
  if (stencils::whyNotSpinning(two, 1, 1).empty()) {
    StencilLauncher deep = keptOn(two);
    deep.timeTile(40);
    CHECK(says(refusal(deep),
               "bands of 32 rows on 2 devices are too thin for 1 group each: 40 "
               "steps reach 40 cells"));
    StencilLauncher narrow = keptOn(two);
    narrow.blocks(2, 1).timeTile(33);
    CHECK(says(refusal(narrow),
               "bands of 32 columns on 2 devices are too thin for 1 group each: 33 "
               "steps reach 33 cells"));
    const Planted planted;
    stencils::plantCensus(false);
    CHECK(says(refusal(keptOn(two)), "on devices " + two[0].state().name() + ", " +
                                         two[1].state().name() +
                                         ": the 2 devices do not run 1 groups each at once"));
  } else if (!two[0].getProperties().sharesHostMemory) {
    CHECK(says(refusal(keptOn(two)), "does not work in the host's memory"));
  }
  const std::int64_t units = two[0].getProperties().computeUnits;
  CHECK(says(stencils::whyNotSpinning(two, units + 1, 1), "groups "));
}

}  // namespace persistent_devices_tests
