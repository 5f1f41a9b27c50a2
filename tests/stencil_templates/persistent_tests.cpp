// SPDX-License-Identifier: Apache-2.0
// Iterations of stencils that are one launch, on the device, against one step after another in C++.
#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <thread>

#include "../messages.h"
#include "persistent_support.h"
#include "stencil_templates/detail/spin_lease.h"
#include "stencil_templates/detail/unit_locks.h"
#include "tests/seeds.h"

namespace persistent_tests {

using namespace hpl;
using namespace stencil_tests;

namespace {

/// Cells of a grid of n x n after that many steps.
std::vector<float> jacobiCells(int n, int steps, std::optional<bool> persistent) {
  Array<float, 2> a(n, n), b(n, n);
  a = 0.0f;
  a(n / 2, n / 3) = 100.0f;
  const Stencil stencil = jacobi();
  if (persistent) {
    stencil.persistent(*persistent).iterate(steps)(a, b);
  } else {
    stencil.iterate(steps)(a, b);
  }
  return cellsOf(a);
}

/// Another program that has groups wait on units of the device, until it is killed.
class OtherProgram {
 public:
  OtherProgram(const Device& device, std::int64_t groups) {
    int ends[2] = {-1, -1};
    if (pipe(ends) != 0) return;
    // The parent must have asked before: the child has none of the driver's threads.
    static_cast<void>(device.getProperties());
    child_ = fork();
    if (child_ == 0) {
      // The same test may run in another process, too.
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      auto locks = std::make_unique<stencils::UnitLocks>();
      bool hasAll = locks->take(device, groups);
      while (!hasAll && std::chrono::steady_clock::now() < end) {
        locks = std::make_unique<stencils::UnitLocks>();
        hasAll = locks->take(device, groups);
      }
      const char outcome = hasAll ? 'y' : 'n';
      if (write(ends[1], &outcome, 1) == 1) pause();
      _exit(1);
    }
    char outcome = 'n';
    hasUnits_ = read(ends[0], &outcome, 1) == 1 && outcome == 'y';
    close(ends[0]);
    close(ends[1]);
  }
  ~OtherProgram() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  OtherProgram(const OtherProgram&) = delete;
  OtherProgram& operator=(const OtherProgram&) = delete;

  bool hasUnits() const { return hasUnits_; }

