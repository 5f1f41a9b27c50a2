// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "hpl/hpl.h"

namespace calls_tests {

using namespace hpl;

namespace {

Float twice(Float x) { return x + x; }

Int collatz(Int n) {
  Int steps = 0;
  while_(n != 1) {
    if_(n % 2 == 0) {
      n /= 2;
    }
    else_ { n = 3 * n + 1; }
    steps++;
    if_(steps > 200) {
      return_(-1);
    }
  }
  return steps;
}

Int signOf(Int x) {
  if_(x < 0) {
    return_(-1);
  }
  if_(x == 0) {
    return_(0);
  }
  return_(1);
  return 0;
}

Int sumOf(AliasArray<int> p, Int n) {
  Int sum = 0;
  for_(Int i = -n, i <= n, i++) {
    sum += p[i];
  }
  return sum;
}

void scaleRow(Array<float, 2> a, Int row, Float factor) { a[row][idx] *= factor; }

Int readSum(const Array<int, 1>& a, Int n) {
  Int sum = 0;
  for_(Int i = 0, i < n, i++) {
    sum += a[i];
  }
  return sum;
}

Int ackermann(Int m, Int n) { return call(ackermann)(m - 1, n); }

void usesRecursion(Array<int, 1> out) { out[idx] = call(ackermann)(1, 2); }

Int lifeRule(AliasArray<int> p, Int stride) {
  Int neighbours = p[-stride - 1] + p[-stride] + p[-stride + 1] + p[-1] + p[1] + p[stride - 1] +
                   p[stride] + p[stride + 1];
  return neighbours == 3 || (neighbours == 2 && p[0] == 1);
}

template <class T>
void fillWith(Array<T, 1> out, Array<T, 0> value) {
  out[idx] = value;
}

struct AddConstant {
  int amount;
  void operator()(Array<int, 1> out) const { out[idx] += amount; }
};

}  // namespace

TEST_CASE("call makes functions, nested ones too, and returns values both ways") {
  Array<int, 1> out(30);
  const auto kernel = [](Array<int, 1> o) {
    Float f = call(twice)(call(twice)(cast<int>(idx)));
    o[idx] = call(collatz)(idx + 1) * 1000 + call(signOf)(cast<int>(idx) - 10) + cast<int>(f);
  };
  eval(kernel)(out);
  for (int i = 0; i < 30; ++i) {
    int steps = 0;
    for (int n = i + 1; n != 1; n = n % 2 == 0 ? n / 2 : 3 * n + 1) ++steps;
    CHECK(out(i).value() == steps * 1000 + (i < 10 ? -1 : i > 10) + 4 * i);
  }
}

TEST_CASE("functions take arrays of every memory: global, local, private, alias") {
  Array<int, 1> in(64);
  Array<int, 2> out(4, 64);
  for (int i = 0; i < 64; ++i) in(i) = i * i;
  const auto kernel = [](Array<int, 2> o, const Array<int, 1>& a) {
    Array<int, 1, Local> tile(16);
    tile[lidx] = a[idx];
    barrier(LOCAL);
    Array<int, 1> mine(3);
    for (int k = 0; k < 3; ++k) mine[k] = cast<int>(idx) + k;
    o[0][idx] = call(readSum)(a, 8);
    o[1][idx] = call(readSum)(tile, 16);
    o[2][idx] = call(readSum)(mine, 3);
    AliasArray<int> middle(tile[8]);
    o[3][idx] = call(sumOf)(middle, 2);
  };
  eval(kernel).global(64).local(16)(out, in);
  for (int i = 0; i < 64; ++i) {
    INFO("work-item " << i);
    int eight = 0, tile = 0, five = 0;
    for (int k = 0; k < 8; ++k) eight += k * k;
    const int group = i / 16 * 16;
    for (int k = 0; k < 16; ++k) tile += (group + k) * (group + k);
    for (int k = 6; k <= 10; ++k) five += (group + k) * (group + k);
    CHECK(out(0, i).value() == eight);
    CHECK(out(1, i).value() == tile);
    CHECK(out(2, i).value() == 3 * i + 3);
    CHECK(out(3, i).value() == five);
  }
}

TEST_CASE("functions that write arrays make the kernel's parameter an output") {
  Array<float, 2> a(3, 8);
  a = 2.0f;
  eval([](Array<float, 2> x) { call(scaleRow)(x, 1, 2.5f); }).global(8)(a);
  for (int i = 0; i < 8; ++i) {
    CHECK(a(0, i).value() == 2.0f);
    CHECK(a(1, i).value() == 5.0f);
    CHECK(a(2, i).value() == 2.0f);
  }
}

TEST_CASE("recursion is refused") {
  Array<int, 1> out(4);
  std::string message;
  try {
    eval(usesRecursion)(out);
  } catch (const KernelError& error) {
    message = error.what();
  }
  INFO(message);
  CHECK(message.find("recurs") != std::string::npos);
}

TEST_CASE("a failed capture leaves no trace: the next kernel works") {
  Array<int, 1> out(4);
  CHECK_THROWS_AS(eval(usesRecursion)(out), KernelError);
  eval([](Array<int, 1> o) { o[idx] = 3; })(out);
  CHECK(out(2).value() == 3);
}

TEST_CASE("a function called directly is inlined, with C++ return") {
  Array<int, 2> board(6, 6), next(6, 6);
  board = 0;
  next = 0;
  board(2, 1) = board(2, 2) = board(2, 3) = 1;
  eval([](Array<int, 2> out, const Array<int, 2>& in) {
    Int y = idy + 1, x = idx + 1;
    AliasArray<int> p(in[y][x]);
    out[y][x] = lifeRule(p, 6);
  }).global(4, 4)(next, board);
  for (int y = 0; y < 6; ++y)
    for (int x = 0; x < 6; ++x) CHECK(next(y, x).value() == (x == 2 && y >= 1 && y <= 3));
}

TEST_CASE("an alias can be moved and takes negative indices") {
  Array<int, 1> in(10), out(10);
  for (int i = 0; i < 10; ++i) in(i) = 10 * i;
  eval([](Array<int, 1> o, const Array<int, 1>& a) {
    AliasArray<int> p(a[5]);
    Int first = p[-5] + p[-1] + p[4];
    p = a[3];
    Int second = p[-2];
    for_(Int i = 0, i < 2, i++) {
      p = p[1];
    }
    o[idx] = first * 1000 + second * 10 + p[0];
  })(out, in);
  CHECK(out(7).value() == (0 + 40 + 90) * 1000 + 10 * 10 + 50);
}

TEST_CASE("writes through an alias reach the array") {
  Array<int, 2> a(4, 8);
  a = 1;
  eval([](Array<int, 2> x) {
    AliasArray<int> row(x[idx][0]);
    row[2] = 50;
    row[3] += row[2];
  }).global(4)(a);
  for (int i = 0; i < 4; ++i) {
    CHECK(a(i, 2).value() == 50);
    CHECK(a(i, 3).value() == 51);
    CHECK(a(i, 4).value() == 1);
  }
}

TEST_CASE("templates, functors with state, std::function and lambdas are kernels") {
  Array<int, 1> ints(5);
  Array<double, 1> doubles(5);
  eval(fillWith<int>)(ints, 3);
  eval(fillWith<double>)(doubles, 2.5);
  CHECK(ints(4).value() == 3);
  CHECK(doubles(4).value() == 2.5);
  eval(AddConstant{10})(ints);
  eval(AddConstant{100})(ints);
  eval(AddConstant{10})(ints);
  CHECK(ints(0).value() == 123);
  const std::function<void(Array<int, 1>)> plain = AddConstant{1000};
  eval(plain)(ints);
  CHECK(ints(1).value() == 1123);
  const std::function<void(Array<int, 1>, Int)> wrapped = fillWith<int>;
  eval(wrapped)(ints, 8);
  CHECK(ints(1).value() == 8);
  const int captured = 5;
  eval([captured](Array<int, 1> o) { o[idx] = captured; })(ints);
  CHECK(ints(2).value() == 5);
}

namespace {
int hostValue = 1;
void readsHostValue(Array<int, 1> out) { out[idx] = hostValue; }
}  // namespace

// Qualified where they are used: hpl::step is a built-in function.
namespace program {
static void step(Array<int, 1> out) { out[idx] = 42; }
static void kernel(Array<int, 1> out) { out[idx] = 43; }
}  // namespace program

TEST_CASE("host values are constants of the capture; reeval reads them again") {
  Array<int, 1> out(3);
  hostValue = 1;
  reeval(readsHostValue)(out);
  CHECK(out(0).value() == 1);
  hostValue = 2;
  eval(readsHostValue)(out);
  CHECK(out(0).value() == 1);
  reeval(readsHostValue)(out);
  CHECK(out(0).value() == 2);
}

TEST_CASE("kernels may have names that OpenCL C uses") {
  Array<int, 1> out(3);
  eval(program::step)(out);
  CHECK(out(1).value() == 42);
  eval(program::kernel)(out);
  CHECK(out(1).value() == 43);
}

}  // namespace calls_tests
