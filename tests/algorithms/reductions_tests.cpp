// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>

#include "hpl/algorithms/detail/fold_rewriter.h"
#include "support.h"

using namespace hpl;
using namespace algorithms_tests;

HPL_STRUCT(ReductionsTestsPair, (int, least), (int, most));

namespace reductions_tests {

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

/// All reductions of n numbers against loops of the host.
template <class T>
void checkNumbers(std::size_t n) {
  CAPTURE(n);
  CAPTURE(sizeof(T));
  const std::vector<T> values = smallNumbers<T>(n, static_cast<unsigned>(n));
  Array<T, 1> a(n);
  fill(a, values);
  long total = 0, squares = 0;
  std::size_t least = 0, most = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const long number = static_cast<long>(static_cast<float>(values[i]));
    total += number;
    squares += number * number;
    if (values[i] < values[least]) least = i;
    if (values[i] > values[most]) most = i;
  }
  CHECK(static_cast<long>(sum(a).value()) == total);
  CHECK(static_cast<long>(dot(a, a).value()) == squares);
  CHECK(min(a).value() == values[least]);
  CHECK(max(a).value() == values[most]);
  CHECK(argmin(a).index() == static_cast<long>(least));
  CHECK(argmax(a).index() == static_cast<long>(most));
  CHECK(argmax(a).value() == values[most]);
}

