// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "hpl/ir/detail/interpreter/lanes.h"

namespace hpl::ir::detail {
namespace {

/// Conversion of one lane: integers wrap, floating to integer truncates and saturates, NaN gives 0.
template <class To, class From>
To convert(From value) {
  if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    using Limits = std::numeric_limits<To>;
    // 2^bits is exact in every floating type, max() is not.
    // NOLINTNEXTLINE(bugprone-integer-division): the 1 makes up for what is cut
    const From end = static_cast<From>(Limits::max() / 2 + 1) * 2;
    if (std::isnan(value)) return 0;
    if (value >= end) return Limits::max();
    if (value < static_cast<From>(Limits::min())) return Limits::min();
    return static_cast<To>(value);
  } else {
    return put<To>(value);
  }
}

template <class To, class From>
Operation castLanes() {
  return [](const Shape& shape, const std::byte* const* args, std::byte* result, std::byte*,
            std::int64_t items) {
    const auto* from = reinterpret_cast<const From*>(args[0]);
    auto* to = reinterpret_cast<To*>(result);
    const std::int64_t n = items * storedLanes(shape.result);
    for (std::int64_t i = 0; i < n; ++i) to[i] = convert<To>(get(from[i]));
  };
}

template <class To, class From>
Operation splat() {
  return [](const Shape& shape, const std::byte* const* args, std::byte* result, std::byte*,
            std::int64_t items) {
    const auto* from = reinterpret_cast<const From*>(args[0]);
    auto* to = reinterpret_cast<To*>(result);
    const std::int64_t lanes = storedLanes(shape.result);
    for (std::int64_t i = 0; i < items; ++i) {
      To value = convert<To>(get(from[i]));
      // OpenCL C: a true bool becomes all bits in the lanes of an integer vector.
      if constexpr (std::is_same_v<From, BoolLane> && std::is_integral_v<To>) {
        value = static_cast<To>(value != 0 ? -1 : 0);
      }
      for (std::int64_t lane = 0; lane < lanes; ++lane) to[i * lanes + lane] = value;
    }
  };
}

template <class To, class From>
Operation toComplex() {
  return [](const Shape&, const std::byte* const* args, std::byte* result, std::byte*,
            std::int64_t items) {
    const auto* from = reinterpret_cast<const From*>(args[0]);
    auto* to = reinterpret_cast<To*>(result);
    for (std::int64_t i = 0; i < items; ++i) {
      to[2 * i] = convert<To>(get(from[i]));
      to[2 * i + 1] = convert<To>(0);
    }
  };
}

/// As forScalar, but tells Bool from Uchar.
template <class F>
Operation forLane(Scalar scalar, F f) {
  return scalar == Scalar::Bool ? f.template operator()<BoolLane>() : forScalar(scalar, f);
}

}  // namespace

Operation findCast(const Shape& shape) {
  const Type& to = shape.result;
  const Type& from = shape.args[0];
  if (to.isStruct() || from.isStruct()) return nullptr;
  return forLane(to.scalar, [&]<class To>() {
    return forLane(from.scalar, [&]<class From>() -> Operation {
      if (to.complex == from.complex && to.lanes == from.lanes) return castLanes<To, From>();
      if (to.complex && from.isScalar()) return toComplex<To, From>();
      return to.isVector() && from.isScalar() ? splat<To, From>() : nullptr;
    });
  });
}

Operation findVectorSelect(const Shape& shape) {
  const Scalar condition = shape.args[0].scalar;
  if (sizeOf(condition) != sizeOf(shape.result.scalar) ||
      shape.args[0].lanes != shape.result.lanes) {
    return nullptr;
  }
  // Only bits are moved, so that one instance per width serves integers and floating values.
  const auto choose = []<class C, class T>() {
    return lanewise<T, C, T, T>([](C c, T yes, T no) { return c < 0 ? yes : no; });
  };
  switch (sizeOf(condition)) {
    case 1:
      return choose.operator()<std::int8_t, std::uint8_t>();
    case 2:
      return choose.operator()<std::int16_t, std::uint16_t>();
    case 4:
      return choose.operator()<std::int32_t, std::uint32_t>();
    case 8:
      return choose.operator()<std::int64_t, std::uint64_t>();
    default:
      return nullptr;
  }
}

}  // namespace hpl::ir::detail
