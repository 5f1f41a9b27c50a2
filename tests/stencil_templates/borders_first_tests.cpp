// SPDX-License-Identifier: Apache-2.0
// Launches that the library divides compute borders first, and the exchange runs beside the
// interior.
#include <doctest/doctest.h>

#include "hpl/runtime/settings.h"
#include "stencil_support.h"

namespace borders_first_tests {

using namespace hpl;
using namespace stencil_tests;
using runtime::Overlap;

namespace {

class WithOverlap {
 public:
  explicit WithOverlap(Overlap wish) : before_(runtime::settings()) {
    runtime::Settings wanted = before_;
    wanted.overlap = wish;
    runtime::overrideSettings(wanted);
  }
  ~WithOverlap() { runtime::overrideSettings(before_); }
  WithOverlap(const WithOverlap&) = delete;
  WithOverlap& operator=(const WithOverlap&) = delete;

 private:
  runtime::Settings before_;
};

Stencil star() {
  Stencil stencil([](Neighbourhood<float, 2> p) {
    return 0.2f * (p(0, 0) + p(-1, 0) + p(1, 0) + p(0, -1) + p(0, 1));
  });
  stencil.label("star").boundary(Nearest());
  return stencil;
}

template <class Run>
std::uint64_t launchesOf(Run run) {
  const std::uint64_t before = getTotalProfile().launches;
  run();
  return getTotalProfile().launches - before;
}

}  // namespace

TEST_CASE("stencils: borders come first in bands, blocks and time tiles") {
  if (deviceCount() < 2) return;
  const int n = deviceCount();
  // A plan for these arrays is made once.
  const auto count = [&](Overlap wish, StencilLauncher launcher) {
    const WithOverlap forced(wish);
    Array<float, 2> a(120, 90), b(120, 90);
    a = 1.0f;
    return launchesOf([&] { launcher(a, b); });
  };
  const auto whole = static_cast<std::uint64_t>(n);
  const Stencil sum = star();
  CHECK(count(Overlap::Off, sum.devices(n)) == whole);
  // The first and the last band have one border, the others two.
  CHECK(count(Overlap::On, sum.devices(n)) == static_cast<std::uint64_t>(2 * 2 + 3 * (n - 2)));
  if (n == 4) CHECK(count(Overlap::On, sum.blocks(Domain(2, 2)).devices(4)) == 4 * 3);
  // Devices of one process that compute on the CPU gain nothing.
  if (defaultDevice().type() == CPU) CHECK(count(Overlap::Auto, sum.devices(n)) == whole);
  const WithOverlap forced(Overlap::On);
  Array<float, 2> a(120, 90), b(120, 90);
  a = 1.0f;
  auto tiled = sum.devices(n).timeTile(3);
  CHECK(launchesOf([&] { tiled.iterate(6)(a, b); }) ==
        static_cast<std::uint64_t>(2 * (2 * 2 + 3 * (n - 2))));
}

}  // namespace borders_first_tests
