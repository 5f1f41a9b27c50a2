// SPDX-License-Identifier: Apache-2.0
// Structs of the host in kernels: layouts read from their text, values as constants, errors.
#include <doctest/doctest.h>

#include <cstddef>
#include <string>

#include "hpl/hpl.h"
#include "tests/messages.h"

using namespace hpl;

HPL_DEFINE_STRUCT(StructTestEvery, {
  bool b;
  char c;
  signed char sc;
  unsigned char uc;
  short s;
  unsigned short us;
  int i, j;
  unsigned u;
  unsigned int ui;
  long l;
  unsigned long ul;
  float f;
  double d;
  hpl::float4 v;
  hpl::short2 w;
});
HPL_STRUCT(StructTestInner, (std::complex<float>, z), (half, h));
HPL_STRUCT(StructTestOuter, (StructTestInner, inner), (int, n));

namespace struct_tests {

namespace {

using hpl_tests::messageOf;

std::string registeredFrom(const char* name, std::size_t size, const char* text) {
  return messageOf<KernelError>([&] { detail::registerStructText(name, size, 4, text); });
}

}  // namespace

TEST_CASE("the layout that is read from a struct's text is the compiler's, field by field") {
  using S = StructTestEvery;
  struct Expected {
    const char* name;
    std::size_t offset;
    ir::Type type;
  };
  const Expected expected[] = {
      {"b", offsetof(S, b), irType<bool>()},
      {"c", offsetof(S, c), irType<signed char>()},
      {"sc", offsetof(S, sc), irType<signed char>()},
      {"uc", offsetof(S, uc), irType<unsigned char>()},
      {"s", offsetof(S, s), irType<short>()},
      {"us", offsetof(S, us), irType<unsigned short>()},
      {"i", offsetof(S, i), irType<int>()},
      {"j", offsetof(S, j), irType<int>()},
      {"u", offsetof(S, u), irType<unsigned>()},
      {"ui", offsetof(S, ui), irType<unsigned>()},
      {"l", offsetof(S, l), irType<long>()},
      {"ul", offsetof(S, ul), irType<unsigned long>()},
      {"f", offsetof(S, f), irType<float>()},
      {"d", offsetof(S, d), irType<double>()},
      {"v", offsetof(S, v), irType<float4>()},
      {"w", offsetof(S, w), irType<short2>()},
  };
  const ir::StructType& type = StructTraits<S>::type();
  REQUIRE(type.fields.size() == std::size(expected));
  for (std::size_t k = 0; k < std::size(expected); ++k) {
    INFO(expected[k].name);
    CHECK(type.fields[k].name == expected[k].name);
    CHECK(type.fields[k].offset == expected[k].offset);
    CHECK((type.fields[k].type == expected[k].type));
  }
}

TEST_CASE("a struct of the host is a constant of the kernel in every field") {
  StructTestEvery value{};
  value.b = true;
  value.c = -3;
  value.sc = -128;
  value.uc = 255;
  value.s = -30000;
  value.us = 65535;
  value.i = -2000000000;
  value.j = 7;
  value.u = 4000000000u;
  value.ui = 1;
  value.l = -9000000000000000000;
  value.ul = 18000000000000000000u;
  value.f = -0.1f;
  value.d = 1e300;
  value.v = float4(1, 2, 3, 4);
  value.w = short2(-1, 1);
  Array<StructTestEvery, 1> out(2);
  eval([value](Array<StructTestEvery, 1> o) { o[idx] = value; })(out);
  for (int k = 0; k < 2; ++k) {
    const StructTestEvery got = out(k).value();
    CHECK(got.b == value.b);
    CHECK(got.c == value.c);
    CHECK(got.sc == value.sc);
    CHECK(got.uc == value.uc);
    CHECK(got.s == value.s);
    CHECK(got.us == value.us);
    CHECK(got.i == value.i);
    CHECK(got.j == value.j);
    CHECK(got.u == value.u);
    CHECK(got.ui == value.ui);
    CHECK(got.l == value.l);
    CHECK(got.ul == value.ul);
    CHECK(got.f == value.f);
    CHECK(got.d == value.d);
    CHECK(got.v == value.v);
    CHECK(got.w == value.w);
  }
}

TEST_CASE("structs in structs, complex numbers and halves are constants, too") {
  const StructTestOuter value{{{1.5f, -2.5f}, half(0.25f)}, 9};
  Array<float, 1> out(4);
  eval([value](Array<float, 1> o) {
    Array<StructTestOuter, 0> s = value;
    o[0] = real(s.inner.z);
    o[1] = imag(s.inner.z);
    o[2] = cast<float>(s.inner.h);
    o[3] = cast<float>(s.n);
  }).global(1)(out);
  CHECK(out(0).value() == 1.5f);
  CHECK(out(1).value() == -2.5f);
  CHECK(out(2).value() == 0.25f);
  CHECK(out(3).value() == 9.0f);
}

TEST_CASE("texts of structs that cannot be read are refused with the reason") {
  CHECK(registeredFrom("StructTestA", 4, "{std::string name;}") ==
        "HPL_DEFINE_STRUCT(StructTestA): field type 'string' is not known; use scalars and vectors "
        "of OpenCL, or HPL_STRUCT");
  CHECK(registeredFrom("StructTestB", 4, "{int i = 3;}") ==
        "HPL_DEFINE_STRUCT(StructTestB): cannot read '=' after field 'i'; fields are scalars or "
        "vectors without initialisers");
  CHECK(registeredFrom("StructTestC", 12, "{int i; float f;}") ==
        "HPL_DEFINE_STRUCT(StructTestC): the layout read from its text is not the compiler's; use "
        "HPL_STRUCT");
  CHECK(registeredFrom("StructTestD", 8, "{int i; float f;}") == "nothing was thrown");
  CHECK(registeredFrom("StructTestD", 8, "{int i; float f;}") == "nothing was thrown");
  for (const char* other : {"{int i; int f;}", "{int i; float g;}", "{double d;}"}) {
    CHECK(registeredFrom("StructTestD", 8, other) ==
          "two different structs are registered under the name 'StructTestD'; rename one of them");
  }
}

TEST_CASE("fields that are not there, and wrong numbers of values, are refused") {
  const ir::StructType& type = StructTraits<StructTestOuter>::type();
  CHECK(detail::fieldAt(type, offsetof(StructTestOuter, n)) == 1);
  CHECK(messageOf<KernelError>([&] { detail::fieldAt(type, 1); }) ==
        "struct 'StructTestOuter' has no registered field at this position");
  Array<StructTestInner, 1> out(1);
  const std::string message = messageOf<KernelError>([&] {
    eval([](Array<StructTestInner, 1> o) { o[idx] = make<StructTestInner>(o[idx].h); })(out);
  });
  CHECK(message.find("make<StructTestInner> needs 2 values, one per field, and got 1") !=
        std::string::npos);
}

}  // namespace struct_tests
