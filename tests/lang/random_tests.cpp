// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>

#include "hpl/hpl.h"

namespace random_tests {

using namespace hpl;

namespace {

bool haveDoubles() { return defaultDevice().getProperties().hasDouble; }

using Counter = std::array<std::uint32_t, 4>;
using Key = std::array<std::uint32_t, 2>;
struct KnownAnswer {
  Counter counter;
  Key key;
  Counter words;
};
// Random123's file of known answers, philox4x32 with 10 rounds.
constexpr KnownAnswer kKnown[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}};

void philoxOfTable(Array<unsigned, 2> words, const Array<unsigned, 2>& keys) {
  Uint c0 = words[idy][0], c1 = words[idy][1], c2 = words[idy][2], c3 = words[idy][3];
  philox(c0, c1, c2, c3, keys[idy][0], keys[idy][1]);
  words[idy][0] = c0;
  words[idy][1] = c1;
  words[idy][2] = c2;
  words[idy][3] = c3;
}

void draw(Array<float, 2> out, Ulong seed, Uint step) {
  Random random(seed, idy + (1ul << 40), step);
  Int k;
  for_(k = 0, k < 8, k++) {
    if_(k % 3 == 1) {
      out[idy][k] = random.uniform();
    }
    else_ {
      Float4 four = random.uniform4();
      out[idy][k] = four.y + four.w;
    }
  }
}

void drawNormal(Array<float, 1> out, Ulong seed) {
  Random random(seed, idx);
  out[idx] = random.normal();
}

void drawDoubles(Array<double, 2> out, Ulong seed, Uint step) {
  Random random(seed, idy, step);
  out[idy][0] = random.uniformDouble();
  out[idy][1] = random.normalDouble();
}

}  // namespace

TEST_CASE("philox gives the known answers of its authors, on the host and in kernels") {
  Array<unsigned, 2> words(3, 4), keys(3, 2), interpreted(3, 4);
  for (int i = 0; i < 3; ++i) {
    CHECK(philox(kKnown[i].counter, kKnown[i].key) == kKnown[i].words);
    for (std::size_t k = 0; k < 4; ++k) words(i, k) = interpreted(i, k) = kKnown[i].counter[k];
    for (std::size_t k = 0; k < 2; ++k) keys(i, k) = kKnown[i].key[k];
  }
  eval(philoxOfTable).global(1, 3)(words, keys);
  eval(philoxOfTable).global(1, 3).interpret(interpreted, keys);
  for (int i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 4; ++k) {
      CHECK(words(i, k) == kKnown[i].words[k]);
      CHECK(interpreted(i, k) == kKnown[i].words[k]);
    }
}

TEST_CASE("kernels draw the numbers of the host, in loops and branches, on all devices") {
  const unsigned long seed = 0x123456789abcdef0ul;
  Array<float, 2> out(300, 8);
  for (const unsigned step : {0u, 7u}) {
    eval(draw).global(1, 300)(out, seed, step);
    for (std::uint64_t i = 0; i < 300; ++i) {
      HostRandom random(seed, i + (1ul << 40), step);
      for (int k = 0; k < 8; ++k) {
        float expected = 0;
        if (k % 3 == 1) {
          expected = random.uniform();
        } else {
          const auto four = random.uniform4();
          expected = four[1] + four[3];
        }
        CHECK(out(i, k) == expected);
      }
    }
  }
  if (!haveDoubles()) return;
  Array<double, 2> doubles(300, 2);
  eval(drawDoubles).global(1, 300)(doubles, seed, 5u);
  for (std::uint64_t i = 0; i < 300; ++i) {
    HostRandom random(seed, i, 5);
    CHECK(doubles(i, 0) == random.uniformDouble());
    CHECK(doubles(i, 1) == doctest::Approx(random.normalDouble()).epsilon(1e-12));
  }
}

TEST_CASE("uniform and normal numbers have the mean, the variance and the tails that they should") {
  const int n = 200'000;
  Array<float, 1> normal(n);
  eval(drawNormal)(normal, 42ul);
  double mean = 0, square = 0, fourth = 0, uniform = 0, uniformSquare = 0;
  for (int i = 0; i < n; ++i) {
    const double z = normal(i);
    HostRandom random(42, static_cast<std::uint64_t>(i));
    if (i % 100 == 0) CHECK(z == doctest::Approx(random.normal()).epsilon(1e-4));
    mean += z;
    square += z * z;
    fourth += z * z * z * z;
    const float u = HostRandom(43, static_cast<std::uint64_t>(i)).uniform();
    REQUIRE(u >= 0.0f);
    REQUIRE(u < 1.0f);
    uniform += u;
    uniformSquare += u * u;
  }
  // Five standard deviations of each estimate.
  const double root = std::sqrt(static_cast<double>(n));
  CHECK(std::fabs(mean / n) < 5 / root);
  CHECK(std::fabs(square / n - 1) < 5 * std::sqrt(2.0) / root);
  CHECK(std::fabs(fourth / n - 3) < 5 * std::sqrt(96.0) / root);
  CHECK(std::fabs(uniform / n - 0.5) < 5 * std::sqrt(1.0 / 12) / root);
  CHECK(std::fabs(uniformSquare / n - 1.0 / 3) < 5 * std::sqrt(4.0 / 45) / root);
}

}  // namespace random_tests
