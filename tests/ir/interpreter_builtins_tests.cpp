// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "tests/ir/evaluate.h"

using namespace hpl::ir;
using namespace hpl::ir::test;

namespace {

__extension__ typedef __int128 Wide;

using Float4 = std::array<float, 4>;
using Int4 = std::array<std::int32_t, 4>;
using Uint4 = std::array<std::uint32_t, 4>;

#define B(name) Builtin::name##_

template <class T>
T clampTo(Wide value) {
  if (value > std::numeric_limits<T>::max()) return std::numeric_limits<T>::max();
  if (value < std::numeric_limits<T>::min()) return std::numeric_limits<T>::min();
  return static_cast<T>(value);
}

/// Integer built-ins of one and two arguments against their definition in 128-bit arithmetic.
template <class T>
void checkPair(T x, T y) {
  using U = std::make_unsigned_t<T>;
  const int width = static_cast<int>(8 * sizeof(T));
  const Wide a = x;
  const Wide b = y;
  INFO(toString(typeOf<T>()) << " " << +x << " " << +y);
  CHECK(evaluate<U>(B(abs), x) == static_cast<U>(a < 0 ? -a : a));
  CHECK(evaluate<U>(B(abs_diff), x, y) == static_cast<U>(a > b ? a - b : b - a));
  CHECK(evaluate<T>(B(add_sat), x, y) == clampTo<T>(a + b));
  CHECK(evaluate<T>(B(sub_sat), x, y) == clampTo<T>(a - b));
  CHECK(evaluate<T>(B(hadd), x, y) == static_cast<T>((a + b) >> 1));
  CHECK(evaluate<T>(B(rhadd), x, y) == static_cast<T>((a + b + 1) >> 1));
  CHECK(evaluate<T>(B(max), x, y) == (x < y ? y : x));
  CHECK(evaluate<T>(B(min), x, y) == (x < y ? x : y));
  int zeros = 0;
  while (zeros < width && (static_cast<U>(x) >> (width - 1 - zeros) & 1) == 0) ++zeros;
  CHECK(evaluate<T>(B(clz), x) == static_cast<T>(zeros));
  int ones = 0;
  for (int bit = 0; bit < width; ++bit) ones += static_cast<int>(static_cast<U>(x) >> bit & 1);
  CHECK(evaluate<T>(B(popcount), x) == static_cast<T>(ones));
  const int by = static_cast<int>(static_cast<U>(y) % static_cast<unsigned>(width));
  U rotated = static_cast<U>(x);
  for (int k = 0; k < by; ++k) {
    rotated = static_cast<U>(static_cast<U>(rotated << 1) | static_cast<U>(rotated >> (width - 1)));
  }
  CHECK(evaluate<T>(B(rotate), x, y) == static_cast<T>(rotated));
  // High half by schoolbook multiplication of half-width digits.
  if (sizeof(T) < 8) {
    CHECK(evaluate<T>(B(mul_hi), x, y) == static_cast<T>((a * b) >> width));
    CHECK(evaluate<T>(B(mad_hi), x, y, T{3}) == static_cast<T>(((a * b) >> width) + 3));
    CHECK(evaluate<T>(B(mad_sat), x, y, T{3}) == clampTo<T>(a * b + 3));
  }
}

template <class T>
void checkIntegers() {
  std::mt19937_64 random(5);
  std::vector<T> values{0, 1, std::numeric_limits<T>::max(), std::numeric_limits<T>::min(),
                        static_cast<T>(-1)};
  for (int i = 0; i < 4; ++i) values.push_back(static_cast<T>(random()));
  for (const T x : values) {
    for (const T y : values) checkPair(x, y);
  }
}

}  // namespace

TEST_CASE("integer built-ins follow their definitions at every width") {
  checkIntegers<std::int8_t>();
  checkIntegers<std::uint8_t>();
  checkIntegers<std::int16_t>();
  checkIntegers<std::uint16_t>();
  checkIntegers<std::int32_t>();
  checkIntegers<std::uint32_t>();
  checkIntegers<std::int64_t>();
  checkIntegers<std::uint64_t>();
}

