// SPDX-License-Identifier: Apache-2.0
// call(f) of functions that nativeHandle() gave OpenCL C to (stencil paper, Section 3.3).
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "hpl/codegen/detail/native_names.h"
#include "hpl/hpl.h"
#include "tests/messages.h"

namespace native_call_tests {

using namespace hpl;

namespace {

using hpl_tests::contains;
using hpl_tests::messageOf;

// C++ bodies that must never be recorded.
Float blend(Float, Float) { return -1000.0f; }
Float rowSum(In<Array<float, 2>>, Int, Int) { return -1000.0f; }
void writeRow(Out<Array<float, 2>>, const Array<float, 2>&, Int, Int) {}
void bump(InOut<Array<int, 1>>, Int) {}
Float4 twist(Float4) { return Float4(float4(0.0f)); }
void tileFill(Array<float, 1, Local>, Int, Float) {}
void unhandled(In<Array<float, 1>>, Float) {}
void scaleAll(InOut<Array<float, 1>>, Float) {}
Float changing(Float) { return -1000.0f; }
Float withOptions(Float) { return -1000.0f; }
Float brokenInC(Float) { return -1000.0f; }
Float helperA(Float) { return -1000.0f; }
Float helperB(Float) { return -1000.0f; }

void useBlend(Array<float, 1> out, const Array<float, 1>& in) {
  out[idx] = call(blend)(in[idx], 2.0f) + 1.0f;
}

Float blendTwice(Float v) { return call(blend)(call(blend)(v, 2.0f), 4.0f); }

void sums(Array<float, 1> out, const Array<float, 2>& in, Int cols) {
  out[idx] = call(rowSum)(in, cast<int>(idx), cols);
}

void copyRows(Array<float, 2> out, const Array<float, 2>& in, Int cols) {
  if_(idx == 0) {
    call(writeRow)(out, in, cast<int>(idy), cols);
  }
}

const char* const kRows = R"(
  float rowSum(global const float* a, int row, int cols) {
    float sum = 0;
    for (int c = 0; c < cols; ++c) sum += a[row * cols + c];
    return sum;
  }
  kernel void writeRow(global float* to, global const float* from, int row, int cols) {
    for (int c = 0; c < cols; ++c) to[row * cols + c] = 10 * from[row * cols + c];
  })";

void registerAll() {
  nativeHandle(blend, "blend_c", "float blend_c(float a, float b) { return a + 0.25f * b; }");
  nativeHandle(rowSum, "rowSum", kRows);
  nativeHandle(writeRow, "writeRow", kRows);
}

}  // namespace

TEST_CASE("call(f) calls the OpenCL C of f, in kernels, in functions and in inlined functions") {
  registerAll();
  Array<float, 1> in(20), out(20);
  for (int i = 0; i < 20; ++i) in(i) = static_cast<float>(i);
  eval(useBlend)(out, in);
  for (int i = 0; i < 20; ++i) REQUIRE(out(i).value() == static_cast<float>(i) + 1.5f);
  eval([](Array<float, 1> o, const Array<float, 1>& x) { o[idx] = blendTwice(x[idx]); })(out, in);
  CHECK(out(3).value() == 4.5f);
  eval([](Array<float, 1> o, const Array<float, 1>& x) { o[idx] = call(blendTwice)(x[idx]); })(out,
                                                                                               in);
  CHECK(out(3).value() == 4.5f);
  nativeHandle(twist, "twist", "float4 twist(float4 v) { return v.wzyx; }");
  eval([](Array<float, 1> o) {
    Float4 v = call(twist)(make<float4>(1.0f, 2.0f, 3.0f, cast<float>(idx)));
    o[idx] = v.x;
  })(out);
  CHECK(out(9).value() == 9.0f);
}

