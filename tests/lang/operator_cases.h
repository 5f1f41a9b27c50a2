// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "hpl/hpl.h"

/// The operators of the embedded language and of C++, from one generic expression each: device and
/// host run the same code and must give the same bits.
namespace hpl::test {

/// Rows of results: integers widened to long, real numbers to double, so that a result of the wrong
/// type shows in its value.
struct DeviceResults {
  Array<long, 2>& integers;
  Array<double, 2>& reals;
  int integer = 0;
  int real = 0;

  template <class X>
  void put(const X& x) {
    if constexpr (std::is_integral_v<detail::ValueOf<X>>) {
      integers[integer++][idx] = x;
    } else {
      reals[real++][idx] = x;
    }
  }
  template <class T, class X>
  Array<T, 0> variable(const X& x) {
    return Array<T, 0>(x);
  }
};

struct HostResults {
  std::vector<std::int64_t> integers;
  std::vector<double> reals;

  template <class X>
  void put(const X& x) {
    if constexpr (std::is_integral_v<X>) {
      integers.push_back(static_cast<std::int64_t>(x));
    } else {
      reals.push_back(static_cast<double>(x));
    }
  }
  template <class T, class X>
  T variable(const X& x) {
    return static_cast<T>(x);
  }
};

/// Values without undefined behaviour in any operator: products and sums of signed ones stay small.
template <class T>
std::vector<T> leftValues() {
  if constexpr (std::is_same_v<T, bool>)
    return {true, false, true, true, false, true};
  else if constexpr (std::is_same_v<T, half>)
    return {half(1.5f), half(-2.25f), half(0.1f), half(100.0f), half(-0.0f), half(7.0f)};
  else if constexpr (std::is_floating_point_v<T>)
    return {T(1.1), T(-2.7), T(0.1), T(1234.5678), T(-3e4), T(7)};
  else if constexpr (sizeof(T) == 1)
    return {T(3), T(-1), T(100), T(0), T(-128), T(77)};
  else if constexpr (sizeof(T) == 2)
    return {T(3), T(-1), T(1000), T(0), T(-32768), T(777)};
  else
    return {T(3), T(-1), T(10007), T(0), T(-9999), T(16777217 % 100003)};
}
template <class T>
std::vector<T> rightValues() {
  if constexpr (std::is_same_v<T, bool>)
    return {true, true, true, true, true, true};
  else if constexpr (std::is_same_v<T, half>)
    return {half(0.3f), half(2.0f), half(-7.0f), half(3.0f), half(1.0f), half(-5.5f)};
  else if constexpr (std::is_floating_point_v<T>)
    return {T(0.7), T(3), T(-0.3), T(9.87), T(1e3), T(-7)};
  // The square of 65535 overflows int, to which ushort promotes.
  else if constexpr (std::is_same_v<T, unsigned short>)
    return {T(7), T(3), T(-40000), T(5), T(1), T(77)};
  else
    return {T(7), T(3), T(-3), T(5), T(-1), T(77)};
}

template <class V>
constexpr bool isReal = std::is_floating_point_v<V> || std::is_same_v<V, half>;

struct Arithmetic {
  template <class A, class B, class S, class X, class Y>
  static void run(S& s, const X& x, const Y& y) {
    s.put(x + y);
    s.put(x - y);
    s.put(x * y);
    s.put(x / y);
    s.put(-x);
    s.put(+x);
    if constexpr (!isReal<A> && !isReal<B>) {
      s.put(x % y);
      s.put(x & y);
      s.put(x | y);
      s.put(x ^ y);
      s.put(x << (y & 7));
      s.put(x >> (y & 7));
      if constexpr (!std::is_same_v<A, bool>) s.put(~x);
    }
  }
};

struct Comparisons {
  template <class A, class B, class S, class X, class Y>
  static void run(S& s, const X& x, const Y& y) {
    s.put(x == y);
    s.put(x != y);
    s.put(x < y);
    s.put(x <= y);
    s.put(x > y);
    s.put(x >= y);
    s.put(x && y);
    s.put(x || y);
    s.put(!x);
  }
};

struct Assignments {
  template <class A, class B, class S, class X, class Y>
  static void run(S& s, const X& x, const Y& y) {
    auto v = s.template variable<A>(x);
    v += y;
    s.put(v);
    v -= y;
    s.put(v);
    v = x;
    v *= y;
    s.put(v);
    v = x;
    v /= y;
    s.put(v);
    if constexpr (!std::is_same_v<A, bool>) {
      s.put(v++);
      s.put(++v);
      s.put(v--);
      s.put(--v);
    }
    if constexpr (!isReal<A> && !isReal<B>) {
      v = x;
      v %= y;
      s.put(v);
      v = x;
      v &= y;
      s.put(v);
      v |= y;
      s.put(v);
      v ^= y;
      s.put(v);
      v = x;
      v <<= y & 7;
      s.put(v);
      v >>= y & 7;
      s.put(v);
    }
  }
};

template <class Cases, class A, class B>
struct PairKernel {
  void operator()(Array<long, 2> integers, Array<double, 2> reals, const Array<A, 1>& a,
                  const Array<B, 1>& b) const {
    DeviceResults results{integers, reals};
    Cases::template run<A, B>(results, a[idx], b[idx]);
  }
};

template <class T>
std::string nameOf() {
  return ir::describe(irType<T>());
}

inline bool sameBits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

template <class Cases, class A, class B>
void checkPair() {
  constexpr int kRows = 16;
  const std::vector<A> left = leftValues<A>();
  const std::vector<B> right = rightValues<B>();
  const auto n = static_cast<int>(left.size() * right.size());
  Array<A, 1> a(n);
  Array<B, 1> b(n);
  for (int i = 0; i < n; ++i) {
    a(i) = left[static_cast<std::size_t>(i) % left.size()];
    b(i) = right[static_cast<std::size_t>(i) / left.size()];
  }
  Array<long, 2> integers(kRows, n);
  Array<double, 2> reals(kRows, n);
  eval(PairKernel<Cases, A, B>())
      .global(static_cast<std::size_t>(n))
      .fp(STRICT)(integers, reals, a, b);
  INFO("types " << nameOf<A>() << " and " << nameOf<B>());
  for (int i = 0; i < n; ++i) {
    const A x = a(i);
    const B y = b(i);
    HostResults host;
    Cases::template run<A, B>(host, x, y);
    INFO("operands " << static_cast<double>(x) << " and " << static_cast<double>(y));
    for (std::size_t row = 0; row < host.integers.size(); ++row) {
      INFO("integer result " << row);
      CHECK(integers(static_cast<int>(row), i).value() == host.integers[row]);
    }
    for (std::size_t row = 0; row < host.reals.size(); ++row) {
      const double device = reals(static_cast<int>(row), i);
      INFO("real result " << row << ": " << device << ", expected " << host.reals[row]);
      CHECK(sameBits(device, host.reals[row]));
    }
  }
}

template <class Cases, class A, class... B>
void checkRow() {
  (checkPair<Cases, A, B>(), ...);
}

}  // namespace hpl::test