TEST_CASE("64-bit products use all 128 bits") {
  const std::uint64_t big = 0xffffffffffffffffULL;
  CHECK(evaluate<std::uint64_t>(B(mul_hi), big, big) == big - 1);
  CHECK(evaluate<std::uint64_t>(B(mul_hi), 1ULL << 40, 1ULL << 40) == 1ULL << 16);
  CHECK(evaluate<std::int64_t>(B(mul_hi), std::int64_t{-1}, std::int64_t{1}) == -1);
  CHECK(evaluate<std::uint64_t>(B(mad_sat), big, big, big) == big);
  CHECK(evaluate<std::uint64_t>(B(mad_sat), std::uint64_t{3}, std::uint64_t{4}, std::uint64_t{5}) == 17);
  CHECK(evaluate<std::int64_t>(B(mad_sat), std::numeric_limits<std::int64_t>::min(), std::int64_t{2},
                               std::int64_t{0}) == std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("the remaining integer built-ins") {
  CHECK(evaluate<std::int16_t>(B(upsample), std::int8_t{-2}, std::uint8_t{3}) == -509);
  CHECK(evaluate<std::uint64_t>(B(upsample), std::uint32_t{1}, std::uint32_t{2}) == 0x100000002ULL);
  CHECK(evaluate<std::int32_t>(B(mul24), std::int32_t{-5}, std::int32_t{7}) == -35);
  CHECK(evaluate<std::uint32_t>(B(mad24), std::uint32_t{5}, std::uint32_t{7}, std::uint32_t{1}) == 36);
  CHECK(evaluate<std::int32_t>(B(clamp), std::int32_t{9}, std::int32_t{-1}, std::int32_t{4}) == 4);
}

TEST_CASE("relational built-ins: 1 for scalars, all bits for lanes") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const Float4 x{1, 2, nan, inf};
  const Float4 y{1, 3, 1, -inf};
  CHECK(evaluate<Int4>(B(isequal), x, y) == Int4{-1, 0, 0, 0});
  CHECK(evaluate<Int4>(B(isnotequal), x, y) == Int4{0, -1, -1, -1});
  CHECK(evaluate<Int4>(B(isgreater), x, y) == Int4{0, 0, 0, -1});
  CHECK(evaluate<Int4>(B(isgreaterequal), x, y) == Int4{-1, 0, 0, -1});
  CHECK(evaluate<Int4>(B(isless), x, y) == Int4{0, -1, 0, 0});
  CHECK(evaluate<Int4>(B(islessequal), x, y) == Int4{-1, -1, 0, 0});
  CHECK(evaluate<Int4>(B(islessgreater), x, y) == Int4{0, -1, 0, -1});
  CHECK(evaluate<Int4>(B(isordered), x, y) == Int4{-1, -1, 0, -1});
  CHECK(evaluate<Int4>(B(isunordered), x, y) == Int4{0, 0, -1, 0});
  CHECK(evaluate<Int4>(B(isfinite), x) == Int4{-1, -1, 0, 0});
  CHECK(evaluate<Int4>(B(isinf), x) == Int4{0, 0, 0, -1});
  CHECK(evaluate<Int4>(B(isnan), x) == Int4{0, 0, -1, 0});
  CHECK(evaluate<Int4>(B(signbit), Float4{1, -1, -0.0f, 0}) == Int4{0, -1, -1, 0});
  CHECK(evaluate<Int4>(B(isnormal), Float4{1, 0, 1e-40f, inf}) == Int4{-1, 0, 0, 0});
  CHECK(evaluate<std::int32_t>(B(isequal), 1.0, 1.0) == 1);
  CHECK(evaluate<std::int32_t>(B(isnan), nan) == 1);
  CHECK(evaluate<std::int32_t>(B(isnormal), HalfBits{0x0001}) == 0);
  CHECK(evaluate<std::int32_t>(B(isnormal), HalfBits{0x0400}) == 1);
  using Long2 = std::array<std::int64_t, 2>;
  using Double2 = std::array<double, 2>;
  CHECK(evaluate<Long2>(B(isless), Double2{1, 2}, Double2{2, 1}) == Long2{-1, 0});
}

TEST_CASE("any and all look at the most significant bits of the lanes that exist") {
  using Int3 = std::array<std::int32_t, 3>;
  CHECK(evaluate<std::int32_t>(B(any), Int4{0, 1, 0, 0}) == 0);
  CHECK(evaluate<std::int32_t>(B(any), Int4{0, 1, 0, -5}) == 1);
  CHECK(evaluate<std::int32_t>(B(all), Int4{-1, -2, -3, 0}) == 0);
  CHECK(evaluate<std::int32_t>(B(all), Int3{-1, -2, -3}) == 1);
  CHECK(evaluate<std::int32_t>(B(all), std::int32_t{-1}) == 1);
  CHECK(evaluate<std::int32_t>(B(any), std::int32_t{1}) == 0);
}

TEST_CASE("select and bitselect choose their second argument where the third says so") {
  CHECK(evaluate<float>(B(select), 1.0f, 2.0f, std::int32_t{4}) == 2.0f);
  CHECK(evaluate<float>(B(select), 1.0f, 2.0f, std::int32_t{0}) == 1.0f);
  CHECK(evaluate<Float4>(B(select), Float4{1, 2, 3, 4}, Float4{5, 6, 7, 8}, Int4{-1, 1, 0, -7}) ==
        Float4{5, 2, 3, 8});
  CHECK(evaluate<std::uint8_t>(B(bitselect), std::uint8_t{0xaa}, std::uint8_t{0x55},
                               std::uint8_t{0x0f}) == 0xa5);
  CHECK(evaluate<float>(B(bitselect), 1.0f, -2.0f, -0.0f) == -1.0f);
}

TEST_CASE("geometric built-ins use the lanes that exist and do not overflow") {
  using Float2 = std::array<float, 2>;
  using Float3 = std::array<float, 3>;
  using Double3 = std::array<double, 3>;
  CHECK(evaluate<float>(B(dot), Float4{1, 2, 3, 4}, Float4{5, 6, 7, 8}) == 70.0f);
  CHECK(evaluate<float>(B(dot), Float3{1, 2, 3}, Float3{5, 6, 7}) == 38.0f);
  CHECK(evaluate<Float3>(B(cross), Float3{1, 0, 0}, Float3{0, 1, 0}) == Float3{0, 0, 1});
  CHECK(evaluate<Float4>(B(cross), Float4{0, 1, 2, 9}, Float4{3, 4, 5, 9}) == Float4{-3, 6, -3, 0});
  CHECK(evaluate<double>(B(distance), Double3{1, 1, 1}, Double3{2, 3, 3}) == 3.0);
  CHECK(evaluate<float>(B(length), Float2{3e30f, 4e30f}) == 5e30f);
  CHECK(evaluate<float>(B(fast_length), Float2{3, 4}) == 5.0f);
  CHECK(evaluate<float>(B(fast_distance), Float2{1, 1}, Float2{4, 5}) == 5.0f);
  CHECK(evaluate<Float2>(B(normalize), Float2{3, 4}) == Float2{0.6f, 0.8f});
  CHECK(evaluate<Float2>(B(fast_normalize), Float2{0, 0}) == Float2{0, 0});
}

TEST_CASE("shuffles take lanes modulo their number, as_type keeps the bits") {
  CHECK(evaluate<Float4>(B(shuffle), Float4{1, 2, 3, 4}, Uint4{3, 0, 6, 1}) == Float4{4, 1, 3, 2});
  using Float2 = std::array<float, 2>;
  CHECK(evaluate<Float4>(B(shuffle2), Float2{1, 2}, Float2{3, 4}, Uint4{3, 0, 2, 5}) ==
        Float4{4, 1, 3, 2});
  CHECK(evaluate<std::uint32_t>(B(as_type), 1.0f) == 0x3f800000u);
  CHECK(evaluate<float>(B(as_type), std::uint32_t{0xc0000000u}) == -2.0f);
  using Ushort2 = std::array<std::uint16_t, 2>;
  CHECK(evaluate<Ushort2>(B(as_type), std::uint32_t{0x00020001u}) == Ushort2{1, 2});
  CHECK(evaluate<std::uint64_t>(B(as_type), 1.0) == std::bit_cast<std::uint64_t>(1.0));
}

TEST_CASE("half and double values go through the same built-ins") {
  CHECK(evaluate<HalfBits>(B(sqrt), HalfBits{0x4400}).bits == 0x4000);
  CHECK(evaluate<HalfBits>(B(fma), HalfBits{0x4000}, HalfBits{0x4200}, HalfBits{0x3c00}).bits ==
        0x4700);
  CHECK(evaluate<HalfBits>(B(max), HalfBits{0xc000}, HalfBits{0x3c00}).bits == 0x3c00);
}
