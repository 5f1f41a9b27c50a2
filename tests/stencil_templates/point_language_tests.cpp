// SPDX-License-Identifier: Apache-2.0
// What point functions may be written with: OpenCL C behind call(), enumerators; and C++ jumps,
// which they may not.
#include <doctest/doctest.h>

#include <string>

#include "hpl/hpl.h"
#include "stencil_templates/stencil_templates.h"
#include "tests/messages.h"

namespace point_language_tests {

using namespace hpl;

namespace {

using hpl_tests::contains;
using hpl_tests::messageOf;

enum Weights { CENTRE = 7, SIDE = 1, BEFORE = -1 };

// The C++ body must never be recorded.
Int lifeInC(AliasArray<int>, Int) { return -1000; }
Int lifePoint(AliasArray<int> p, Int row) { return call(lifeInC)(p, row); }
void lifeKernel(Array<int, 2> in, Array<int, 2> out, Array<int, 2, Local> tmp,
                Array<int, 1> helper) {
  StencilKernel2DF<1, 1, 1, 1>(in, out, tmp, helper, 0, lifePoint);
}

Int jumping(AliasArray<int> p, Int row) {
  if_(p[0] > 0) {
    return p[-row];
  }
  return p[row];
}
void jumpingKernel(Array<int, 2> in, Array<int, 2> out, Array<int, 2, Local> tmp,
                   Array<int, 1> helper) {
  StencilKernel2DF<1, 1, 1, 1>(in, out, tmp, helper, 0, jumping);
}

}  // namespace

TEST_CASE("the internals of an in-kernel template's point function may be OpenCL C behind call") {
  nativeHandle(lifeInC, "life_c", R"(
    int life_c(const HPL_SPACE int* p, int row) {
      int n = p[-row - 1] + p[-row] + p[-row + 1] + p[-1] + p[1] + p[row - 1] + p[row] + p[row + 1];
      return n == 3 || (p[0] && n == 2);
    })");
  Array<int, 2> a(16, 16), b(16, 16);
  a = 0;
  for (int c = 4; c < 7; ++c) a(5, c) = 1;
  auto s = PrepareStencilKernel2D<1, 1, 1, 1>(a, 1, 1);
  eval(lifeKernel).devices(s.devices).global(s.global).local(s.local)(a, b, s.temp, s.helper);
  for (int r = 0; r < 16; ++r)
    for (int c = 0; c < 16; ++c) REQUIRE(b(r, c).value() == (c == 5 && r >= 4 && r <= 6 ? 1 : 0));
}

TEST_CASE("a C++ return inside if_ in a point function is an error, in kernels and in stencils") {
  Array<int, 2> a(16, 16), b(16, 16);
  a = 1;
  auto s = PrepareStencilKernel2D<1, 1, 1, 1>(a, 1, 1);
  const std::string message = messageOf<KernelError>([&] {
    eval(jumpingKernel).devices(s.devices).global(s.global).local(s.local)(a, b, s.temp, s.helper);
  });
  CHECK_MESSAGE(contains(message, "the body of the if_ in line "), message);
  CHECK_MESSAGE(contains(message, "'jumping'"), message);
  Stencil returning([](Neighbourhood<int, 2> p) -> Int {
    if_(p() > 0) {
      return p(0, 1);
    }
    return p(0, -1);
  });
  CHECK(contains(messageOf<KernelError>([&] { returning(a, b); }), "the body of the if_ in line "));
  Stencil assigning([](Neighbourhood<int, 2> p, Output<int> o) {
    if_(p() > 0) {
      return;
    }
    o = p(0, -1);
  });
  CHECK(contains(messageOf<KernelError>([&] { assigning(a, b); }), "the body of the if_ in line "));
}

TEST_CASE("unscoped enumerators are offsets, boundary values and scalars of stencils") {
  Array<int, 1> a(24), b(24);
  a = 1;
  Stencil sum([](Neighbourhood<int, 1> p, Int bias) { return p(BEFORE) + p(SIDE) * SIDE + bias; });
  sum.boundary(Fixed(CENTRE));
  sum(a, b, CENTRE);
  CHECK(b(3).value() == 9);
  CHECK(b(0).value() == 15);
}

TEST_CASE("a stencil inside a kernel is an error") {
  Array<int, 1> a(24), b(24);
  a = 1;
  b = 2;
  Stencil shift([](Neighbourhood<int, 1> p) { return p(1); });
  CHECK(contains(messageOf<KernelError>([&] {
                   eval([&](Array<int, 1> x) {
                     x[idx] = 5;
                     shift(a, b);
                   })(a);
                 }),
                 "stands inside"));
  CHECK(a(3).value() == 1);
}

}  // namespace point_language_tests
