// SPDX-License-Identifier: Apache-2.0
// Loops, branches, narrow types and functions.
#include <doctest/doctest.h>

#include <cstdint>

#include "support.h"

namespace language_tests {

using namespace hpl;
using namespace classics;

namespace {

Int collatz(Int n) {
  Int steps = 0;
  while_(n != 1) {
    n = where(n % 2 == 0, n / 2, 3 * n + 1);
    steps += 1;
  }
  return steps;
}
void collatzByCall(Array<int, 1> out, const Array<int, 1>& in) {
  out[idx] = call(collatz)(in[idx]);
}
void collatzInline(Array<int, 1> out, const Array<int, 1>& in) {
  Int n = in[idx];
  Int steps = collatz(n);
  out[idx] = steps * 1000 + n;
}

void allLoops(Array<int, 1> out, Int n) {
  Int s = 0;
  for_(Int i = n - 1, i >= 0, i--) {
    s += i * 3;
  }
  for_(Int i = 1, i < n, i *= 2) {
    s ^= i;
  }
  for_(Uint i = n, i > 0u, i >>= 1) {
    s += cast<int>(i);
  }
  for_(Int i = 0, i < n, i++) {
    if_(i % 3 == 0) {
      i += 2;
    }
    s += i;
  }
  for_(Float f = 0.0f, f < 3.0f, f += 0.5f) {
    s += cast<int>(f * 2.0f);
  }
  Int last = n;
  for_(Int i = 0, i < last, i++) {
    last -= 1;
    s += 7;
  }
  do_ {
    s += 1;
    if_(s % 5 == 0) {
      break_;
    }
    if_(s % 2 == 0) {
      continue_;
    }
    s += 3;
  }
  dowhile_(s % 11 != 0);
  for_(Int i = 0, i < 5, i++) {
    for_(Int j = 0, j < 5, j++) {
      if_(j == i) {
        continue_;
      }
      if_(j > 3) {
        break_;
      }
      s += i * j;
    }
    if_(i == cast<int>(idx) % 4) {
      break_;
    }
  }
  Int k = idx;
  while_(k > 0) {
    k /= 2;
    s += k;
  }
  out[idx] = s;
}

int allLoopsOnHost(int n, int id) {
  int s = 0;
  for (int i = n - 1; i >= 0; i--) s += i * 3;
  for (int i = 1; i < n; i *= 2) s ^= i;
  for (unsigned i = static_cast<unsigned>(n); i > 0; i >>= 1) s += static_cast<int>(i);
  for (int i = 0; i < n; i++) {
    if (i % 3 == 0) i += 2;
    s += i;
  }
  for (int half = 0; half < 6; half++) s += half;
  int last = n;
  for (int i = 0; i < last; i++) {
    last -= 1;
    s += 7;
  }
  do {
    s += 1;
    if (s % 5 == 0) break;
    if (s % 2 == 0) continue;
    s += 3;
  } while (s % 11 != 0);
  for (int i = 0; i < 5; i++) {
    for (int j = 0; j < 5; j++) {
      if (j == i) continue;
      if (j > 3) break;
      s += i * j;
    }
    if (i == id % 4) break;
  }
  for (int k = id; k > 0;) {
    k /= 2;
    s += k;
  }
  return s;
}

using Bytes = Array<signed char, 1>;
using Ubytes = Array<unsigned char, 1>;

void narrowTypes(Array<long, 1> out, const Bytes& c, const Ubytes& u, const Array<short, 1>& s) {
  Int difference = u[idx] - c[idx];
  Uint wide = c[idx];
  Short three = s[idx] * 3;
  Uchar twice = u[idx] + u[idx];
  Char five = c[idx] * 5;
  Bool isSet = s[idx];
  Long l = cast<long>(wide) + difference;
  l = l * 1000003 + three;
  l ^= cast<long>(twice) << 20;
  l += five / 3 + five % 7 + (five >> 2);
  l -= where(c[idx] > 0 && !isSet, 17, 4);
  l += (c[idx] < wide);
  l += cast<long>(-u[idx]);
  l += ~s[idx];
  out[idx] = l;
}

long narrowTypesOnHost(signed char c, unsigned char u, short s) {
  const int difference = u - c;
  const auto wide = static_cast<unsigned>(c);
  const auto three = static_cast<short>(s * 3);
  const auto twice = static_cast<unsigned char>(u + u);
  const auto five = static_cast<signed char>(c * 5);
  long l = long{wide} + difference;
  l = l * 1000003 + three;
  l ^= long{twice} << 20;
  l += five / 3 + five % 7 + (five >> 2);
  l -= c > 0 && s == 0 ? 17 : 4;
  l += static_cast<unsigned>(c) < wide ? 1 : 0;
  return l - u + ~s;
}

void splitMix(Array<unsigned long, 1> out, Ulong seed) {
  Ulong z = seed + idx * 0x9E3779B97F4A7C15ul;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ul;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBul;
  seed = z ^ (z >> 31);
  out[idx] = seed;
}

void followLinks(Array<int, 1> out, const Array<int, 1>& next, Int steps) {
  Int j = idx;
  while_(steps > 0) {
    steps -= 1;
    j = next[j];
  }
  out[idx] = j;
}

void changeInPlace(Array<int, 1> a) {
  a[idx] = a[idx] + 1;
  a[idx] = a[idx] * 2;
  Int t = a[idx];
  a[idx] = t - 3;
  if_(a[idx] > 5) {
    a[idx] = 5;
  }
}

void addTwice(Array<int, 1> y, const Array<int, 1>& x) {
  y[idx] = x[idx] * 2;
  y[idx] += x[idx];
}

}  // namespace

TEST_CASE("a function with a loop, called and written out") {
  const auto in = numbers<int>(1000, 1, 400);
  std::vector<int> steps, both;
  for (const int n : in) {
    int count = 0;
    for (int x = n; x != 1; ++count) x = x % 2 == 0 ? x / 2 : 3 * x + 1;
    steps.push_back(count);
    both.push_back(count * 1000 + n);
  }
  const auto a = arrayOf(in, 1000);
  Array<int, 1> out(1000);
  onAll(collatzByCall)(out, a);
  CHECK(valuesOf(out) == steps);
  onAll(collatzInline)(out, a);
  CHECK(valuesOf(out) == both);
}

TEST_CASE("loops of all kinds, left and continued") {
  Array<int, 1> out(200);
  for (const int n : {13, 1, 40, 0}) {
    CAPTURE(n);
    onAll(allLoops)(out, n);
    for (int id = 0; id < 200; ++id) REQUIRE(out(id) == allLoopsOnHost(n, id));
  }
}

TEST_CASE("arithmetic of narrow types is that of C") {
  const int n = 400;
  const auto c = numbers<signed char>(n, -128, 127, 1);
  const auto u = numbers<unsigned char>(n, 0, 255, 2);
  const auto s = numbers<short>(n, -300, 3000, 3);
  Array<long, 1> out(n);
  onAll(narrowTypes)(out, arrayOf(c, n), arrayOf(u, n), arrayOf(s, n));
  for (std::size_t i = 0; i < c.size(); ++i) REQUIRE(out(i) == narrowTypesOnHost(c[i], u[i], s[i]));
}

TEST_CASE("numbers of 64 bits wrap, and a kernel may change its parameter") {
  Array<unsigned long, 1> out(300);
  onAll(splitMix)(out, 42ul);
  for (std::uint64_t i = 0; i < 300; ++i) {
    std::uint64_t z = 42 + i * 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    REQUIRE(out(i) == (z ^ (z >> 31)));
  }
}

TEST_CASE("links are followed to elements of elements") {
  const auto next = numbers<int>(150, 0, 149);
  Array<int, 1> out(150);
  onAll(followLinks)(out, arrayOf(next, 150), 7);
  for (int i = 0; i < 150; ++i) {
    int j = i;
    for (int k = 0; k < 7; ++k) j = next[static_cast<std::size_t>(j)];
    REQUIRE(out(i) == j);
  }
}

TEST_CASE("an element that is written several times, and one array as two arguments") {
  const auto in = numbers<int>(90, -9, 9);
  auto a = arrayOf(in, 90), b = arrayOf(in, 90);
  onAll(changeInPlace)(a);
  onAll(addTwice)(b, b);
  for (std::size_t i = 0; i < in.size(); ++i) {
    REQUIRE(a(i) == std::min((in[i] + 1) * 2 - 3, 5));
    REQUIRE(b(i) == in[i] * 4);
  }
}

}  // namespace language_tests
