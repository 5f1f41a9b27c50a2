// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <limits>

#include "hpl/ir/detail/interpreter/lanes.h"

/// Sections 6.12.3 (integer) and 6.12.4 (common functions, which also serve integers).
namespace hpl::ir::detail {
namespace {

__extension__ typedef __int128 Wide;

template <class T>
T saturate(Wide value) {
  using Limits = std::numeric_limits<T>;
  return static_cast<T>(
      std::clamp(value, static_cast<Wide>(Limits::min()), static_cast<Wide>(Limits::max())));
}

/// `F` on exact 128-bit values; the result is wrapped to the result's type.
template <class F>
Operation wide1(const Shape& shape, F) {
  return forInteger(shape.args[0].scalar, []<class T>() {
    return lanewise<T, T>([](T x) { return F{}(static_cast<Wide>(x)); });
  });
}
template <class F>
Operation wide2(const Shape& shape, F) {
  return forInteger(shape.args[0].scalar, []<class T>() {
    return lanewise<T, T, T>(
        [](T x, T y) { return F{}(static_cast<Wide>(x), static_cast<Wide>(y)); });
  });
}

/// High half of the exact product. Products of two ulongs exceed a signed 128-bit number.
template <class T>
T highProduct(T x, T y) {
  if constexpr (std::is_same_v<T, std::uint64_t>) {
    __extension__ typedef unsigned __int128 Unsigned;
    return static_cast<T>((static_cast<Unsigned>(x) * static_cast<Unsigned>(y)) >> 64);
  } else {
    return static_cast<T>((static_cast<Wide>(x) * static_cast<Wide>(y)) >> kBits<T>);
  }
}

template <class T>
T multiplyAddSaturated(T x, T y, T z) {
  if constexpr (std::is_same_v<T, std::uint64_t>) {
    __extension__ typedef unsigned __int128 Unsigned;
    const Unsigned sum = static_cast<Unsigned>(x) * static_cast<Unsigned>(y) + z;
    return sum > std::numeric_limits<T>::max() ? std::numeric_limits<T>::max()
                                               : static_cast<T>(sum);
  } else {
    return saturate<T>(static_cast<Wide>(x) * y + z);
  }
}

template <class T>
T rotated(T x, T by) {
  using U = std::make_unsigned_t<T>;
  const int amount = static_cast<int>(static_cast<U>(by) & static_cast<U>(kBits<T> - 1));
  return static_cast<T>(std::rotl(static_cast<U>(x), amount));
}

/// `result = (high << bits) | low`: the result has twice the width of the arguments.
template <class R, class H, class L>
Operation upsampleLanes() {
  return lanewise<R, H, L>(
      [](H high, L low) { return (static_cast<std::uint64_t>(high) << kBits<L>) | low; });
}

Operation upsample(const Shape& shape) {
  if (sizeOf(shape.args[0].scalar) != sizeOf(shape.args[1].scalar) ||
      sizeOf(shape.result.scalar) != 2 * sizeOf(shape.args[0].scalar)) {
    return nullptr;
  }
  switch (sizeOf(shape.args[0].scalar)) {
    case 1:
      return upsampleLanes<std::uint16_t, std::uint8_t, std::uint8_t>();
    case 2:
      return upsampleLanes<std::uint32_t, std::uint16_t, std::uint16_t>();
    case 4:
      return upsampleLanes<std::uint64_t, std::uint32_t, std::uint32_t>();
    default:
      return nullptr;
  }
}

Operation threeIntegers(Builtin builtin, const Shape& shape) {
  return forInteger(shape.args[0].scalar, [&]<class T>() -> Operation {
    switch (builtin) {
      case Builtin::mad_hi_:
        return lanewise<T, T, T, T>([](T x, T y, T z) {
          return static_cast<std::uint64_t>(highProduct(x, y)) + static_cast<std::uint64_t>(z);
        });
      case Builtin::mad_sat_:
        return lanewise<T, T, T, T>([](T x, T y, T z) { return multiplyAddSaturated(x, y, z); });
      case Builtin::mad24_:
        return lanewise<T, T, T, T>([](T x, T y, T z) {
          using W = Wrapping<T>;
          return static_cast<W>(x) * static_cast<W>(y) + static_cast<W>(z);
        });
      default:
        return nullptr;
    }
  });
}

Operation oneTypeIntegers(Builtin builtin, const Shape& shape) {
  return forInteger(shape.args[0].scalar, [&]<class T>() -> Operation {
    using U = std::make_unsigned_t<T>;
    switch (builtin) {
      case Builtin::add_sat_:
        return lanewise<T, T, T>([](T x, T y) { return saturate<T>(static_cast<Wide>(x) + y); });
      case Builtin::sub_sat_:
        return lanewise<T, T, T>([](T x, T y) { return saturate<T>(static_cast<Wide>(x) - y); });
      case Builtin::clz_:
        return lanewise<T, T>([](T x) { return std::countl_zero(static_cast<U>(x)); });
      case Builtin::popcount_:
        return lanewise<T, T>([](T x) { return std::popcount(static_cast<U>(x)); });
      case Builtin::mul_hi_:
        return lanewise<T, T, T>([](T x, T y) { return highProduct(x, y); });
      case Builtin::rotate_:
        return lanewise<T, T, T>([](T x, T y) { return rotated(x, y); });
      case Builtin::mul24_:
        return lanewise<T, T, T>(
            [](T x, T y) { return static_cast<Wrapping<T>>(x) * static_cast<Wrapping<T>>(y); });
      default:
        return nullptr;
    }
  });
}

/// max, min and clamp serve integers and floating values alike.
Operation ordering(Builtin builtin, const Shape& shape) {
  return forScalar(shape.result.scalar, [&]<class T>() -> Operation {
    switch (builtin) {
      case Builtin::max_:
        return lanewise<T, T, T>([](auto x, auto y) { return x < y ? y : x; });
      case Builtin::min_:
        return lanewise<T, T, T>([](auto x, auto y) { return y < x ? y : x; });
      case Builtin::clamp_:
        return lanewise<T, T, T, T>([](auto x, auto low, auto high) {
          const auto raised = x < low ? low : x;
          return high < raised ? high : raised;
        });
      default:
        return nullptr;
    }
  });
}

template <class V>
V smooth(V low, V high, V x) {
  const V t = std::clamp((x - low) / (high - low), V{0}, V{1});
  return times(times(t, t), V{3} - V{2} * t);
}

Operation blending(Builtin builtin, const Shape& shape) {
  return forFloating(shape.result.scalar, [&]<class T>() -> Operation {
    switch (builtin) {
      case Builtin::degrees_:
        return lanewise<T, T>(
            [](auto x) { return static_cast<double>(x) * 57.295779513082320877; });
      case Builtin::radians_:
        return lanewise<T, T>(
            [](auto x) { return static_cast<double>(x) * 0.017453292519943295769; });
      case Builtin::mix_:
        return lanewise<T, T, T, T>([](auto x, auto y, auto a) { return x + times(y - x, a); });
      case Builtin::step_:
        return lanewise<T, T, T>([](auto edge, auto x) { return x < edge ? 0 : 1; });
      case Builtin::smoothstep_:
        return lanewise<T, T, T, T>([](auto a, auto b, auto x) { return smooth(a, b, x); });
      case Builtin::sign_:
        return lanewise<T, T>([](auto x) {
          using V = decltype(x);
          if (x > 0) return V{1};
          if (x < 0) return V{-1};
          // Zeros keep their sign; NaN gives 0.
          return x == 0 ? x : V{0};
        });
      default:
        return nullptr;
    }
  });
}

}  // namespace

Operation findInteger(Builtin builtin, const Shape& shape) {
  switch (builtin) {
    case Builtin::abs_:
      return wide1(shape, [](Wide x) { return x < 0 ? -x : x; });
    case Builtin::abs_diff_:
      return wide2(shape, [](Wide x, Wide y) { return x < y ? y - x : x - y; });
    case Builtin::hadd_:
      return wide2(shape, [](Wide x, Wide y) { return (x + y) >> 1; });
    case Builtin::rhadd_:
      return wide2(shape, [](Wide x, Wide y) { return (x + y + 1) >> 1; });
    case Builtin::upsample_:
      return upsample(shape);
    case Builtin::mad_hi_:
    case Builtin::mad_sat_:
    case Builtin::mad24_:
      return threeIntegers(builtin, shape);
    default:
      return oneTypeIntegers(builtin, shape);
  }
}

Operation findCommon(Builtin builtin, const Shape& shape) {
  if (const Operation found = ordering(builtin, shape)) return found;
  return blending(builtin, shape);
}

}  // namespace hpl::ir::detail
