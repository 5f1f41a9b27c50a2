// SPDX-License-Identifier: Apache-2.0
// Periodic parts on one to four ranks leave the same cells as in one process.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>

#include "hpl/error.h"
#include "hpl/runtime/device_state.h"
#include "program_on_ranks.h"
#include "tests/messages.h"

namespace periodic_tests {

using namespace hpl;
using namespace ranks_tests;
using hpl_tests::contains;

namespace {

void addRow(Grid a, Int amount) { a[idy][idx] += amount + idy; }
// In parts idy counts from the part's first row.
void addTo(Grid a, Int amount) { a[idy][idx] += amount; }

/// A pair of periodic arrays that a program computes with, and a third one that needs memory.
class Torus {
 public:
  explicit Torus(unsigned seed)
      : random_(seed),
        ghosts_(1 + below(2)),
        split_(below(3)),
        rows_(12 + below(9)),
        columns_(12 + below(9)),
        now_(rows_, columns_),
        next_(rows_, columns_),
        other_(rows_, columns_) {
    setCells(now_, seed);
    setCells(next_, seed + 1);
    other_ = 1;
  }

  std::size_t bytes() const { return now_.size() * sizeof(int); }
  /// All that a program may know of the arrays.
  std::string run(int steps) {
    std::string said;
    for (int step = 0; step < steps; ++step) {
      compute();
      if (below(2) == 0) disturb(said);
    }
    return said + cellsOf(now_) + cellsOf(next_) + cellsOf(other_);
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  void compute() {
    const bool byItself = below(2) == 0;
    const SyncMode sync = byItself ? AUTO_SYNC : MANUAL_SYNC;
    const auto launch = [&](const auto& out, const auto& in) {
      eval(fivePoint).devices(getDeviceNumber())(out, in);
    };
    if (!byItself) now_.syncGhosts();
    switch (split_) {
      case 0:
        launch(PART1(next_, ghosts_, PERIODIC, sync), PART1(now_, ghosts_, PERIODIC, sync));
        break;
      case 1:
        launch(PART2(next_, ghosts_, PERIODIC, sync), PART2(now_, ghosts_, PERIODIC, sync));
        break;
      default:
        launch(PART12(next_, {1, PERIODIC}, ghosts_, sync),
               PART12(now_, {1, PERIODIC}, ghosts_, sync));
    }
    if (!byItself) next_.syncGhosts();
    swap(now_, next_);
  }

  // Something else that programs do with an array. On a device, the whole array begins where its
  // memory does: ghosts beyond its ends have to give way.
  void disturb(std::string& said) {
    const std::vector<Device> all = devices();
    const Device device = all[static_cast<std::size_t>(below(4)) % all.size()];
    const int row = below(rows_), column = below(columns_), value = below(100);
    switch (below(9)) {
      case 0:
        eval(addRow).device(device)(now_, value);
        break;
      case 1:
        eval(addRow).device(device)(next_, value);
        eval(addRow).device(device)(other_, value);
        break;
      case 2:
      case 7:
        eval(fivePoint).device(device)(other_, now_);
        break;
      case 3:
        now_(row, column) = value;
        break;
      case 4:
        next_ = now_;
        break;
      case 5:
        next_(Range(0, row), Range(0, columns_ - 1)) = value;
        break;
      case 6:
        eval(addTo).devices(getDeviceNumber())(PART1(now_), value);
        break;
      default:
        said += fmt::format("{} ", now_(row, column).value());
    }
  }

  std::mt19937 random_;
  int ghosts_, split_, rows_, columns_;
  Grid now_, next_, other_;
};

/// With `isShort`, devices have room for three arrays and a half, of which launches need up to
/// three at once, and arrays that grow to hold their ghosts are there twice meanwhile.
std::string runRandom(unsigned first, unsigned last, bool isShort = false) {
  std::string said;
  for (unsigned seed = first; seed <= last; ++seed) {
    Torus torus(seed);
    for (const Device& device : devices())
      if (device.isLocal() && isShort) device.state().setMemoryLimit(torus.bytes() * 7 / 2);
    said += fmt::format("seed {}\n{}", seed, torus.run(8));
  }
  return said;
}

}  // namespace

TEST_CASE("random programs on periodic parts leave on ranks what they leave in one process") {
  expectAsOnOne([] { return runRandom(1, 8); });
}

TEST_CASE("periodic parts of devices short of memory wait elsewhere, and nothing is lost") {
  CHECK(saidOn(2, 1, [] { return runRandom(21, 32, true); }) ==
        saidOn(2, 1, [] { return runRandom(21, 32); }));
}

TEST_CASE("a launch on a whole periodic array that one rank cannot prepare changes nothing") {
  const auto program = [](bool fails) {
    return [fails] {
      Grid a(16, 16), b(16, 16);
      setCells(a, 1);
      setCells(b, 2);
      const auto step = [&] {
        eval(fivePoint).devices(getDeviceNumber())(PART1(b, 1, PERIODIC, AUTO_SYNC),
                                                   PART1(a, 1, PERIODIC, AUTO_SYNC));
        swap(a, b);
      };
      for (int i = 0; i < 3; ++i) step();
      const Device last = devices().back();
      if (last.isLocal()) last.state().setMemoryLimit(1000);
      std::string message = "too small";
      try {
        // The whole array, of 1,024 bytes, does not fit, whatever makes room.
        if (fails) eval(addRow).device(last)(a, 7);
        if (fails) message = "nothing was thrown";
      } catch (const AllocationError& error) {
        if (!last.isLocal() && !contains(error.what(), "rank 1: ")) message = error.what();
      }
      if (last.isLocal()) last.state().setMemoryLimit(1 << 20);
      step();
      eval(addRow).device(last)(a, 7);
      step();
      return message + cellsOf(a) + cellsOf(b);
    };
  };
  const std::string expected = saidOn(1, 1, program(false));
  CHECK(saidOn(2, 1, program(false)) == expected);
  CHECK(saidOn(2, 1, program(true)) == expected);
}

}  // namespace periodic_tests
