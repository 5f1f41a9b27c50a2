// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "hpl/ir/detail/interpreter/operation.h"
#include "hpl/ir/half.h"

/// From the IR's scalar kinds to C++ types, and loops over all lanes of a batch of work-items.
namespace hpl::ir::detail {

/// Storage of Half and Bool lanes; arithmetic happens in float and int.
struct HalfLane {
  std::uint16_t bits;
};
struct BoolLane {
  std::uint8_t byte;
};

/// Lanes that a value occupies in memory: 3-lane vectors occupy 4.
constexpr std::int64_t storedLanes(const Type& type) {
  if (type.complex) return 2;
  return type.lanes == 3 ? 4 : type.lanes;
}

template <class T>
constexpr bool isFloatingLane = std::is_floating_point_v<T> || std::is_same_v<T, HalfLane>;

/// Width in bits of an integer type.
template <class T>
constexpr int kBits = static_cast<int>(8 * sizeof(T));

/// The unsigned type in which integers of type T wrap without C++'s promotion to signed int.
template <class T>
using Wrapping = std::conditional_t<(sizeof(T) <= 4), std::uint32_t, std::uint64_t>;

/// Value of a lane in a type that C++ can calculate with.
template <class T>
auto get(T lane) {
  if constexpr (std::is_same_v<T, HalfLane>) {
    return halfToFloat(lane.bits);
  } else if constexpr (std::is_same_v<T, BoolLane>) {
    return static_cast<int>(lane.byte != 0);
  } else {
    return lane;
  }
}

/// Rounds or wraps a value to a lane.
template <class T, class V>
T put(V value) {
  if constexpr (std::is_same_v<T, HalfLane>) {
    return HalfLane{doubleToHalf(static_cast<double>(value))};
  } else if constexpr (std::is_same_v<T, BoolLane>) {
    return BoolLane{static_cast<std::uint8_t>(value != 0 ? 1 : 0)};
  } else {
    return static_cast<T>(value);
  }
}

/// a * b rounded to T. Out of line so that no compiler contracts it with an addition into a fused
/// multiply-add, whatever the flags (`-march=native` with g++).
template <class T>
[[gnu::noinline]] T times(T a, T b) {
  return a * b;
}

/// Operation that applies `F` to each lane: result lane R from argument lanes A...
template <class R, class... A, class F>
Operation lanewise(F) {
  return [](const Shape& shape, const std::byte* const* args, std::byte* result, std::byte*,
            std::int64_t items) {
    const std::int64_t n = items * storedLanes(shape.result);
    R* to = reinterpret_cast<R*>(result);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      for (std::int64_t i = 0; i < n; ++i) {
        to[i] = put<R>(F{}(get(reinterpret_cast<const A*>(args[I])[i])...));
      }
    }(std::index_sequence_for<A...>{});
  };
}

/// Calls `f.template operator()<Lane>()` with the lane type of an integer kind; null for others.
template <class F>
Operation forInteger(Scalar scalar, F f) {
  switch (scalar) {
    case Scalar::Bool:
      return f.template operator()<std::uint8_t>();
    case Scalar::Char:
      return f.template operator()<std::int8_t>();
    case Scalar::Uchar:
      return f.template operator()<std::uint8_t>();
    case Scalar::Short:
      return f.template operator()<std::int16_t>();
    case Scalar::Ushort:
      return f.template operator()<std::uint16_t>();
    case Scalar::Int:
      return f.template operator()<std::int32_t>();
    case Scalar::Uint:
      return f.template operator()<std::uint32_t>();
    case Scalar::Long:
      return f.template operator()<std::int64_t>();
    case Scalar::Ulong:
      return f.template operator()<std::uint64_t>();
    default:
      return nullptr;
  }
}

/// The same for floating kinds.
template <class F>
Operation forFloating(Scalar scalar, F f) {
  switch (scalar) {
    case Scalar::Half:
      return f.template operator()<HalfLane>();
    case Scalar::Float:
      return f.template operator()<float>();
    case Scalar::Double:
      return f.template operator()<double>();
    default:
      return nullptr;
  }
}

/// The same for any kind.
template <class F>
Operation forScalar(Scalar scalar, F f) {
  return scalar >= Scalar::Half ? forFloating(scalar, f) : forInteger(scalar, f);
}

}  // namespace hpl::ir::detail
