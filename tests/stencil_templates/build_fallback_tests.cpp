// SPDX-License-Identifier: Apache-2.0
// Where the compiler rejects the kernel of several steps or functions, each is launched by itself.
#include <doctest/doctest.h>

#include "hpl/runtime/settings.h"
#include "stencil_support.h"
#include "tests/launch/planted_builds.h"

namespace build_fallback_tests {

using namespace hpl;
using namespace stencil_tests;
using hpl::test::FailingBuilds;

namespace {

constexpr int kCells = 300;

/// Keeps the cache on disk out for a scope: binaries have no source to reject.
class WithoutCache {
 public:
  WithoutCache() : before_(runtime::settings()) {
    runtime::Settings wanted = before_;
    wanted.cache = runtime::DiskCache::Off;
    runtime::overrideSettings(wanted);
  }
  ~WithoutCache() { runtime::overrideSettings(before_); }

 private:
  runtime::Settings before_;
};

/// Sums of three; the number makes each test's kernel its own.
template <int Number>
Stencil sums() {
  Stencil stencil([](Neighbourhood<int, 1> a) { return a(-1) + a(0) + a(1) + Number; });
  stencil.boundary(Fixed(0));
  return stencil;
}

/// Text that only the code of several steps or functions contains: a tile's box of cells.
constexpr const char* kMark = "box_";

std::vector<int> firstCells() {
  std::vector<int> cells(kCells);
  for (int i = 0; i < kCells; ++i) cells[static_cast<std::size_t>(i)] = i * i % 23;
  return cells;
}

/// A step of `sums` on the host; cells beyond the ends are 0.
std::vector<int> summed(const std::vector<int>& in, int number) {
  std::vector<int> out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    const int left = i > 0 ? in[i - 1] : 0;
    const int right = i + 1 < in.size() ? in[i + 1] : 0;
    out[i] = left + in[i] + right + number;
  }
  return out;
}

}  // namespace

TEST_CASE("build fallback: time tiles whose code does not compile give way to single steps") {
  const WithoutCache sources;
  for (const int devices : {1, deviceCount()}) {
    CAPTURE(devices);
    std::vector<int> expected = firstCells();
    for (int s = 0; s < 9; ++s) expected = summed(expected, 1);
    Stencil stencil = sums<1>();
    const auto check = [&] {
      Array<int, 1> a(kCells), b(kCells);
      a.copyFrom(firstCells().data());
      stencil.devices(devices).timeTile(4).iterate(9)(a, b);
      CHECK(cellsOf(a) == expected);
    };
    {
      const FailingBuilds compiler(kMark);
      check();
      const int rejected = FailingBuilds::rejected();
      CHECK(rejected > 0);
      // Remembered: what failed is not built again.
      check();
      CHECK(FailingBuilds::rejected() == rejected);
    }
    check();
  }
}

TEST_CASE("build fallback: fused functions whose code does not compile give way to one by one") {
  const WithoutCache sources;
  std::vector<int> expected = firstCells();
  for (int s = 0; s < 5; ++s) expected = summed(summed(expected, 2), 3);
  Array<int, 1> a(kCells), b(kCells);
  a.copyFrom(firstCells().data());
  b = 0;
  StencilProgram program;
  program.apply(sums<2>())(a, b);
  program.apply(sums<3>())(b, a);
  program.timeTile(2);
  {
    const FailingBuilds compiler(kMark);
    program.run(2);
    const int rejected = FailingBuilds::rejected();
    CHECK(rejected > 0);
    program.run(1);
    CHECK(FailingBuilds::rejected() == rejected);
  }
  program.run(2);
  CHECK(cellsOf(a) == expected);
}

}  // namespace build_fallback_tests
