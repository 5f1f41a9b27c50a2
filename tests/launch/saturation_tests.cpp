// SPDX-License-Identifier: Apache-2.0
// Saturating functions of 64-bit integers on the device, which one driver got wrong, against 128
// bits on the host.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "hpl/hpl.h"

namespace saturation_tests {

using namespace hpl;

namespace {

__extension__ using Wide = __int128;
using Limits = std::numeric_limits<std::int64_t>;

/// Near the limits, near zero, or anywhere.
std::int64_t someNumber(std::mt19937_64& random) {
  const auto small = static_cast<std::int64_t>(random() % 17) - 8;
  switch (random() % 4) {
    case 0:
      return small;
    case 1:
      return Limits::max() - (small & 7);
    case 2:
      return Limits::min() + (small & 7);
    default:
      return static_cast<std::int64_t>(random()) >> random() % 40;
  }
}

}  // namespace

TEST_CASE("mad_sat of longs saturates where the sum of the product does not fit") {
  constexpr int kCount = 5000;
  Array<std::int64_t, 1> a(kCount), b(kCount), c(kCount), out(kCount);
  std::vector<std::int64_t> expected;
  std::mt19937_64 random(11);
  for (int i = 0; i < kCount; ++i) {
    a(i) = someNumber(random);
    b(i) = someNumber(random);
    c(i) = someNumber(random);
    const Wide sum = Wide{a(i)} * b(i) + c(i);
    expected.push_back(
        static_cast<std::int64_t>(std::clamp(sum, Wide{Limits::min()}, Wide{Limits::max()})));
  }
  eval([](Array<std::int64_t, 1> o, const Array<std::int64_t, 1>& x,
          const Array<std::int64_t, 1>& y, const Array<std::int64_t, 1>& z) {
    o[idx] = mad_sat(x[idx], y[idx], z[idx]);
  })(out, a, b, c);
  std::vector<std::int64_t> found(kCount);
  out.copyTo(found.data());
  CHECK(found == expected);
}

}  // namespace saturation_tests
