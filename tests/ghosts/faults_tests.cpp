// SPDX-License-Identifier: Apache-2.0
// Launches on several devices that one of the devices refuses.
#include <doctest/doctest.h>

#include "hpl/memory/detail/device_access.h"
#include "hpl/runtime/device_state.h"
#include "support.h"

namespace faults_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

// OpenCL refuses to run it in groups of another size.
void addHundred(InOut<Numbers>) {}
const char* const kAddHundred = TOSTRING(__kernel __attribute__((reqd_work_group_size(
    4, 1, 1))) void add_hundred(__global int* a) { a[get_global_id(0)] += 100; });

// Shows what a part has four cells further on.
void lookAhead(Numbers out, Numbers in) {
  if_(idx + 4 < szx) {
    out[idx] = in[idx + 4];
  }
}

void addUp(Grid x, Grid y, Grid z, Grid w) {
  w[idy][idx] = x[idy][idx] + y[idy][idx] + z[idy][idx];
}

// The cells of an array that a device has, and those that it keeps for itself.
struct Holdings {
  Holdings(Grid& a, const Device& device)
      : box(memory::detail::replicaBox(a.hostView().root(), device.state())),
        current(memory::detail::currentOn(a.hostView().root(), device.state())),
        kept(memory::detail::keptOn(a.hostView().root(), device.state())) {}
  bool operator==(const Holdings&) const = default;

  geometry::Box box;
  std::vector<geometry::Box> current, kept;
};

}  // namespace

TEST_CASE("a device without room for its part says what it holds, and the others keep theirs") {
  if (deviceCount() < 2) return;
  const int n = deviceCount();
  const Device last = testDevices().back();
  Grid a(16 * n, 1024), b(16 * n, 1024), c(16 * n, 1024), d(16 * n, 1024);
  a.label("left");
  b.label("right");
  d.label("fourth");
  a = 1;
  b = 2;
  c = 3;
  d = 4;
  eval(fivePoint)(PART1(b, 1), PART1(a, 1));
  const std::size_t limit = last.state().memoryLimit();
  std::vector<Holdings> before;
  for (Grid* array : {&a, &b})
    for (const Device& device : testDevices()) before.emplace_back(*array, device);
  last.state().setMemoryLimit(last.state().memoryUsed() + 100000);
  const std::string message = messageOf<AllocationError>(
      [&] { eval(addUp)(PART1(a, 1), PART1(b, 1), PART1(c, 1), PART1(d, 1)); });
  last.state().setMemoryLimit(limit);
  const std::string cells = geometry::Box({16 * (n - 1) - 1, 0}, {16 * n, 1024}).toString();
  expectMessage(message, {"array \"fourth\" needs", last.state().name().c_str(), "no data is lost",
                          ("\"left\" " + cells).c_str(), ("\"right\" " + cells).c_str()});
  std::vector<Holdings> after;
  for (Grid* array : {&a, &b})
    for (const Device& device : testDevices()) after.emplace_back(*array, device);
  CHECK(before == after);
  CHECK(valuesOf(d) == std::vector<int>(d.size(), 4));
  eval(addUp)(PART1(a, 1), PART1(b, 1), PART1(c, 1), PART1(d, 1));
  CHECK(d(0, 0) == 1 + 2 + 3);
}

TEST_CASE("when one device refuses its kernel, what the others did is not taken for values") {
  nativeHandle(addHundred, "add_hundred", kAddHundred);
  const int n = deviceCount();
  const std::vector<Domain> fours(static_cast<std::size_t>(n), Domain(4));
  for (int refuses = 0; refuses < n; ++refuses) {
    for (const SyncMode mode : {MANUAL_SYNC, AUTO_SYNC}) {
      CAPTURE(refuses);
      CAPTURE(static_cast<int>(mode));
      Numbers a(40 * n), seen(40 * n);
      a = 7;
      seen = 0;
      eval(addHundred).devices(n).local(fours)(PART1(a, 4, mode));
      a.syncGhosts();
      std::vector<Domain> wrong = fours;
      wrong[static_cast<std::size_t>(refuses)] = Domain(2);
      const std::string message = messageOf<DeviceError>(
          [&] { eval(addHundred).devices(n).local(wrong)(PART1(a, 4, mode)); });
      const std::string device = testDevices()[static_cast<std::size_t>(refuses)].state().name();
      expectMessage(message, {"add_hundred", device.c_str()});
      // Devices get their kernels in their order. The writes of the first ones cannot be undone,
      // and do not become the array's values; a hundred is never added twice.
      std::vector<int> wanted(a.size(), 107);
      if (refuses > 0) {
        expectMessage(message, {"no value any more"});
        const auto again = [&] { eval(addHundred).devices(n).local(fours)(PART1(a, 4, mode)); };
        expectMessage(messageOf<DeviceError>(again), {"have no value", "add_hundred"});
        expectMessage(messageOf<DeviceError>([&] { valuesOf(a); }), {"have no value"});
        a(Range(0, 40 * refuses - 1)) = 107;
      }
      if (mode == MANUAL_SYNC) a.syncGhosts();
      eval(lookAhead).devices(n)(PART1(seen, 4, mode), PART1(a, 4, mode));
      CHECK(valuesOf(a) == wanted);
      const std::vector<int> ahead = valuesOf(seen);
      for (std::size_t i = 0; i + 4 < a.size(); ++i)
        if (ahead[i] != wanted[i + 4]) FAIL_CHECK("cell " << i << " sees " << ahead[i]);
      eval(addHundred).devices(n).local(fours)(PART1(a, 4, mode));
      for (int& value : wanted) value += 100;
      CHECK(valuesOf(a) == wanted);
    }
  }
}

}  // namespace faults_tests
