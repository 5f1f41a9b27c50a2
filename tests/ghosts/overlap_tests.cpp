// SPDX-License-Identifier: Apache-2.0
// Borders first, interior during the exchange: HPL_OVERLAP must not change a bit.
#include <doctest/doctest.h>

#include "hpl/runtime/settings.h"
#include "support.h"

namespace overlap_tests {

using namespace hpl;
using namespace ghosts_tests;

namespace {

class WithOverlap {
 public:
  explicit WithOverlap(runtime::Overlap wish) : before_(runtime::settings()) {
    runtime::Settings wanted = before_;
    wanted.overlap = wish;
    runtime::overrideSettings(wanted);
  }
  ~WithOverlap() { runtime::overrideSettings(before_); }

 private:
  runtime::Settings before_;
};

std::uint64_t launchesSoFar() { return getTotalProfile().launches; }

}  // namespace

TEST_CASE("computing borders first gives the same results") {
  const WithOverlap on(runtime::Overlap::On);
  const int rows = 30 * deviceCount(), columns = 24;
  for (const int r : {1, 2, 3}) {
    for (const bool byHand : {false, true}) {
      CAPTURE(r);
      CAPTURE(byHand);
      Grid a(rows, columns), b(rows, columns);
      std::vector<int> x = someValues(a.size(), 41), y = someValues(a.size(), 42);
      a.copyFrom(x.data());
      b.copyFrom(y.data());
      const std::uint64_t before = launchesSoFar();
      for (int step = 0; step < 9; ++step) {
        if (byHand) {
          eval(ninePoint)(PART1(b, r), PART1(a, r));
          b.syncGhosts();
        } else {
          eval(ninePoint)(PART1(b, r, AUTO_SYNC), PART1(a, r, AUTO_SYNC));
        }
        swap(a, b);
        y = ninePointStep(x, y, rows, columns);
        std::swap(x, y);
      }
      CHECK(valuesOf(a) == x);
      CHECK(valuesOf(b) == y);
      // Two borders and an interior on inner devices, one border on the first and the last.
      const int n = deviceCount();
      const int pieces = n == 1 ? 1 : 2 * 2 + 3 * (n - 2);
      CHECK(launchesSoFar() - before == static_cast<std::uint64_t>(9 * pieces));
    }
  }
}

TEST_CASE("blocks compute their frames first, with the same results") {
  const WithOverlap on(runtime::Overlap::On);
  const int rows = 12 * deviceCount(), columns = 13 * deviceCount();
  Grid a(rows, columns), b(rows, columns);
  std::vector<int> x = someValues(a.size(), 43), y = someValues(a.size(), 44);
  a.copyFrom(x.data());
  b.copyFrom(y.data());
  const std::uint64_t before = launchesSoFar();
  for (int step = 0; step < 6; ++step) {
    eval(ninePoint)(PART12(b, 1, 2, AUTO_SYNC), PART12(a, 1, 2, AUTO_SYNC));
    swap(a, b);
    y = ninePointStep(x, y, rows, columns);
    std::swap(x, y);
  }
  CHECK(valuesOf(a) == x);
  CHECK(valuesOf(b) == y);
  // Each block of four has two inner sides.
  if (deviceCount() == 4) CHECK(launchesSoFar() - before == 6 * 4 * 3);
}

TEST_CASE("kernels that cannot be cut run as a whole") {
  const WithOverlap on(runtime::Overlap::On);
  Numbers a(64 * deviceCount()), b(64 * deviceCount());
  a = 1;
  b = 0;
  const std::uint64_t before = launchesSoFar();
  eval([](Numbers out, Numbers in) { out[idx] = in[idx] + cast<int>(lidx) * 0; })(PART1(b, 1),
                                                                                  PART1(a, 1));
  // Writes another cell than its own.
  eval([](Numbers out, Numbers in) {
    if_(idx + 1 < szx) {
      out[idx + 1] = in[idx];
    }
  })(PART1(b, 1), PART1(a, 1));
  CHECK(launchesSoFar() - before == static_cast<std::uint64_t>(2 * deviceCount()));
  CHECK(b(3) == 1);
}

TEST_CASE("small parts are not cut by default") {
  const WithOverlap automatic(runtime::Overlap::Auto);
  Numbers a(300), b(300);
  a = 1;
  b = 0;
  const std::uint64_t before = launchesSoFar();
  eval(threePoint)(PART1(b, 1), PART1(a, 1));
  CHECK(launchesSoFar() - before == static_cast<std::uint64_t>(deviceCount()));
}

}  // namespace overlap_tests
