// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "hpl/array/scalar.h"
#include "hpl/lang/math.h"

/// Random numbers that are functions of a counter and a key: Philox4x32-10 (Salmon et al., Parallel
/// random numbers: as easy as 1, 2, 3, SC 2011). Nothing is stored and nothing has an order, so a
/// program gets the same numbers on the host and on any number of devices:
///
///     Random random(seed, idx, step);        // in a kernel: by place and step
///     Float u = random.uniform();            // [0, 1)
///     Float v = random.normal();
///
///     HostRandom random(seed, i, step);      // the same numbers on the host
namespace hpl {

/// Four random words from a counter of four and a key of two, on the host.
constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                              std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {
        static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
        static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

/// The same in a kernel: replaces the counter by the random words.
inline void philox(Uint& c0, Uint& c1, Uint& c2, Uint& c3, Uint key0, Uint key1) {
  for (int round = 0; round < 10; ++round) {
    Uint highA = mul_hi(c0, 0xD2511F53u), lowA = c0 * 0xD2511F53u;
    Uint highB = mul_hi(c2, 0xCD9E8D57u), lowB = c2 * 0xCD9E8D57u;
    c0 = highB ^ c1 ^ key0;
    c1 = lowB;
    c2 = highA ^ c3 ^ key1;
    c3 = lowA;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
}

namespace detail {

/// 24 and 53 random bits as numbers in [0, 1).
inline constexpr float kPerFloat = 0x1p-24f;
inline constexpr double kPerDouble = 0x1p-53;

}  // namespace detail

/// A sequence of random numbers in a kernel. Place and step tell sequences apart, as do seeds; each
/// call of a member takes the sequence's next four random words, whatever it makes of them, in
/// loops and branches, too. Two objects with the same seed, place and step give the same numbers.
class Random {
 public:
  /// `seed` and `place` (the position in the whole array, for example) count 64 bits, `step` 32.
  template <Operand S, Operand P, Operand T>
  Random(const S& seed, const P& place, const T& step)
      : key0_(low(wide(seed))),
        key1_(high(wide(seed))),
        place0_(low(wide(place))),
        place1_(high(wide(place))),
        step_(cast<unsigned>(wide(step))),
        draw_(0u) {}
  /// Step 0.
  template <Operand S, Operand P>
  Random(const S& seed, const P& place) : Random(seed, place, 0u) {}
  Random(const Random&) = delete;
  Random& operator=(const Random&) = delete;

  /// 32 random bits.
  Uint bits() { return Uint(next().c0); }
  /// All four words.
  Uint4 bits4() {
    const Words w = next();
    return Uint4(make<uint4>(w.c0, w.c1, w.c2, w.c3));
  }
  /// Uniform in [0, 1): a multiple of 2^-24, the same bits as HostRandom's.
  Float uniform() { return Float(real(next().c0)); }
  Float4 uniform4() {
    const Words w = next();
    return Float4(make<float4>(real(w.c0), real(w.c1), real(w.c2), real(w.c3)));
  }
  /// A multiple of 2^-53.
  Double uniformDouble() {
    const Words w = next();
    return Double(wideReal(w.c0, w.c1));
  }
  /// Normally distributed, with mean 0 and variance 1 (Box and Muller's method); equals
  /// HostRandom's up to the rounding of log, cos and sqrt.
  Float normal() {
    const Words w = next();
    return Float(sqrt(-2.0f * log(1.0f - real(w.c0))) * cospi(2.0f * real(w.c1)));
  }
  Double normalDouble() {
    const Words w = next();
    return Double(sqrt(-2.0 * log(1.0 - wideReal(w.c0, w.c1))) * cospi(2.0 * wideReal(w.c2, w.c3)));
  }

 private:
  struct Words {
    Uint c0, c1, c2, c3;
  };

  template <class X>
  static Expr<unsigned long> wide(const X& x) {
    return Expr<unsigned long>(detail::castNode(detail::nodeOf(x), irType<unsigned long>()));
  }
  static Expr<unsigned> low(const Expr<unsigned long>& x) { return cast<unsigned>(x); }
  static Expr<unsigned> high(const Expr<unsigned long>& x) { return cast<unsigned>(x >> 32); }
  static Expr<float> real(const Uint& word) { return cast<float>(word >> 8) * detail::kPerFloat; }
  static Expr<double> wideReal(const Uint& first, const Uint& second) {
    return cast<double>((cast<unsigned long>(first) << 32 | cast<unsigned long>(second)) >> 11) *
           detail::kPerDouble;
  }

  Words next() {
    Words words{place0_, place1_, step_, draw_};
    philox(words.c0, words.c1, words.c2, words.c3, key0_, key1_);
    draw_ += 1u;
    return words;
  }

  Uint key0_, key1_, place0_, place1_, step_, draw_;
};

/// The sequence of Random on the host.
class HostRandom {
 public:
  constexpr HostRandom(std::uint64_t seed, std::uint64_t place, std::uint32_t step = 0)
      : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
        counter_{static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(place >> 32), step,
                 0} {}

  constexpr std::uint32_t bits() { return next()[0]; }
  constexpr std::array<std::uint32_t, 4> bits4() { return next(); }
  constexpr float uniform() { return real(next()[0]); }
  constexpr std::array<float, 4> uniform4() {
    const auto w = next();
    return {real(w[0]), real(w[1]), real(w[2]), real(w[3])};
  }
  constexpr double uniformDouble() {
    const auto w = next();
    return wideReal(w[0], w[1]);
  }
  float normal() {
    const auto w = next();
    return std::sqrt(-2.0f * std::log(1.0f - real(w[0]))) *
           std::cos(2.0f * std::numbers::pi_v<float> * real(w[1]));
  }
  double normalDouble() {
    const auto w = next();
    return std::sqrt(-2.0 * std::log(1.0 - wideReal(w[0], w[1]))) *
           std::cos(2.0 * std::numbers::pi * wideReal(w[2], w[3]));
  }

 private:
  static constexpr float real(std::uint32_t word) {
    return static_cast<float>(word >> 8) * detail::kPerFloat;
  }
  static constexpr double wideReal(std::uint32_t first, std::uint32_t second) {
    return static_cast<double>((std::uint64_t{first} << 32 | second) >> 11) * detail::kPerDouble;
  }
  constexpr std::array<std::uint32_t, 4> next() {
    const auto words = philox(counter_, key_);
    ++counter_[3];
    return words;
  }

  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
};

}  // namespace hpl