TEST_CASE("In, Out and InOut arrays reach the code dense and row-major, views and parts too") {
  registerAll();
  constexpr int kRowCount = 6, kCols = 10;
  Array<float, 2> whole(kRowCount, kCols), target(kRowCount, kCols);
  for (int r = 0; r < kRowCount; ++r)
    for (int c = 0; c < kCols; ++c) whole(r, c) = static_cast<float>(100 * r + c);
  Array<float, 1> out(kRowCount);
  eval(sums)(out, whole, kCols);
  CHECK(out(2).value() == 2045.0f);

  // A view with gaps, as input and as output.
  Array<float, 2>& middle = whole(Range(1, 4), Range(3, 6));
  Array<float, 1> four(4);
  eval(sums)(four, middle, 4);
  for (int r = 0; r < 4; ++r)
    REQUIRE(four(r).value() == static_cast<float>(4 * 100 * (r + 1) + 3 + 4 + 5 + 6));
  target = -1.0f;
  Array<float, 2>& hole = target(Range(0, 3), Range(5, 8));
  for (int repeat = 0; repeat < 3; ++repeat) {
    whole(1, 3) = static_cast<float>(repeat);
    eval(copyRows)(hole, middle, 4);
    for (int r = 0; r < kRowCount; ++r)
      for (int c = 0; c < kCols; ++c) {
        const bool inside = r < 4 && c >= 5 && c < 9;
        const float expected = !inside ? -1.0f
                               : r == 0 && c == 5
                                   ? 10.0f * static_cast<float>(repeat)
                                   : static_cast<float>(10 * (100 * (r + 1) + c - 2));
        REQUIRE(target(r, c).value() == expected);
      }
  }
}

TEST_CASE("kernels that call OpenCL C go to several devices where annotations say how") {
  registerAll();
  Array<float, 2> a(12, 9);
  Array<float, 1> out(12);
  for (int r = 0; r < 12; ++r)
    for (int c = 0; c < 9; ++c) a(r, c) = static_cast<float>(10 * r + c);
  const int n = std::min(getDeviceNumber(ANY), 3);
  eval(sums).devices(n)(PART1(out), PART1(a), 9);
  for (int r = 0; r < 12; ++r) REQUIRE(out(r).value() == static_cast<float>(90 * r + 36));
  // Columns: each device's part is a view with gaps.
  Array<float, 2> copy(12, 9);
  copy = 0.0f;
  eval(copyRows).devices(n)(PART2(copy), PART2(a), a.part(2));
  for (int r = 0; r < 12; ++r)
    for (int c = 0; c < 9; ++c)
      REQUIRE(copy(r, c).value() == static_cast<float>(10 * (10 * r + c)));
  if (n > 1)
    CHECK(contains(messageOf<LaunchError>([&] { eval(copyRows).devices(n)(copy, a, 9); }),
                   "copyRows"));
}

TEST_CASE("a function that returns nothing is launched by eval and called by call") {
  nativeHandle(bump, "bump", "kernel void bump(global int* a, int i) { a[i] += 1; }");
  Array<int, 1> a(8);
  a = 0;
  eval(bump).global(1)(a, 3);
  eval([](Array<int, 1> x) { call(bump)(x, cast<int>(idx)); })(a);
  for (int i = 0; i < 8; ++i) CHECK(a(i).value() == (i == 3 ? 2 : 1));
}

TEST_CASE("local arrays stay local, and arrays of another memory are refused") {
  nativeHandle(tileFill, "tileFill",
               "void tileFill(local float* tile, int i, float v) { tile[i] = 2 * v; }");
  Array<float, 1> a(16);
  a = 3.0f;
  eval([](Array<float, 1> x) {
    Array<float, 1, Local> tile(16);
    call(tileFill)(tile, cast<int>(lidx), x[idx]);
    barrier(LOCAL);
    x[idx] = tile[15 - lidx];
  }).local(16)(a);
  CHECK(a(2).value() == 6.0f);
  CHECK(messageOf<KernelError>(
            [&] { eval([](Array<float, 1> x) { call(tileFill)(x, 1, 2.0f); })(a); }) ==
        "argument 1 of native function 'tileFill' must be an array in local memory, as its C++ "
        "parameter says");
}

