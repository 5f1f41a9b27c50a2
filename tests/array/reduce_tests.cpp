// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "hpl/hpl.h"

using namespace hpl;

HPL_STRUCT(ReduceTestsSpan, (int, first), (int, last));

namespace reduce_tests {

namespace {

/// Sums the array as it is and as a view with rows of three, and compares with a sum of doubles.
template <class T>
void checkSum(std::int64_t n, double tolerance) {
  Array<T, 1> a(n);
  std::mt19937 random(19);
  std::uniform_real_distribution<double> aboutOne(0.9, 1.1);
  double exact = 0.0;
  T* cells = a.data(HPL_WR);
  for (std::int64_t i = 0; i < n; ++i) {
    cells[i] = static_cast<T>(aboutOne(random));
    exact += static_cast<double>(cells[i]);
  }
  INFO(n << " elements of " << sizeof(T) << " bytes");
  CHECK(std::fabs(static_cast<double>(a.reduce(std::plus<T>())) - exact) <= tolerance * exact);
}

}  // namespace

TEST_CASE("a sum of more than 2^24 floats does not stop growing") {
  checkSum<float>(33'553'923, 1e-6);
  Array<float, 1> ones(33'553'923);
  ones = 1.0f;
  CHECK(ones.reduce(std::plus<float>()) == 33'553'924.0f);  // the float next to it
  CHECK(ones.reduce([](float p, float q) { return p > q ? p : q; }) == 1.0f);
}

TEST_CASE("sums of every length, doubles too, are right to the rounding of a few additions") {
  for (const std::int64_t n : {1, 2, 127, 128, 129, 255, 256, 257, 1000, 4095, 4096, 70'001}) {
    checkSum<float>(n, 2e-6);
    checkSum<double>(n, 1e-14);
  }
}

TEST_CASE("a sum of complex numbers and of vectors is a sum of pairs, too") {
  Array<std::complex<float>, 1> complexes(20'000'000);
  complexes = std::complex<float>(1.0f, -1.0f);
  const auto sum = complexes.reduce(std::plus<std::complex<float>>());
  CHECK(sum == std::complex<float>(20'000'000.0f, -20'000'000.0f));
  Array<float2, 1> vectors(20'000'000);
  vectors = float2(1.0f, 2.0f);
  const float2 total = vectors.reduce([](float2 p, float2 q) { return p + q; });
  CHECK(total.x == 20'000'000.0f);
  CHECK(total.y == 40'000'000.0f);
}

TEST_CASE("reduce keeps the order of the elements: a functor need not be commutative") {
  // Spans join only with the one that begins where they end; any other order gives {-1, -1}.
  const auto join = [](ReduceTestsSpan p, ReduceTestsSpan q) {
    return p.last == q.first ? ReduceTestsSpan{p.first, q.last} : ReduceTestsSpan{-1, -1};
  };
  for (const int n : {1, 2, 3, 127, 128, 129, 300, 1024, 5000}) {
    Array<ReduceTestsSpan, 1> spans(n);
    ReduceTestsSpan* cells = spans.data(HPL_WR);
    for (int i = 0; i < n; ++i) cells[i] = {i, i + 1};
    const ReduceTestsSpan whole = spans.reduce(join);
    INFO(n << " spans");
    CHECK(whole.first == 0);
    CHECK(whole.last == n);
  }
}

TEST_CASE("folds of long arrays on all cores keep the order, and group as rows of a view do") {
  const auto join = [](ReduceTestsSpan p, ReduceTestsSpan q) {
    return p.last == q.first ? ReduceTestsSpan{p.first, q.last} : ReduceTestsSpan{-1, -1};
  };
  constexpr int kMany = 5'000'017;
  Array<ReduceTestsSpan, 1> spans(kMany);
  ReduceTestsSpan* cells = spans.data(HPL_WR);
  for (int i = 0; i < kMany; ++i) cells[i] = {i, i + 1};
  const ReduceTestsSpan whole = spans.reduce(join);
  CHECK(whole.first == 0);
  CHECK(whole.last == kMany);

  // Rows of a view with gaps are folded on one core.
  constexpr int kRows = 3000, kColumns = 1024;
  Array<float, 2> dense(kRows, kColumns), wide(kRows, kColumns + 3);
  std::mt19937 random(23);
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j)
      wide(i, j) = dense(i, j) = static_cast<float>(random()) * 1e-6f;
  Array<float, 1> flat(kRows * kColumns);
  flat.copyFrom(dense.data());
  CHECK(flat.reduce(std::plus<float>()) ==
        wide(Range(0, kRows - 1), Range(0, kColumns - 1)).reduce(std::plus<float>()));
}

TEST_CASE("an exception of a functor leaves a fold on all cores") {
  Array<double, 1> a(1 << 22);
  a = 1.0;
  a(3'000'000) = -1.0;
  const auto refuse = [](double p, double q) {
    if (p < 0.0 || q < 0.0) throw Error("negative");
    return p + q;
  };
  CHECK_THROWS_WITH_AS(a.reduce(refuse), "negative", Error);
}

TEST_CASE("reduce takes views of several dimensions in row-major order") {
  constexpr int kRows = 97, kColumns = 7;
  Array<ReduceTestsSpan, 3> spans(5, kRows, kColumns);
  Array<ReduceTestsSpan, 3>& view = spans(Range(1, 3), Range(2, kRows - 1), Range(1, 3));
  int next = 0;
  for (int i = 1; i <= 3; ++i)
    for (int j = 2; j < kRows; ++j)
      for (int k = 1; k <= 3; ++k, ++next) spans(i, j, k) = ReduceTestsSpan{next, next + 1};
  const ReduceTestsSpan whole = view.reduce([](ReduceTestsSpan p, ReduceTestsSpan q) {
    return p.last == q.first ? ReduceTestsSpan{p.first, q.last} : ReduceTestsSpan{-1, -1};
  });
  CHECK(whole.first == 0);
  CHECK(whole.last == next);
  Array<float, 2> table(4'000'000, 6);
  table = 1.0f;
  CHECK(table(Range(0, 3'999'999), Range(0, 4)).reduce(std::plus<float>()) == 20'000'000.0f);
}

TEST_CASE("integers are folded from left to right: no sum overflows that does not in a loop") {
  constexpr int kBig = 2'000'000'000;
  std::vector<int> values(1024);
  // Every prefix is 0 or kBig, and the run of the elements 127 and 128 is beyond int.
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 2 == 0 ? kBig : -kBig;
  values[127] = -kBig;
  values[128] = kBig;
  Array<int, 1> a(1024);
  a.copyFrom(values.data());
  std::vector<int> seen;
  const int sum = a.reduce([&](int p, int q) {
    seen.push_back(p);
    return p + q;
  });
  CHECK(sum == 0);
  REQUIRE(seen.size() == values.size() - 1);
  int prefix = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    prefix += values[i];
    if (seen[i] != prefix) FAIL("the fold is another one from element " << i);
  }
}

TEST_CASE("one element is returned as it is, and the functor is not called") {
  Array<float, 2> a(3, 3);
  a = 2.0f;
  a(1, 1) = -0.0f;
  int calls = 0;
  const auto count = [&](float p, float q) {
    ++calls;
    return p + q;
  };
  CHECK(std::signbit(a(Range(1), Range(1)).reduce(count)));
  CHECK(calls == 0);
  CHECK(a.reduce(count) == 16.0f);
  CHECK(calls == 8);
}

}  // namespace reduce_tests