template <class T>
void checkLengths() {
  for (const std::size_t n : {1, 17, 4097, 70'001}) checkNumbers<T>(n);
}

/// Sums of random numbers between 0 and 1 in blocks of the array, against long double.
template <class T>
double errorOfSum(std::size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> number(0.0, 1.0);
  Array<T, 1> a(n);
  T* cells = a.data(HPL_WR);
  long double exact = 0;
  for (std::size_t i = 0; i < n; ++i) {
    cells[i] = static_cast<T>(number(random));
    exact += cells[i];
  }
  return std::fabs(static_cast<double>((sum(a).value() - exact) / exact)) /
         static_cast<double>(std::numeric_limits<T>::epsilon());
}

}  // namespace

TEST_CASE("reductions of integers of every size equal loops of the host") {
  checkLengths<signed char>();
  checkLengths<unsigned char>();
  checkLengths<short>();
  checkLengths<unsigned short>();
  checkLengths<int>();
  checkLengths<unsigned>();
  checkLengths<long>();
  checkLengths<unsigned long>();
}

TEST_CASE("reductions of real numbers equal loops of the host") {
  checkLengths<float>();
  checkLengths<half>();
  if (haveDoubles()) checkLengths<double>();
}

TEST_CASE("sums of small integers do not overflow their type, and 64 bits wrap") {
  Array<signed char, 1> bytes(100'000);
  bytes = static_cast<signed char>(-100);
  CHECK(sum(bytes).value() == -10'000'000);
  Array<unsigned char, 1> ubytes(100'000);
  ubytes = static_cast<unsigned char>(200);
  CHECK(dot(ubytes, ubytes).value() == 4'000'000'000ul);
  Array<unsigned long, 1> large(3);
  large = ~0ul;
  CHECK(sum(large).value() == ~0ul - 2);
  Array<bool, 1> flags(1000);
  flags = false;
  for (int i = 0; i < 1000; i += 3) flags(i) = true;
  CHECK(sum(flags).value() == 334);
  CHECK(max(flags).value());
  CHECK_FALSE(min(flags).value());
}

TEST_CASE("2^26 ones add up to 2^26, where a loop of floats stops at 2^24") {
  Array<float, 1> ones(1 << 26);
  ones = 1.0f;
  CHECK(sum(ones).value() == 67'108'864.0f);
  Array<float, 1> cell(1);
  sum(ones).into(cell);
  CHECK(cell(0) == 67'108'864.0f);
}

TEST_CASE("sums of random numbers are right to a few roundings") {
  for (const unsigned seed : {1u, 2u, 3u}) {
    CAPTURE(seed);
    CHECK(errorOfSum<float>(10'000'003, seed) < 4);
    CHECK(errorOfSum<float>(100'001, seed) < 4);
    if (haveDoubles()) CHECK(errorOfSum<double>(3'000'001, seed) < 4);
  }
}

TEST_CASE("complex numbers and vectors are summed, and vectors compared lane by lane") {
  using Complex = std::complex<float>;
  Array<Complex, 1> z(5000);
  for (int i = 0; i < 5000; ++i) z(i) = Complex(static_cast<float>(i % 7), static_cast<float>(-2));
  Complex total = 0, product = 0;
  for (int i = 0; i < 5000; ++i) {
    const Complex value = z(i);
    total += value;
    product += std::conj(value) * value;
  }
  CHECK(sum(z).value() == total);
  CHECK(dot(z, z).value() == product);
  CHECK(norm(z).value() == doctest::Approx(std::sqrt(product.real())));

  Array<float4, 1> v(3000);
  for (int i = 0; i < 3000; ++i)
    v(i) = float4(static_cast<float>(i % 5), 1.0f, static_cast<float>(-i % 11), 0.5f);
  const float4 sums = sum(v);
  CHECK(sums == float4(6000.0f, 3000.0f, -14'988.0f, 1500.0f));
  CHECK(max(v).value() == float4(4.0f, 1.0f, 0.0f, 0.5f));
  CHECK(min(v).value() == float4(0.0f, 1.0f, -10.0f, 0.5f));
  float squares = 0.0f;
  for (int i = 0; i < 3000; ++i) {
    const float4 one = v(i);
    for (std::size_t lane = 0; lane < 4; ++lane) squares += one[lane] * one[lane];
  }
  CHECK(dot(v, v).value() == squares);
  Array<int3, 1> threes(77);
  threes = int3(1, -2, 3);
  CHECK(sum(threes).value() == long3(77, -154, 231));
}

TEST_CASE("NaN wins against all numbers, infinities take part, and the first of equals is found") {
  Array<float, 1> a(5000);
  a = 1.0f;
  a(4321) = kInf;
  a(17) = -kInf;
  a(18) = -kInf;
  CHECK(max(a).value() == kInf);
  CHECK(min(a).value() == -kInf);
  CHECK(argmin(a).index() == 17);
  a(4000) = kNan;
  a(3999) = kNan;
  CHECK(std::isnan(max(a).value()));
  CHECK(std::isnan(min(a).value()));
  CHECK(argmin(a).index() == 3999);
  CHECK(argmax(a).index() == 3999);
  CHECK(std::isnan(argmax(a).value()));
  a = kInf;
  CHECK(argmin(a).index() == 0);
  CHECK(min(a).value() == kInf);
  a = kNan;
  CHECK(argmax(a).index() == 0);
}

TEST_CASE("functions of several arrays and scalars are combined without a temporary array") {
  const std::size_t n = 30'011;
  const std::vector<float> x = smallNumbers<float>(n, 5), y = smallNumbers<float>(n, 6);
  Array<float, 1> a(n), b(n);
  fill(a, x);
  fill(b, y);
  double energy = 0, furthest = 0;
  std::size_t place = 0;
  for (std::size_t i = 0; i < n; ++i) {
    energy += 0.5 * x[i] * y[i] * y[i];
    const double distance = std::fabs(x[i] - 3.0f * y[i]);
    if (distance > furthest) {
      furthest = distance;
      place = i;
    }
  }
  CHECK(sum([](Float m, Float v) { return 0.5f * m * v * v; }, a, b).value() == energy);
  const auto distance = [](Float p, Float q, Float scale) { return fabs(p - scale * q); };
  CHECK(max(distance, a, b, 3.0f).value() == furthest);
  CHECK(argmax(distance, a, b, 3.0f).index() == static_cast<long>(place));
  CHECK(min(distance, a, b, 0.0f).value() == 0.0f);
  // Values of the host are constants of the kernel, one kernel for each value.
  for (const float limit : {0.0f, 4.0f}) {
    const auto above = [limit](Float p) { return where(p > limit, 1, 0); };
    const auto count = std::count_if(x.begin(), x.end(), [&](float p) { return p > limit; });
    CHECK(sum(above, a).value() == count);
  }
}

TEST_CASE("a program's own operator combines any type, structs too") {
  Array<int, 1> a(10'000);
  const std::vector<int> values = smallNumbers<int>(10'000, 9);
  fill(a, values);
  int bits = 0;
  for (const int value : values) bits ^= value * 77;
  CHECK(reduce([](Int p, Int q) { return p ^ q; }, 0,
               [&] {
                 Array<int, 1> scaled(10'000);
                 eval([](Array<int, 1> to, const Array<int, 1>& from) {
                   to[idx] = from[idx] * 77;
                 })(scaled, a);
                 return scaled;
               }())
            .value() == bits);
  Array<ReductionsTestsPair, 1> pairs(1000);
  for (int i = 0; i < 1000; ++i) {
    const int value = values[static_cast<std::size_t>(i)];
    pairs(i) = ReductionsTestsPair{value, i};
  }
  using Pair = Array<ReductionsTestsPair, 0>;
  const ReductionsTestsPair span = reduce(
      [](Pair p, Pair q) {
        return make<ReductionsTestsPair>(min(p.least, q.least), max(p.most, q.most));
      },
      ReductionsTestsPair{1000, -1000}, pairs);
  CHECK(span.least == *std::min_element(values.begin(), values.begin() + 1000));
  CHECK(span.most == 999);
}

TEST_CASE("a result stays on the device, where later launches read it") {
  Array<float, 1> x(1000), alpha(1), y(1000);
  x = 2.0f;
  dot(x, x).into(alpha);
  eval([](Array<float, 1> to, const Array<float, 1>& from, const Array<float, 1>& factor) {
    to[idx] = from[idx] * factor[0];
  })(y, x, alpha);
  CHECK(y(999) == 8000.0f);
  Array<float, 1> table(5);
  table = -1.0f;
  const auto result = max(y);
  result.into(table(Range(3)));
  result.into(table(Range(1)));
  CHECK(table(3) == 8000.0f);
  CHECK(table(1) == 8000.0f);
  CHECK(table(2) == -1.0f);
  CHECK(result.value() == 8000.0f);
  Array<double, 1> lengths(1);
  if (haveDoubles()) {
    Array<int, 1> four(16);
    four = 3;
    norm(four).into(lengths);
    CHECK(lengths(0) == 12.0);
  }
  // As the scalar argument of a launch.
  eval([](Array<float, 1> to, Float value) { to[idx] = value; })(y, max(x));
  CHECK(y(5) == 2.0f);
}

TEST_CASE("results that are read late are those of the moment of the call") {
  Array<int, 1> a(50'000);
  a = 1;
  const auto before = sum(a);
  eval([](Array<int, 1> to) { to[idx] = 5; })(a);
  const auto after = sum(a);
  CHECK(before.value() == 50'000);
  CHECK(after.value() == 250'000);
  CHECK(sum(a).value() + sum(a).value() == 500'000);
}

TEST_CASE("reductions refuse arrays of different extents, and kernels") {
  Array<float, 1> x(10), y(11), two(2);
  x.label("x");
  y.label("y");
  two.label("two");
  x = 1.0f;
  y = 1.0f;
  const std::string shapes = messageOf<ShapeError>([&] { dot(x, y); });
  CHECK(contains(shapes,
                 "dot: argument 1 (array \"x\", (10) cells) and argument 2 (array \"y\", "
                 "(11) cells) have different extents"));
  CHECK(contains(shapes, "pass views of equal extents"));
  const std::string cells = messageOf<ShapeError>([&] { sum(x).into(two); });
  CHECK(contains(cells,
                 "sum(...).into(array \"two\"): the array has 2 cells, but the result needs "
                 "one; pass an array of one cell"));
  CHECK_THROWS_AS(sum(Array<float, 1>()), ShapeError);
  const std::string kernel =
      messageOf<KernelError>([&] { eval([](Array<float, 1> a) { a[idx] = sum(a).value(); })(x); });
  CHECK(kernel != "nothing was thrown");
}

TEST_CASE("groups of reductions are powers of two that the compiled kernel can run") {
  const algorithms::FoldRewriter groups(algorithms::Form::Groups);
  const ir::Kernel kernel;
  const ir::AccessSummary summary;
  const auto groupFor = [&](std::size_t size, std::size_t most) {
    layout::RewriteRequest request{kernel, summary};
    request.size = {size, 7, 1};
    request.maxGroupSize = most;
    const layout::RewriteResult result = groups.rewrite(request);
    CHECK(result.groups[0] == 1);
    CHECK(result.groups[1] == 7);
    return result.local[0];
  };
  CHECK(groupFor(128, 1024) == 128);
  CHECK(groupFor(128, 100) == 64);
  CHECK(groupFor(128, 32) == 32);
  CHECK(groupFor(128, 1) == 1);
  CHECK(groupFor(1, 4096) == 1);
}

}  // namespace reductions_tests