TEST_CASE("what cannot be called says so") {
  Array<float, 1> a(4);
  a = 1.0f;
  CHECK(contains(
      messageOf<KernelError>([&] { eval([](Array<float, 1> x) { call(unhandled)(x, 1.0f); })(a); }),
      "nativeHandle(f, name, source) was not called for it"));
  nativeHandle(scaleAll, "scale_all", R"(
    kernel void scale_all(global float* a, float f) { a[get_global_id(0)] *= f; })");
  eval(scaleAll)(a, 3.0f);
  CHECK(a(1).value() == 3.0f);
  CHECK(contains(
      messageOf<KernelError>([&] { eval([](Array<float, 1> x) { call(scaleAll)(x, 2.0f); })(a); }),
      "native function 'scale_all' mentions get_global_id"));
  nativeHandle(brokenInC, "broken", "float broken(float x) { return undefinedName; }");
  CHECK(contains(messageOf<BuildError>(
                     [&] { eval([](Array<float, 1> x) { x[idx] = call(brokenInC)(x[idx]); })(a); }),
                 "undefinedName"));
  registerAll();
  CHECK(contains(messageOf<KernelError>([&] {
                   eval([](Array<float, 1> x) {
                     nativeHandle(blend, "b", "float b(float a, float c) { return a; }");
                     x[idx] = 1.0f;
                   })(a);
                 }),
                 "nativeHandle(f, name, source) stands inside"));
  CHECK(contains(messageOf<KernelError>([&] { eval(useBlend).interpret(a, a); }),
                 "is OpenCL C and cannot be interpreted"));
  // Arrays that the kernel may only read cannot be written by OpenCL C.
  CHECK(contains(messageOf<KernelError>([&] {
                   eval([](Array<float, 2> o, const Array<float, 2>& x) {
                     call(writeRow)(x, o, 1, 2);
                   })(Array<float, 2>(2, 2), Array<float, 2>(2, 2));
                 }),
                 "is read-only"));
}

TEST_CASE("another nativeHandle replaces the code in kernels that were recorded before") {
  Array<float, 1> a(4);
  const auto kernel = [](Array<float, 1> x) { x[idx] = call(changing)(2.0f); };
  eval(kernel)(a);
  CHECK(a(0).value() == -1000.0f);  // C++ as long as nothing else was said
  nativeHandle(changing, "changing", "float changing(float x) { return x + 1; }");
  eval(kernel)(a);
  CHECK(a(0).value() == 3.0f);
  nativeHandle(changing, "changing", "float changing(float x) { return x + 5; }");
  eval(kernel)(a);
  CHECK(a(0).value() == 7.0f);
}

TEST_CASE("macros that build options define are known to the code that is called") {
  nativeHandle(withOptions, "with_options", "float with_options(float x) { return x * FACTOR; }",
               "-D FACTOR=8");
  Array<float, 1> a(4);
  eval([](Array<float, 1> x) { x[idx] = call(withOptions)(2.0f); })(a);
  CHECK(a(0).value() == 16.0f);
  // Others would change more than the function.
  CHECK(contains(messageOf<KernelError>([] {
                   nativeHandle(withOptions, "with_options",
                                "float with_options(float x) { return x; }", "-D A -cl-mad-enable");
                 }),
                 "native function 'with_options' has the build option -cl-mad-enable"));
}

TEST_CASE("names that native sources and kernels share do not clash") {
  nativeHandle(helperA, "outer", R"(
    #define STEP 1
    float inner(float x) { return x + STEP; }
    float outer(float x) { return inner(x); })");
  nativeHandle(helperB, "outer", R"(
    #define STEP 2  // another one
    static float inner(float x) { return x * STEP; }
    kernel __attribute__((reqd_work_group_size(1, 1, 1))) void unused(global float* a) { a[0] = inner(1); }
    float outer(float x) { return 100 + inner(x); })");
  struct Kernels {
    static Float inner(Float v) { return v + 1000.0f; }
    static void outer(Array<float, 1> a) {
      Float STEP = call(inner)(call(helperA)(2.0f));
      STEP.label("STEP");
      a[idx] = STEP + call(helperB)(3.0f);
    }
  };
  Array<float, 1> a(4);
  eval(Kernels::outer)(a);
  CHECK(a(1).value() == 1003.0f + 106.0f);
}

TEST_CASE("the names that a source defines are found by its shape") {
  const auto names = codegen::detail::namesIn(R"(
    // float commented(int x) { return 1; }
    #define MACRO(x) x + \
      more(x) { }
    #define GONE
    #undef GONE
    constant float kTable[2] = { sqrt(2.0f), 3.0f };
    constant float kRoot = sqrt(2.0f);
    typedef struct { int a; } Pair;
    float declared(float);
    inline __attribute__((always_inline)) float first(float a, Pair (*p)) /* ( */ {
      if (a > 0) { return second(a); }
      return '"' + '\'' + '{';
    }
    kernel __attribute__((reqd_work_group_size(8, 1, 1))) void third(global int* a) { a[0] = first(1); })");
  CHECK(names.functions == std::vector<std::string>{"first", "third"});
  CHECK(names.macros == std::vector<std::string>{"MACRO"});
}

}  // namespace native_call_tests
