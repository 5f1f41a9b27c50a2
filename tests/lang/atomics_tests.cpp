// SPDX-License-Identifier: Apache-2.0
// Atomics on floating numbers and on 64 bits; those of OpenCL 1.2 are in local_memory_tests.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "hpl/hpl.h"

namespace atomics_tests {

using namespace hpl;

namespace {

constexpr int kItems = 1000;

bool haveDoubles() { return defaultDevice().getProperties().hasDouble; }
bool haveWide() { return defaultDevice().getProperties().hasWideAtomics; }

// Sums of these are exact in any order.
template <class T>
std::vector<T> someNumbers() {
  std::vector<T> numbers;
  for (int i = 0; i < kItems; ++i) numbers.push_back(static_cast<T>((i * 37 % 501) - 250) / 4);
  return numbers;
}

template <class T>
void foldFloats(Array<T, 1> out, const Array<T, 1>& in) {
  atomic_add(out[0], in[idx]);
  atomic_sub(out[1], in[idx]);
  atomic_min(out[2], in[idx]);
  atomic_max(out[3], in[idx]);
  if_(idx == 7) {
    atomic_xchg(out[4], in[idx]);
  }
}

template <class T>
void checkFolds(bool interpreted) {
  CAPTURE(interpreted);
  const std::vector<T> numbers = someNumbers<T>();
  Array<T, 1> in(kItems), out(5);
  in.copyFrom(numbers.data());
  out = T(3);
  if (interpreted) {
    eval(foldFloats<T>).global(kItems).interpret(out, in);
  } else {
    eval(foldFloats<T>).global(kItems)(out, in);
  }
  T sum = 3;
  for (const T x : numbers) sum += x;
  CHECK(out(0).value() == sum);
  CHECK(out(1).value() == 6 - sum);
  CHECK(out(2).value() == *std::min_element(numbers.begin(), numbers.end()));
  CHECK(out(3).value() == *std::max_element(numbers.begin(), numbers.end()));
  CHECK(out(4).value() == numbers[7]);
}

// Each work-item of a group adds to a local scalar and to a cell of a local array.
template <class T>
void foldGroups(Array<T, 1> sums, Array<T, 1> tops, const Array<T, 1>& in) {
  Array<T, 0, Local> sum;
  Array<T, 1, Local> top(2);
  if_(lidx == 0) {
    sum = T(0);
    top[0] = T(0);
    top[1] = T(0);
  }
  barrier(LOCAL);
  atomic_add(sum, in[idx]);
  atomic_max(top[lidx % 2], in[idx]);
  barrier(LOCAL);
  if_(lidx == 0) {
    sums[gidx] = sum;
    tops[gidx] = top[0] + top[1];
  }
}

template <class T>
void checkGroups() {
  Array<T, 1> in(64), sums(4), tops(4);
  for (int i = 0; i < 64; ++i) in(i) = static_cast<T>(i) / 2;
  eval(foldGroups<T>).global(64).local(16)(sums, tops, in);
  for (int g = 0; g < 4; ++g) {
    CHECK(sums(g).value() == static_cast<T>(16 * 16 * g + 120) / 2);
    CHECK(tops(g).value() == static_cast<T>(2 * (16 * g + 15) - 1) / 2);
  }
}

template <class T>
void everyOperation(Array<T, 1> a, Array<T, 1> seen) {
  const auto i = cast<T>(idx);
  atomic_add(a[0], i);
  atomic_sub(a[1], i);
  atomic_max(a[2], i << 33);
  atomic_min(a[3], i);
  seen[atomic_inc(a[4]) - (T(1) << 40)] += T(1);
  atomic_dec(a[5]);
  atomic_and(a[6], ~(T(1) << (i % 8 + 40)));
  atomic_or(a[7], T(1) << (i % 20 + 40));
  atomic_xor(a[8], i << 35);
  if_(idx == 3) {
    atomic_xchg(a[9], T(1) << 50);
  }
  atomic_cmpxchg(a[10], T(7) << 35, T(70) << 35);
}

template <class T>
void checkEveryOperation(bool interpreted) {
  CAPTURE(interpreted);
  Array<T, 1> a(11), seen(100);
  seen = T(0);
  const std::vector<T> begin{T(5) << 40, T(5) << 40, 0,          1000, T(1) << 40, T(1) << 41,
                             ~T(0),      0,          T(1) << 60, 0,    T(7) << 35};
  a.copyFrom(begin.data());
  if (interpreted) {
    eval(everyOperation<T>).global(100).interpret(a, seen);
  } else {
    eval(everyOperation<T>).global(100)(a, seen);
  }
  T parity = 0;
  for (T i = 0; i < 100; ++i) parity ^= i << 35;
  const std::vector<T> expected{
      (T(5) << 40) + 4950,   (T(5) << 40) - 4950, T(99) << 33,     0,
      (T(1) << 40) + 100,    (T(1) << 41) - 100,  ~(T(255) << 40), ((T(1) << 20) - 1) << 40,
      (T(1) << 60) ^ parity, T(1) << 50,          T(70) << 35};
  for (std::size_t k = 0; k < expected.size(); ++k) {
    INFO("operation " << k);
    CHECK(a(k).value() == expected[k]);
  }
  for (int i = 0; i < 100; ++i) CHECK(seen(i).value() == 1);
}

void addTo(AliasArray<float> cell, Float x) { atomic_add(cell[0], x); }

}  // namespace

TEST_CASE("atomics on floats: sums, differences, ends and exchanges of many work-items") {
  checkFolds<float>(false);
  checkFolds<float>(true);
  checkGroups<float>();
}

TEST_CASE("atomics on doubles") {
  if (!haveDoubles()) return;
  checkFolds<double>(true);
  if (!haveWide()) return;
  checkFolds<double>(false);
  checkGroups<double>();
}

TEST_CASE("every atomic operation works on 64 bits, signed and unsigned") {
  checkEveryOperation<long>(true);
  checkEveryOperation<unsigned long>(true);
  if (!haveWide()) return;
  checkEveryOperation<long>(false);
  checkEveryOperation<unsigned long>(false);
  checkEveryOperation<long long>(false);
}

TEST_CASE("atomics on floats return the value before") {
  Array<float, 1> total(1);
  Array<int, 1> seen(256);
  total = 0.0f;
  seen = 0;
  eval([](Array<float, 1> t, Array<int, 1> s) {
    Float before = atomic_add(t[0], 1.0f);
    s[cast<int>(before)] += 1;
  }).global(256)(total, seen);
  CHECK(total(0).value() == 256.0f);
  for (int i = 0; i < 256; ++i) CHECK(seen(i).value() == 1);
}

TEST_CASE(
    "atomics on floats convert their operand, and pass over NaN in atomic_min and atomic_max") {
  Array<float, 1> a(3);
  a = 1.0f;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  a(2) = nan;
  for (const bool interpreted : {false, true}) {
    const auto kernel = [nan](Array<float, 1> x) {
      atomic_add(x[0], 3);
      atomic_min(x[1], nan);
      atomic_max(x[2], 5);
    };
    if (interpreted) {
      eval(kernel).global(1).interpret(a);
    } else {
      eval(kernel).global(1)(a);
    }
    CHECK(a(1).value() == 1.0f);
    CHECK(a(2).value() == 5.0f);
  }
  CHECK(a(0).value() == 7.0f);
}

TEST_CASE("atomics on floats in functions, through aliases, and of surplus work-items") {
  Array<float, 2> sums(3, 4);
  sums = 0.0f;
  eval([](Array<float, 2> s) {
    AliasArray<float> row(s[1][0]);
    atomic_add(row[2], 0.5f);
    call(addTo)(AliasArray<float>(s[2][1]), 0.25f);
  }).global(100)(sums);
  CHECK(sums(1, 2).value() == 50.0f);
  CHECK(sums(2, 1).value() == 25.0f);
  // 37 work-items in groups of 16: those beyond add nothing.
  Array<float, 1> total(1);
  total = 0.0f;
  eval([](Array<float, 1> t) {
    Array<float, 1, Local> tile(16);
    tile[lidx] = 1.0f;
    barrier(LOCAL);
    atomic_add(t[0], tile[lidx]);
  })
      .global(37)
      .local(16)(total);
  CHECK(total(0).value() == 37.0f);
}

}  // namespace atomics_tests
