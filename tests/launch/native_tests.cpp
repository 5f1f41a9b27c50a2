// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "hpl/hpl.h"
#include "tests/messages.h"

namespace native_tests {

using namespace hpl;

namespace {

using hpl_tests::contains;
using hpl_tests::messageOf;

const char* const kScale =
    TOSTRING(kernel void scale(global float* y, global const float* x, float a, int n) {
      size_t i = get_global_id(0);
      if (i < n) y[i] = a * x[i];
    });

void scale(Out<Array<float, 1>>, In<Array<float, 1>>, Float, Int) {}
void scaleFromFile(Out<Array<float, 1>>, In<Array<float, 1>>, Float, Int) {}
void broken(InOut<Array<float, 1>>) {}
void transpose(InOut<Array<int, 2>>, Int) {}
void reverseGroup(InOut<Array<int, 1>>, Array<int, 1, Local>) {}
void unnamed(InOut<Array<int, 1>>) {}

}  // namespace

TEST_CASE("native kernels come from a string or a file and keep arrays coherent") {
  Array<float, 1> x(10), y(10);
  for (int i = 0; i < 10; ++i) x(i) = static_cast<float>(i);
  nativeHandle(scale, "scale", kScale);
  eval(scale)(y, x, 2.0f, 10);
  CHECK(y(9).value() == 18.0f);
  x = y;
  eval(scale).global(16)(y, x, 0.5, 10);
  CHECK(y(9).value() == 9.0f);

  const std::string file =
      (std::filesystem::temp_directory_path() / ("hpl_native_" + std::to_string(getpid()) + ".cl"))
          .string();
  std::ofstream(file) << kScale;
  nativeHandle(scaleFromFile, "scale", file);
  eval(scaleFromFile)(y, x, 3, 10);
  CHECK(y(1).value() == 6.0f);
  std::remove(file.c_str());
}

TEST_CASE("native kernels get views dense, and what they write goes back") {
  Array<int, 2> a(6, 8);
  for (int r = 0; r < 6; ++r)
    for (int c = 0; c < 8; ++c) a(r, c) = 10 * r + c;
  nativeHandle(transpose, "transpose", R"(
kernel void transpose(global int* a, int n) {
  size_t x = get_global_id(0), y = get_global_id(1);
  if (x < y) { int t = a[y * n + x]; a[y * n + x] = a[x * n + y]; a[x * n + y] = t; }
})");
  eval(transpose)(a(Range(1, 4), Range(2, 5)), 4);
  for (int r = 0; r < 6; ++r)
    for (int c = 0; c < 8; ++c) {
      const bool inside = r >= 1 && r <= 4 && c >= 2 && c <= 5;
      CHECK(a(r, c).value() == (inside ? 10 * (c - 2 + 1) + (r - 1 + 2) : 10 * r + c));
    }
}

TEST_CASE("native kernels use local memory") {
  Array<int, 1> a(32);
  for (int i = 0; i < 32; ++i) a(i) = i;
  nativeHandle(reverseGroup, "reverse", R"(
kernel void reverse(global int* a, local int* tile) {
  size_t l = get_local_id(0);
  tile[l] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  a[get_global_id(0)] = tile[get_local_size(0) - 1 - l];
})");
  eval(reverseGroup).local(8)(a, Array<int, 1, Local>(8));
  CHECK(a(0).value() == 7);
  CHECK(a(31).value() == 24);
}

TEST_CASE("a kernel that does not build shows its numbered source and harms no other") {
  Array<float, 1> x(4), y(4);
  x = 1.0f;
  nativeHandle(broken, "broken", "kernel void broken(global float* x) {\n  x[0] = nonsense;\n}\n");
  const std::string message = messageOf<BuildError>([&] { eval(broken)(x); });
  INFO(message);
  CHECK(contains(message, "broken"));
  CHECK(contains(message, "nonsense"));
  CHECK(contains(message, " 2 |"));
  CHECK(x(0).value() == 1.0f);
  nativeHandle(scale, "scale", kScale);
  eval(scale)(y, x, 4.0f, 4);
  CHECK(y(3).value() == 4.0f);
  nativeHandle(broken, "broken", "kernel void broken(global float* x) { x[0] = 5; }");
  eval(broken)(x);
  CHECK(x(0).value() == 5.0f);
}

TEST_CASE("sources that do not exist and names that the source lacks are refused") {
  const std::string missing =
      messageOf<KernelError>([] { nativeHandle(unnamed, "f", "/nonexistent/kernel.cl"); });
  INFO(missing);
  CHECK(contains(missing, "/nonexistent/kernel.cl"));
  const std::string wrong = messageOf<Error>([] {
    nativeHandle(unnamed, "other", "kernel void f(global int* a) { a[0] = 1; }");
    Array<int, 1> a(1);
    eval(unnamed)(a);
  });
  INFO(wrong);
  CHECK(contains(wrong, "other"));
}

TEST_CASE("arguments of native kernels are checked, and the interpreter refuses them") {
  nativeHandle(scale, "scale", kScale);
  Array<float, 1> x(4);
  Array<int, 1> ints(4);
  x = 1.0f;
  CHECK_THROWS_AS(eval(scale)(x, x, 1.0f), ArgumentError);
  CHECK_THROWS_AS(eval(scale)(x, ints, 1.0f, 4), ArgumentError);
  const std::string message = messageOf<KernelError>([&] { eval(scale).interpret(x, x, 1.0f, 4); });
  CHECK(contains(message, "OpenCL C"));
}

}  // namespace native_tests
