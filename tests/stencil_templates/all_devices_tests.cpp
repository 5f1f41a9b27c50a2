// SPDX-License-Identifier: Apache-2.0
// `.devices()` without a number: all devices of the default device's type.
#include <doctest/doctest.h>

#include "hpl/hpl.h"
#include "stencil_templates/stencil_templates.h"

namespace all_devices_tests {

namespace {

using namespace hpl;

Float average(Neighbourhood<float, 2> p) {
  return 0.25f * (p(-1, 0) + p(1, 0) + p(0, -1) + p(0, 1));
}

}  // namespace

TEST_CASE("stencils and patterns go to all devices when no number is given") {
  const int rows = 64, columns = 16;
  Array<float, 2> a(rows, columns), one(rows, columns), all(rows, columns), pattern(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) a(i, j) = static_cast<float>((i * 7 + j * 3) % 11);
  Stencil heat(average);
  heat.boundary(Fixed(0.0f));
  heat(a, one);
  heat.devices()(a, all);
  const StencilPattern cross({{-1, 1}, {-1, 1}}, {0, 1, 0, 1, 0, 1, 0, 1, 0}, 4);
  auto specific = cross.specific<float, 2>();
  specific.boundary(Fixed(0.0f)).devices()(a, pattern);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      REQUIRE(all(i, j).value() == one(i, j).value());
      REQUIRE(pattern(i, j).value() == doctest::Approx(one(i, j).value()));
    }
  }
}

TEST_CASE("a pattern of more than three dimensions goes to all devices when no number is given") {
  const StencilPattern pattern({{0, 0}, {0, 0}, {-1, 1}, {0, 0}}, {1, 0, 1});
  Array<float, 4> in(3, 4, 12, 5), one(3, 4, 12, 5), all(3, 4, 12, 5);
  in = 2.0f;
  one = 0.0f;
  all = 0.0f;
  pattern.specific<float, 4>()(in, one);
  pattern.specific<float, 4>().devices()(in, all);
  for (int k = 0; k < 12; ++k) REQUIRE(all(1, 2, k, 3).value() == one(1, 2, k, 3).value());
  CHECK(all(1, 2, 5, 3).value() == 4.0f);
}

}  // namespace all_devices_tests
