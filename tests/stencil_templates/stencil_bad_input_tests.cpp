// SPDX-License-Identifier: Apache-2.0
// What stencils refuse, and what they say about it.
#include <doctest/doctest.h>

#include <limits>

#include "stencil_support.h"

namespace stencil_bad_input_tests {

using namespace hpl;
using namespace stencil_tests;

namespace {

using Plate = Array<float, 2>;

Stencil blurOf() {
  Stencil blur([](Neighbourhood<float, 2> p, Float weight) {
    return weight * (p(0, -1) + p(0, 2)) + p(1, 0);
  });
  blur.label("blur");
  return blur;
}

}  // namespace

TEST_CASE("stencils: wrong arguments are told in the words of the stencil") {
  Stencil blur = blurOf();
  Plate a(8, 9), b(8, 9), wrong(8, 8);
  Array<int, 2> ints(8, 9);
  Array<float, 1> line(9);
  a = 0.0f;
  a.label("image");
  const auto refusal = [&](auto&&... arguments) {
    return messageOf<ArgumentError>([&] { blur(arguments...); });
  };
  expectMessage(refusal(a, b), {"stencil 'blur' takes 1 input, 1 output and 1 parameter",
                                "called with 2 arguments"});
  expectMessage(refusal(ints, b, 1.0f),
                {"input 1 must be a 2-dimensional array of float", "2-dimensional array of int"});
  expectMessage(refusal(a, line, 1.0f), {"output 1 must be a 2-dimensional array",
                                         "but is a 1-dimensional array of float"});
  expectMessage(refusal(a, 2.0f, 1.0f), {"output 1 must be", "a scalar of type float"});
  expectMessage(refusal(a, b, a), {"parameter 1 must be a scalar of type float", "array of float"});
  Array<float4, 2> vectors(8, 9);
  CHECK(messageOf<ArgumentError>([&] {
          Stencil([](Neighbourhood<float4, 2> p) { return p(0, 0); }).label("mix")(vectors, b);
        }) ==
        "stencil 'mix': the point function returns a value of type float4, which does not convert "
        "to float, the type of the elements of output 1");
  expectMessage(refusal(PART1(a, 1), b, 1.0f), {"input 1 ('image') is annotated", ".devices("});
  expectMessage(refusal(a, a, 1.0f),
                {"output 1 ('image') and input 1 ('image') are the same cells", "iterate(n)"});
  expectMessage(refusal(a(Range(0, 4), Range(0, 4)), a(Range(3, 7), Range(3, 7)), 1.0f),
                {"are the same cells"});
  CHECK_NOTHROW(blur(a(Range(0, 3), Range(0, 4)), a(Range(4, 7), Range(0, 4)), 1.0f));
  expectMessage(messageOf<ShapeError>([&] { blur(a, wrong, 1.0f); }),
                {"output 1 has the shape (8, 8), but input 1 ('image') has (8, 9)"});
  expectMessage(messageOf<ShapeError>(
                    [&] { blur(a(Range(0, 7), Range(0, 0)), b(Range(0, 7), Range(0, 0)), 1.0f); }),
                {"input 1 ('image') is read 2 cells beyond face RIGHT, but has only 1"});
}

TEST_CASE("stencils: boundaries must fit the stencil") {
  Stencil blur = blurOf();
  Plate a(8, 9), b(8, 9);
  a = 0.0f;
  const auto launch = [&] { blur(a, b, 1.0f); };
  expectMessage(messageOf<ArgumentError>([&] { blur.boundary(Face::BACK, Nearest()); }),
                {"a domain of 2 dimensions has no face BACK"});
  expectMessage(messageOf<ArgumentError>([&] { blur.boundary(2, Nearest()); }),
                {"there is no input 2", "has 1, counted from 1"});
  expectMessage(messageOf<ArgumentError>([&] { blur.boundary(0, Face::UP, Nearest()); }),
                {"there is no input 0"});
  expectMessage(
      messageOf<ArgumentError>([&] { blur.boundary(Computed([](Int x) { return 2 * x; })); }),
      {"one Int for each dimension of the domain, here 2"});
  blur.boundary(Face::LEFT, Nearest());
  expectMessage(messageOf<ArgumentError>(launch), {"input 1 is read 1 cell beyond face DOWN",
                                                   "no boundary is stated", "Untouched()"});
  blur.boundary(Face::DOWN, Untouched()).boundary(Face::RIGHT, Nearest());
  CHECK_NOTHROW(launch());
  blur.boundary(Face::LEFT, Periodic());
  expectMessage(messageOf<ArgumentError>(launch),
                {"input 1 is periodic at face LEFT but not at RIGHT"});
  blur.boundary(Nearest()).boundary(Face::LEFT, Fixed(float4{1, 2, 3, 4}));
  expectMessage(messageOf<ArgumentError>(launch),
                {"face LEFT is of type float4, which does not convert to float"});
  Stencil unsignedSum([](Neighbourhood<unsigned, 1> v) { return v(-1); });
  unsignedSum.boundary(MirrorOdd());
  Array<unsigned, 1> x(4), y(4);
  x = 1u;
  expectMessage(messageOf<ArgumentError>([&] { unsignedSum(x, y); }),
                {"changes signs (MirrorOdd)", "type uint"});
}

TEST_CASE("stencils: point functions that are none are refused with the access") {
  Array<int, 1> x(9), y(9), z(9);
  x = 1;
  const auto refusal = [&](auto function) {
    return messageOf<KernelError>([&] { Stencil{function}.label("strange")(x, y, 2); });
  };
  const std::string here = "stencil_bad_input_tests.cpp:";
  expectMessage(refusal([](Neighbourhood<int, 1> v, Int d) { return v(d); }),
                {"stencil 'strange': the point function reads input 1 at an offset of dimension 1 "
                 "whose values are not known",
                 here});
  expectMessage(refusal([](Neighbourhood<int, 1> v, Int) { return v(v(0)); }), {"not known", here});
  expectMessage(refusal([](Neighbourhood<int, 1> v, Int n) {
                  Int sum = 0;
                  for_(Int d = 0, d < n, d++) {
                    sum += v(d);
                  }
                  return sum;
                }),
                {"loops with constant bounds", here});
  expectMessage(refusal([](Neighbourhood<int, 1>, Output<int>, Int) {}),
                {"never assigns output 1"});
  expectMessage(
      refusal([](Neighbourhood<int, 1> v, Output<int> o, Int) { o += v(0); }),
      {"stencil 'strange': the point function reads output 1 before it assigns it", here});
  expectMessage(refusal([](Neighbourhood<int, 1> v, Int) {
                  barrier(LOCAL);
                  return v(0);
                }),
                {"barrier"});
  expectMessage(messageOf<ArgumentError>([&] {
                  Stencil([](Neighbourhood<int, 1> v, Output<int> o, Output<int> p) {
                    o = v(0);
                    p = v(0);
                  })(x, y, y);
                }),
                {"output 2 and output 1 are the same cells"});
}

TEST_CASE("stencils: a point function may not change how far it reads") {
  static int far;
  far = 1;
  Stencil change([](Neighbourhood<int, 1> v) { return v(far); });
  CHECK(change.reach(Face::RIGHT) == 1);
  far = 2;
  Array<int, 1> x(9), y(9);
  x = 1;
  expectMessage(messageOf<KernelError>([&] { change(x, y); }),
                {"reads input 1 2 cells beyond face RIGHT, but 1 when it was first asked"});
}

TEST_CASE("stencils: iterations refuse what they cannot exchange") {
  Stencil blur = blurOf();
  Plate a(8, 9), b(8, 9);
  a = 0.0f;
  const auto refusal = [](auto f) { return messageOf<ArgumentError>(f); };
  expectMessage(refusal([&] { blur.iterate(-1)(a, b, 1.0f); }), {"iterate(-1)", "negative"});
  expectMessage(refusal([&] { blur.until(0.0, 5); }), {"until(0, 5)", "must be positive"});
  expectMessage(refusal([&] { blur.until(std::numeric_limits<double>::quiet_NaN(), 5); }),
                {"must be positive"});
  expectMessage(refusal([&] { blur.until(1.0, 0); }), {"steps between two looks"});
  const Plate& constant = a;
  expectMessage(refusal([&] { blur.iterate(2)(constant, b, 1.0f); }), {"neither may be const"});
  expectMessage(refusal([&] { blur(b, constant, 1.0f); }),
                {"output 1", "is const, but the stencil writes to it"});
  Array<int, 2> ints(8, 9);
  expectMessage(refusal([&] { blur.iterate(2)(a, ints, 1.0f); }),
                {"same type, but these are arrays of float and int"});
  Stencil spread([](Neighbourhood<float, 2> p, Output<float> o, Output<float> q) {
    o = p(0, 0);
    q = p(0, 1);
  });
  Plate c(8, 9);
  expectMessage(refusal([&] { spread.iterate(2)(a, b, c); }), {"1 inputs and 2 outputs"});
  expectMessage(
      refusal([&] {
        blur.until(1.0, 2, [](Int now, Int before) { return now - before; }).iterate(4)(a, b, 1.0f);
      }),
      {"takes values of type int, but output 1 has elements of type float"});
  expectMessage(messageOf<LaunchError>([&] { blur.devices(std::vector<Device>{})(a, b, 1.0f); }),
                {"list of devices is empty"});
  expectMessage(messageOf<DeviceError>([&] { blur.devices(1000); }), {"HPL_DEVICES"});
}

}  // namespace stencil_bad_input_tests
