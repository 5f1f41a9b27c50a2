// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "tests/ir/evaluate.h"

namespace interpreter_builtins_tests {

using namespace hpl::ir;
using namespace hpl::ir::test;

namespace {

__extension__ typedef __int128 Wide;

using Float4 = std::array<float, 4>;
using Int4 = std::array<std::int32_t, 4>;
using Uint4 = std::array<std::uint32_t, 4>;

using enum Builtin;

template <class T>
T clampTo(Wide value) {
  if (value > std::numeric_limits<T>::max()) return std::numeric_limits<T>::max();
  if (value < std::numeric_limits<T>::min()) return std::numeric_limits<T>::min();
  return static_cast<T>(value);
}

/// One instance of doctest's check per type, not per use: that is most of the compile time.
template <class T>
void same(const char* what, T result, T expected) {
  INFO(what);
  CHECK(result == expected);
}

/// Integer built-ins of one and two arguments against their definition in 128-bit arithmetic.
template <class T>
void checkPair(T x, T y) {
  using U = std::make_unsigned_t<T>;
  const int width = static_cast<int>(8 * sizeof(T));
  const Wide a = x;
  const Wide b = y;
  INFO(toString(typeOf<T>()) << " " << +x << " " << +y);
  same<U>("abs", evaluate<U>(abs_, x), static_cast<U>(a < 0 ? -a : a));
  same<U>("abs_diff", evaluate<U>(abs_diff_, x, y), static_cast<U>(a > b ? a - b : b - a));
  same<T>("add_sat", evaluate<T>(add_sat_, x, y), clampTo<T>(a + b));
  same<T>("sub_sat", evaluate<T>(sub_sat_, x, y), clampTo<T>(a - b));
  same<T>("hadd", evaluate<T>(hadd_, x, y), static_cast<T>((a + b) >> 1));
  same<T>("rhadd", evaluate<T>(rhadd_, x, y), static_cast<T>((a + b + 1) >> 1));
  same<T>("max", evaluate<T>(max_, x, y), (x < y ? y : x));
  same<T>("min", evaluate<T>(min_, x, y), (x < y ? x : y));
  int zeros = 0;
  while (zeros < width && (static_cast<U>(x) >> (width - 1 - zeros) & 1) == 0) ++zeros;
  same<T>("clz", evaluate<T>(clz_, x), static_cast<T>(zeros));
  int ones = 0;
  for (int bit = 0; bit < width; ++bit) ones += static_cast<int>(static_cast<U>(x) >> bit & 1);
  same<T>("popcount", evaluate<T>(popcount_, x), static_cast<T>(ones));
  const int by = static_cast<int>(static_cast<U>(y) % static_cast<unsigned>(width));
  U rotated = static_cast<U>(x);
  for (int k = 0; k < by; ++k) {
    rotated = static_cast<U>(static_cast<U>(rotated << 1) | static_cast<U>(rotated >> (width - 1)));
  }
  same<T>("rotate", evaluate<T>(rotate_, x, y), static_cast<T>(rotated));
  // The products of 64-bit integers need more than a signed 128-bit number; see below.
  if (sizeof(T) < 8) {
    same<T>("mul_hi", evaluate<T>(mul_hi_, x, y), static_cast<T>((a * b) >> width));
    same<T>("mad_hi", evaluate<T>(mad_hi_, x, y, T{3}), static_cast<T>(((a * b) >> width) + 3));
    same<T>("mad_sat", evaluate<T>(mad_sat_, x, y, T{3}), clampTo<T>(a * b + 3));
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
  CHECK(evaluate<std::uint64_t>(mul_hi_, big, big) == big - 1);
  CHECK(evaluate<std::uint64_t>(mul_hi_, 1ULL << 40, 1ULL << 40) == 1ULL << 16);
  CHECK(evaluate<std::int64_t>(mul_hi_, std::int64_t{-1}, std::int64_t{1}) == -1);
  CHECK(evaluate<std::uint64_t>(mad_sat_, big, big, big) == big);
  CHECK(evaluate<std::uint64_t>(mad_sat_, std::uint64_t{3}, std::uint64_t{4}, std::uint64_t{5}) ==
        17);
  CHECK(evaluate<std::int64_t>(mad_sat_, std::numeric_limits<std::int64_t>::min(), std::int64_t{2},
                               std::int64_t{0}) == std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("the remaining integer built-ins") {
  CHECK(evaluate<std::int16_t>(upsample_, std::int8_t{-2}, std::uint8_t{3}) == -509);
  CHECK(evaluate<std::uint64_t>(upsample_, std::uint32_t{1}, std::uint32_t{2}) == 0x100000002ULL);
  CHECK(evaluate<std::int32_t>(mul24_, std::int32_t{-5}, std::int32_t{7}) == -35);
  CHECK(evaluate<std::uint32_t>(mad24_, std::uint32_t{5}, std::uint32_t{7}, std::uint32_t{1}) ==
        36);
  CHECK(evaluate<std::int32_t>(clamp_, std::int32_t{9}, std::int32_t{-1}, std::int32_t{4}) == 4);
}

TEST_CASE("relational built-ins: 1 for scalars, all bits for lanes") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const Float4 x{1, 2, nan, inf};
  const Float4 y{1, 3, 1, -inf};
  CHECK(evaluate<Int4>(isequal_, x, y) == Int4{-1, 0, 0, 0});
  CHECK(evaluate<Int4>(isnotequal_, x, y) == Int4{0, -1, -1, -1});
  CHECK(evaluate<Int4>(isgreater_, x, y) == Int4{0, 0, 0, -1});
  CHECK(evaluate<Int4>(isgreaterequal_, x, y) == Int4{-1, 0, 0, -1});
  CHECK(evaluate<Int4>(isless_, x, y) == Int4{0, -1, 0, 0});
  CHECK(evaluate<Int4>(islessequal_, x, y) == Int4{-1, -1, 0, 0});
  CHECK(evaluate<Int4>(islessgreater_, x, y) == Int4{0, -1, 0, -1});
  CHECK(evaluate<Int4>(isordered_, x, y) == Int4{-1, -1, 0, -1});
  CHECK(evaluate<Int4>(isunordered_, x, y) == Int4{0, 0, -1, 0});
  CHECK(evaluate<Int4>(isfinite_, x) == Int4{-1, -1, 0, 0});
  CHECK(evaluate<Int4>(isinf_, x) == Int4{0, 0, 0, -1});
  CHECK(evaluate<Int4>(isnan_, x) == Int4{0, 0, -1, 0});
  CHECK(evaluate<Int4>(signbit_, Float4{1, -1, -0.0f, 0}) == Int4{0, -1, -1, 0});
  CHECK(evaluate<Int4>(isnormal_, Float4{1, 0, 1e-40f, inf}) == Int4{-1, 0, 0, 0});
  CHECK(evaluate<std::int32_t>(isequal_, 1.0, 1.0) == 1);
  CHECK(evaluate<std::int32_t>(isnan_, nan) == 1);
  CHECK(evaluate<std::int32_t>(isnormal_, HalfBits{0x0001}) == 0);
  CHECK(evaluate<std::int32_t>(isnormal_, HalfBits{0x0400}) == 1);
  using Long2 = std::array<std::int64_t, 2>;
  using Double2 = std::array<double, 2>;
  CHECK(evaluate<Long2>(isless_, Double2{1, 2}, Double2{2, 1}) == Long2{-1, 0});
}

TEST_CASE("any and all look at the most significant bits of the lanes that exist") {
  using Int3 = std::array<std::int32_t, 3>;
  CHECK(evaluate<std::int32_t>(any_, Int4{0, 1, 0, 0}) == 0);
  CHECK(evaluate<std::int32_t>(any_, Int4{0, 1, 0, -5}) == 1);
  CHECK(evaluate<std::int32_t>(all_, Int4{-1, -2, -3, 0}) == 0);
  CHECK(evaluate<std::int32_t>(all_, Int3{-1, -2, -3}) == 1);
  CHECK(evaluate<std::int32_t>(all_, std::int32_t{-1}) == 1);
  CHECK(evaluate<std::int32_t>(any_, std::int32_t{1}) == 0);
}

TEST_CASE("select and bitselect choose their second argument where the third says so") {
  CHECK(evaluate<float>(select_, 1.0f, 2.0f, std::int32_t{4}) == 2.0f);
  CHECK(evaluate<float>(select_, 1.0f, 2.0f, std::int32_t{0}) == 1.0f);
  CHECK(evaluate<Float4>(select_, Float4{1, 2, 3, 4}, Float4{5, 6, 7, 8}, Int4{-1, 1, 0, -7}) ==
        Float4{5, 2, 3, 8});
  CHECK(evaluate<std::uint8_t>(bitselect_, std::uint8_t{0xaa}, std::uint8_t{0x55},
                               std::uint8_t{0x0f}) == 0xa5);
  CHECK(evaluate<float>(bitselect_, 1.0f, -2.0f, -0.0f) == -1.0f);
}

TEST_CASE("geometric built-ins use the lanes that exist and do not overflow") {
  using Float2 = std::array<float, 2>;
  using Float3 = std::array<float, 3>;
  using Double3 = std::array<double, 3>;
  CHECK(evaluate<float>(dot_, Float4{1, 2, 3, 4}, Float4{5, 6, 7, 8}) == 70.0f);
  CHECK(evaluate<float>(dot_, Float3{1, 2, 3}, Float3{5, 6, 7}) == 38.0f);
  CHECK(evaluate<Float3>(cross_, Float3{1, 0, 0}, Float3{0, 1, 0}) == Float3{0, 0, 1});
  CHECK(evaluate<Float4>(cross_, Float4{0, 1, 2, 9}, Float4{3, 4, 5, 9}) == Float4{-3, 6, -3, 0});
  CHECK(evaluate<double>(distance_, Double3{1, 1, 1}, Double3{2, 3, 3}) == 3.0);
  CHECK(evaluate<float>(length_, Float2{3e30f, 4e30f}) == 5e30f);
  CHECK(evaluate<float>(fast_length_, Float2{3, 4}) == 5.0f);
  CHECK(evaluate<float>(fast_distance_, Float2{1, 1}, Float2{4, 5}) == 5.0f);
  CHECK(evaluate<Float2>(normalize_, Float2{3, 4}) == Float2{0.6f, 0.8f});
  CHECK(evaluate<Float2>(fast_normalize_, Float2{0, 0}) == Float2{0, 0});
}

TEST_CASE("shuffles take lanes modulo their number, as_type keeps the bits") {
  CHECK(evaluate<Float4>(shuffle_, Float4{1, 2, 3, 4}, Uint4{3, 0, 6, 1}) == Float4{4, 1, 3, 2});
  using Float2 = std::array<float, 2>;
  CHECK(evaluate<Float4>(shuffle2_, Float2{1, 2}, Float2{3, 4}, Uint4{3, 0, 2, 5}) ==
        Float4{4, 1, 3, 2});
  CHECK(evaluate<std::uint32_t>(as_type_, 1.0f) == 0x3f800000u);
  CHECK(evaluate<float>(as_type_, std::uint32_t{0xc0000000u}) == -2.0f);
  using Ushort2 = std::array<std::uint16_t, 2>;
  CHECK(evaluate<Ushort2>(as_type_, std::uint32_t{0x00020001u}) == Ushort2{1, 2});
  CHECK(evaluate<std::uint64_t>(as_type_, 1.0) == std::bit_cast<std::uint64_t>(1.0));
}

TEST_CASE("half and double values go through the same built-ins") {
  CHECK(evaluate<HalfBits>(sqrt_, HalfBits{0x4400}).bits == 0x4000);
  CHECK(evaluate<HalfBits>(fma_, HalfBits{0x4000}, HalfBits{0x4200}, HalfBits{0x3c00}).bits ==
        0x4700);
  CHECK(evaluate<HalfBits>(max_, HalfBits{0xc000}, HalfBits{0x3c00}).bits == 0x3c00);
}

}  // namespace interpreter_builtins_tests
