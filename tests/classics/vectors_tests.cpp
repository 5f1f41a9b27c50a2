// SPDX-License-Identifier: Apache-2.0
// Permutations, scans, sorts and other operations on vectors.
#include <doctest/doctest.h>

#include <array>
#include <numeric>

#include "support.h"

namespace vectors_tests {

using namespace hpl;
using namespace classics;

namespace {

using Ints = Array<int, 1>;
using Floats = Array<float, 1>;

void gather(Floats out, const Floats& in, const Ints& from) { out[idx] = in[from[idx]]; }
void scatter(Floats out, const Floats& in, const Ints& to) { out[to[idx]] = in[idx]; }

void reverseBits(Ints out, const Ints& in, Int bits) {
  Uint reversed = 0;
  Uint v = idx;
  for_(Int b = 0, b < bits, b++) {
    reversed = (reversed << 1) | (v & 1u);
    v >>= 1;
  }
  out[reversed] = in[idx];
}

void interleave(Ints out, const Ints& in) {
  out[2 * idx] = in[idx];
  out[2 * idx + 1] = -in[idx];
}
void reverse(Ints out, const Ints& in) { out[szx - 1 - idx] = in[idx] + 1; }

/// Four ways to say where a ring goes on.
void ringByBranches(Ints out, const Ints& in, Int n) {
  Int left = idx;
  left -= 1;
  if_(left < 0) {
    left = n - 1;
  }
  Int right = idx;
  right++;
  if_(right == n) {
    right = 0;
  }
  out[idx] = in[left] * 3 + in[right] - in[idx];
}
void ringByRemainder(Ints out, const Ints& in, Int n) {
  out[idx] = in[(idx + n - 1) % n] * 3 + in[(idx + 1) % n] - in[idx];
}
void ringOfInts(Ints out, const Ints& in, Int n) {
  Int i = idx;
  out[idx] = in[(i - 1 + n) % n] * 3 + in[(i + 1) % n] - in[i];
}
void ringByWhere(Ints out, const Ints& in, Int n) {
  out[idx] =
      in[where(idx == 0, szx - 1, idx - 1)] * 3 + in[where(idx == n - 1, 0, idx + 1)] - in[idx];
}

void scanStep(Ints out, const Ints& in, Int distance) {
  out[idx] = in[idx] + where(cast<int>(idx) >= distance, in[idx - distance], 0);
}
void scanStepByIf(Ints out, const Ints& in, Int distance) {
  Int v = in[idx];
  if_(idx >= distance) {
    v += in[idx - distance];
  }
  out[idx] = v;
}
void halve(Ints a, Int half) { a[idx] += a[idx + half]; }
void upSweep(Ints a, Int d) { a[idx * 2 * d + 2 * d - 1] += a[idx * 2 * d + d - 1]; }

void bitonicStep(Ints a, Uint j, Uint k) {
  Uint i = idx;
  Uint other = i ^ j;
  if_(other > i) {
    Int x = a[i], y = a[other];
    if_(((i & k) == 0u && x > y) || ((i & k) != 0u && x < y)) {
      a[i] = y;
      a[other] = x;
    }
  }
}
void oddEvenStep(Ints a, Int phase) {
  Int i = 2 * idx + phase;
  Int x = a[i];
  Int y = a[i + 1];
  if_(x > y) {
    a[i] = y;
    a[i + 1] = x;
  }
}

void sieve(Array<unsigned char, 1> isComposite, Int n) {
  Int p = idx + 2;
  for_(Int j = p * 2, j < n, j += p) {
    isComposite[j] = 1;
  }
}

void countBytes(Ints counts, const Array<unsigned char, 1>& in) {
  Array<int, 1, Local> own(256);
  own[lidx] = 0;
  barrier(LOCAL);
  atomic_inc(own[in[idx]]);
  barrier(LOCAL);
  atomic_add(counts[lidx], own[lidx]);
}

void nBody(Floats force, const Floats& x, Int n) {
  Float sum = 0.0f;
  for_(Int j = 0, j < n, j++) {
    if_(j == cast<int>(idx)) {
      continue_;
    }
    Float d = x[j] - x[idx];
    sum += where(d > 0.0f, 1.0f, -1.0f) / (1.0f + d * d);
  }
  force[idx] = sum;
}

void turnLanes(Array<float4, 1> out, const Array<float4, 1>& in, Int n) {
  Float4 s = in[idx];
  for_(Int k = 0, k < n, k++) {
    s = swizzle<1, 2, 3, 0>(s) * 0.5f + in[(idx + k) % szx];
  }
  s.x = dot(s, in[idx]);
  out[idx] = s;
}

}  // namespace

TEST_CASE("elements by an array of positions, read and written") {
  const int n = 777;
  std::vector<int> places(n);
  std::iota(places.begin(), places.end(), 0);
  std::shuffle(places.begin(), places.end(), std::mt19937(1));
  const auto in = numbers<float>(n, -50, 50);
  const Ints at = arrayOf(places, n);
  Floats gathered(n), scattered(n);
  onAll(gather)(gathered, arrayOf(in, n), at);
  eval(scatter)(scattered, gathered, at);
  for (std::size_t i = 0; i < in.size(); ++i)
    REQUIRE(gathered(i) == in[static_cast<std::size_t>(places[i])]);
  CHECK(valuesOf(scattered) == in);
}

TEST_CASE("elements with reversed bits, interleaved, and backwards") {
  const int n = 512;
  const auto in = numbers<int>(n, -999, 999);
  const Ints a = arrayOf(in, n);
  Ints bits(n), both(2 * n), backwards(n);
  eval(reverseBits)(bits, a, 9);
  onAll(interleave).global(n)(both, a);
  eval(reverse)(backwards, a);
  for (int i = 0; i < n; ++i) {
    int reversed = 0;
    for (int b = 0; b < 9; ++b) reversed |= (i >> b & 1) << (8 - b);
    const int value = in[static_cast<std::size_t>(i)];
    REQUIRE(bits(reversed) == value);
    REQUIRE(both(2 * i) == value);
    REQUIRE(both(2 * i + 1) == -value);
    REQUIRE(backwards(n - 1 - i) == value + 1);
  }
}

TEST_CASE("neighbours on a ring, however a kernel says where it goes on") {
  for (const int n : {64, 100, 1, 2, 1000}) {
    CAPTURE(n);
    const auto in = numbers<int>(static_cast<std::size_t>(n), -99, 99);
    const Ints a = arrayOf(in, n);
    std::vector<int> expected;
    for (int i = 0; i < n; ++i)
      expected.push_back(in[static_cast<std::size_t>((i + n - 1) % n)] * 3 +
                         in[static_cast<std::size_t>((i + 1) % n)] -
                         in[static_cast<std::size_t>(i)]);
    for (const auto ring : {ringByBranches, ringByRemainder, ringOfInts, ringByWhere}) {
      Ints out(n);
      onAll(ring)(out, a, n);
      REQUIRE(valuesOf(out) == expected);
    }
  }
}

TEST_CASE("prefix sums step by step, and sums by halves and as a tree") {
  const int n = 512;
  const auto in = numbers<int>(n, -9, 9);
  std::vector<int> sums(n);
  std::partial_sum(in.begin(), in.end(), sums.begin());
  for (const auto step : {scanStep, scanStepByIf}) {
    Ints now = arrayOf(in, n), next(n);
    for (int distance = 1; distance < n; distance *= 2) {
      onAll(step)(next, now, distance);
      swap(now, next);
    }
    CHECK(valuesOf(now) == sums);
  }
  Ints halves = arrayOf(in, n), tree = arrayOf(in, n);
  for (int half = n / 2; half > 0; half /= 2) eval(halve).global(half)(halves, half);
  CHECK(halves(0) == sums.back());
  for (int d = 1; d < n; d *= 2) eval(upSweep).global(n / (2 * d))(tree, d);
  CHECK(tree(n - 1) == sums.back());
}

TEST_CASE("a bitonic sort, and one of odd and even pairs") {
  const int n = 256;
  auto sorted = numbers<int>(n, -999, 999);
  Ints a = arrayOf(sorted, n), b = arrayOf(sorted, n);
  std::sort(sorted.begin(), sorted.end());
  for (unsigned k = 2; k <= n; k *= 2)
    for (unsigned j = k / 2; j > 0; j /= 2) eval(bitonicStep)(a, j, k);
  CHECK(valuesOf(a) == sorted);
  for (int step = 0; step < n; ++step) eval(oddEvenStep).global((n - step % 2) / 2)(b, step % 2);
  CHECK(valuesOf(b) == sorted);
}

TEST_CASE("the sieve of Eratosthenes, a histogram in local memory, and forces between all pairs") {
  const int n = 1000;
  Array<unsigned char, 1> isComposite(n);
  isComposite = 0;
  eval(sieve).global(32)(isComposite, n);
  for (int i = 4; i < n; ++i) {
    bool isDivided = false;
    for (int p = 2; p * p <= i; ++p) isDivided = isDivided || i % p == 0;
    REQUIRE((isComposite(i) == 1) == isDivided);
  }

  const auto bytes = numbers<unsigned char>(4096, 0, 255);
  Ints counts(256);
  counts = 0;
  eval(countBytes).global(4096).local(256)(counts, arrayOf(bytes, 4096));
  for (int value = 0; value < 256; ++value)
    REQUIRE(counts(value) == std::count(bytes.begin(), bytes.end(), value));

  const int bodies = 333;
  const auto x = numbers<float>(bodies, -50, 50);
  std::vector<float> expected;
  for (std::size_t i = 0; i < x.size(); ++i) {
    float sum = 0;
    for (std::size_t j = 0; j < x.size(); ++j) {
      const float d = x[j] - x[i];
      if (j != i) sum += (d > 0 ? 1.0f : -1.0f) / (1.0f + d * d);
    }
    expected.push_back(sum);
  }
  Floats force(bodies);
  onAll(nBody)(force, arrayOf(x, bodies), bodies);
  CHECK(areNear(valuesOf(force), expected, 1e-5));
}

TEST_CASE("vectors of four whose lanes go round") {
  using Four = std::array<float, 4>;
  const int n = 64;
  const auto in = numbers<float>(4 * n, -4, 4);
  Array<float4, 1> a(n), out(n);
  for (int i = 0; i < n; ++i) {
    const float* lanes = &in[static_cast<std::size_t>(4 * i)];
    a(i) = float4{lanes[0], lanes[1], lanes[2], lanes[3]};
  }
  onAll(turnLanes)(out, a, 3);
  const auto lane = [&](int i, int k) { return in[static_cast<std::size_t>(4 * (i % n) + k)]; };
  for (int i = 0; i < n; ++i) {
    Four s{lane(i, 0), lane(i, 1), lane(i, 2), lane(i, 3)};
    for (int k = 0; k < 3; ++k) {
      Four turned{};
      for (int l = 0; l < 4; ++l)
        turned[static_cast<std::size_t>(l)] =
            s[static_cast<std::size_t>((l + 1) % 4)] * 0.5f + lane(i + k, l);
      s = turned;
    }
    float sum = 0;
    for (int l = 0; l < 4; ++l) sum += s[static_cast<std::size_t>(l)] * lane(i, l);
    const float4 got = out(i);
    REQUIRE(got == float4{sum, s[1], s[2], s[3]});
  }
}

}  // namespace vectors_tests