 private:
  pid_t child_ = -1;
  bool hasUnits_ = false;
};

}  // namespace

TEST_CASE("persistent: random stencils of integers equal one step after another") {
  if (!canSpin()) return;
  for (const unsigned seed : Seeds(1, 6)) {
    checkPersistent<int, 1>(seed);
    checkPersistent<int, 2>(100 + seed);
    checkPersistent<int, 3>(200 + seed);
  }
}

TEST_CASE("persistent: random stencils of other types equal one step after another") {
  if (!canSpin()) return;
  for (const unsigned seed : Seeds(1, 2)) {
    checkPersistent<float, 2>(300 + seed);
    checkPersistent<double, 2>(400 + seed);
    checkPersistent<std::int64_t, 3>(500 + seed);
    checkPersistent<short, 2>(600 + seed);
    checkPersistent<signed char, 1>(700 + seed);
  }
}

TEST_CASE("persistent: iterations that come again, of views, and of long runs") {
  if (!canSpin()) return;
  const Stencil stencil = jacobi();
  Array<float, 2> a(70, 66), b(70, 66), c(70, 66), d(70, 66);
  a = 0.0f;
  a(33, 20) = 50.0f;
  c = a;
  for (int k = 0; k < 3; ++k) {
    stencil.persistent().iterate(41)(a, b);
    stencil.persistent(false).timeTile(1).iterate(41)(c, d);
  }
  CHECK(cellsOf(a) == cellsOf(c));
  stencil.persistent().iterate(10)(a(Range(3, 60), Range(5, 50)), b(Range(3, 60), Range(5, 50)));
  stencil.timeTile(1).iterate(10)(c(Range(3, 60), Range(5, 50)), d(Range(3, 60), Range(5, 50)));
  CHECK(cellsOf(a) == cellsOf(c));
}

TEST_CASE("persistent: until looks at the same steps") {
  if (!canSpin()) return;
  const auto runOf = [](bool persistent) {
    Array<float, 2> a(40, 40), b(40, 40);
    a = 0.0f;
    const Stencil stencil = jacobi();
    const StencilRun run = stencil.persistent(persistent).until(0.002, 25).iterate(2000)(a, b);
    CHECK(run.converged);
    if (persistent && !stencils::hasGivenUp(defaultDevice())) CHECK(run.launches == 1);
    if (!persistent) CHECK(run.launches >= 2 * run.steps / 25);
    return std::pair(run.steps, cellsOf(a));
  };
  CHECK(runOf(true) == runOf(false));
}

TEST_CASE("persistent: random looks in the kernel are those of launches between them") {
  if (!canSpin()) return;
  for (const unsigned seed : Seeds(1, 8)) {
    checkLooks<float, 2>(seed);
    checkLooks<int, 2>(100 + seed);
  }
  for (const unsigned seed : Seeds(1, 3)) {
    checkLooks<double, 1>(200 + seed);
    checkLooks<float, 3>(300 + seed);
    checkLooks<short, 2>(400 + seed);
  }
}

TEST_CASE("persistent: looks at elements that are vectors, by a residual of the program's") {
  if (canSpin()) checkLooksOfVectors();
}

TEST_CASE("persistent: a residual that is no number keeps the iteration going to its end") {
  if (!canSpin()) return;
  Array<float, 1> a(200), b(200);
  for (int i = 0; i < 200; ++i) a(i) = i == 150 ? 1e38f : 1.0f;
  Stencil grow([](Neighbourhood<float, 1> p) { return p(0) * 10.0f - p(1) * 0.5f; });
  grow.boundary(Nearest());
  const StencilRun run = grow.persistent().until(0.1, 3).iterate(20)(a, b);
  CHECK(run.steps == 20);
  CHECK(std::isnan(run.residual));
  CHECK_FALSE(run.converged);
}

TEST_CASE("persistent: groups that wait in vain give up, and the steps are launched one by one") {
  if (!canSpin() || defaultDevice().getProperties().computeUnits < 2) return;
  const Planted planted;
  const std::vector<float> expected = jacobiCells(64, 400, false);
  runtime::Settings impatient = planted.before;
  impatient.patience = 1;
  runtime::overrideSettings(impatient);
  bool gaveUp = false;
  // One of two groups begins before the other, if only by the time that waking a thread takes.
  for (int k = 0; k < 20 && !gaveUp; ++k) {
    CHECK(jacobiCells(64, 400, true) == expected);
    gaveUp = stencils::hasGivenUp(defaultDevice());
  }
  CHECK(gaveUp);
  const std::string message = launchErrorOf([] { jacobiCells(64, 400, true); });
  CHECK(message.find("groups have waited for each other in vain on this device before") !=
        std::string::npos);
}

TEST_CASE("persistent: where groups do not run at once, it is refused with numbers") {
  const Planted planted;
  const Device device = defaultDevice();
  const auto units = static_cast<std::int64_t>(device.getProperties().computeUnits);
  const std::string tooMany = stencils::whyNotSpinning(device, units + 1, 1);
  if (canSpin())
    CHECK(tooMany.find(std::to_string(units + 1) +
                       " groups would wait for each other, and the device has " +
                       std::to_string(units) + " unit") == 0);
  if (units < 2) return;
  stencils::plantCensus(false);
  const std::string message = launchErrorOf([] { jacobiCells(64, 100, true); });
  CHECK(message.find("stencil 'jacobi': its steps cannot be one launch on device ") == 0);
  CHECK(message.find("; leave out .persistent()") != std::string::npos);
  // Without being asked for, it is launched step by step.
  runtime::Settings asked = planted.before;
  asked.persistent = true;
  runtime::overrideSettings(asked);
  const std::vector<float> cells = jacobiCells(64, 100, std::nullopt);
  CHECK(cells == jacobiCells(64, 100, false));
}

TEST_CASE("persistent: functions and grids that it is not for are refused with the reason") {
  Array<float, 2> a(32, 32), b(32, 32);
  a = 0.0f;
  b = 0.0f;
  Stencil holes([](Neighbourhood<float, 2> p, Output<float> out) {
    if_(p(0, 0) > 0.0f) {
      out = p(0, 1);
    }
  });
  holes.boundary(Nearest());
  CHECK(launchErrorOf([&] {
          holes.persistent().iterate(5)(a, b);
        }).find("its point function does not assign every cell") != std::string::npos);
  Array<float, 2> c(4000, 4000), d(4000, 4000);
  const std::string large = launchErrorOf([&] { jacobi().persistent().iterate(5)(c, d); });
  CHECK(large.find("KiB of local memory, and the device has ") != std::string::npos);
}

TEST_CASE(
    "persistent: two iterations at once on one device, of which one may have to be streamed") {
  if (!canSpin()) return;
  const std::vector<float> expected = jacobiCells(48, 300, false);
  std::vector<float> cells[2];
  std::vector<std::thread> threads;
  for (std::vector<float>& result : cells)
    threads.emplace_back([&result] {
      for (int k = 0; k < 4; ++k) result = jacobiCells(48, 300, true);
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(cells[0] == expected);
  CHECK(cells[1] == expected);
}

TEST_CASE("persistent: groups of all copies of a device share its units") {
  const Device device = defaultDevice();
  const auto units = static_cast<std::int64_t>(device.getProperties().computeUnits);
  if (units < 2) return;
  auto first = stencils::SpinLease::take(device, units);
  REQUIRE(first.has_value());
  CHECK_FALSE(stencils::SpinLease::take(device, 2).has_value());
  // One group waits for none.
  CHECK(stencils::SpinLease::take(device, 1).has_value());
  first.reset();
  CHECK(stencils::SpinLease::take(device, units).has_value());
}

TEST_CASE("persistent: programs of one machine share the units of its devices") {
  const Device device = defaultDevice();
  const auto units = static_cast<std::int64_t>(device.getProperties().computeUnits);
  if (units < 2 || !canSpin()) return;
  const std::vector<float> expected = jacobiCells(48, 300, false);
  const Planted planted;
  runtime::Settings sharing = planted.before;
  sharing.units = runtime::Units::Shared;
  runtime::overrideSettings(sharing);
  {
    const OtherProgram other(device, 1);
    REQUIRE(other.hasUnits());
    CHECK_FALSE(stencils::SpinLease::take(device, units).has_value());
    CHECK(stencils::SpinLease::take(device, 1).has_value());
    Array<float, 2> a(48, 48), b(48, 48);
    a = 0.0f;
    a(24, 16) = 100.0f;
    CHECK(jacobi().persistent().iterate(300)(a, b).launches > 1);
    CHECK(cellsOf(a) == expected);
  }
  // However it ended, its units are free.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  bool isFree = false;
  while (!isFree && std::chrono::steady_clock::now() < end)
    isFree = stencils::SpinLease::take(device, units).has_value();
  CHECK(isFree);
  CHECK(jacobiCells(48, 300, true) == expected);
}

}  // namespace persistent_tests
