// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "hpl/ir/detail/interpreter/lanes.h"

/// The built-ins with an out-pointer: fract, frexp, lgamma_r, modf, remquo, sincos.
namespace hpl::ir::detail {
namespace {

/// `F(x, out)` per lane; the second result has lanes of type O.
template <class T, class O, class F>
Operation withOut1(F) {
  return [](const Shape& shape, const std::byte* const* args, std::byte* result, std::byte* out,
            std::int64_t items) {
    const auto* x = reinterpret_cast<const T*>(args[0]);
    const std::int64_t n = items * storedLanes(shape.result);
    for (std::int64_t i = 0; i < n; ++i) {
      std::conditional_t<std::is_integral_v<O>, int, double> second{};
      reinterpret_cast<T*>(result)[i] = put<T>(F{}(static_cast<double>(get(x[i])), second));
      reinterpret_cast<O*>(out)[i] = put<O>(second);
    }
  };
}

template <class F>
Operation realOut(const Shape& shape, const Type& out, F f) {
  if (!(out == shape.result)) return nullptr;
  return forFloating(shape.result.scalar, [&]<class T>() { return withOut1<T, T>(f); });
}

template <class F>
Operation intOut(const Shape& shape, const Type& out, F f) {
  if (!(out == shape.result.withScalar(Scalar::Int))) return nullptr;
  return forFloating(shape.result.scalar, [&]<class T>() { return withOut1<T, std::int32_t>(f); });
}

/// The largest number below 1 that `T` holds: fract never reaches 1, not even by rounding.
template <class T>
double belowOne() {
  if constexpr (std::is_same_v<T, HalfLane>) {
    return 0x1.ffcp-1;
  } else {
    return std::is_same_v<T, float> ? 0x1.fffffep-1 : 0x1.fffffffffffffp-1;
  }
}

Operation fract(const Shape& shape, const Type& out) {
  if (!(out == shape.result)) return nullptr;
  return forFloating(shape.result.scalar, []<class T>() {
    return withOut1<T, T>([](double x, double& whole) {
      whole = std::floor(x);
      if (std::isinf(x)) return std::copysign(0.0, x);
      return std::isnan(x) ? x : std::fmin(x - whole, belowOne<T>());
    });
  });
}

/// Sign and low seven bits of the integer nearest to x / y, as OpenCL asks for (C: three bits).
std::int32_t quotientBits(double x, double y) {
  if (!std::isfinite(x) || std::isnan(y) || y == 0) return 0;
  const double b = std::fabs(y);
  // Multiples of 128 b change neither the remainder nor the low seven bits.
  const double a = std::isfinite(128 * b) ? std::fmod(std::fabs(x), 128 * b) : std::fabs(x);
  const auto bits = static_cast<std::int32_t>(std::nearbyint((a - std::remainder(a, b)) / b)) & 127;
  return std::signbit(x) == std::signbit(y) ? bits : -bits;
}

Operation remquo(const Shape& shape, const Type& out) {
  if (!(out == shape.result.withScalar(Scalar::Int))) return nullptr;
  return forFloating(shape.result.scalar, []<class T>() -> Operation {
    return [](const Shape& s, const std::byte* const* args, std::byte* result, std::byte* second,
              std::int64_t items) {
      const std::int64_t n = items * storedLanes(s.result);
      for (std::int64_t i = 0; i < n; ++i) {
        const double x = static_cast<double>(get(reinterpret_cast<const T*>(args[0])[i]));
        const double y = static_cast<double>(get(reinterpret_cast<const T*>(args[1])[i]));
        reinterpret_cast<T*>(result)[i] = put<T>(std::remainder(x, y));
        reinterpret_cast<std::int32_t*>(second)[i] = quotientBits(x, y);
      }
    };
  });
}

}  // namespace

Operation findOutBuiltin(Builtin builtin, const Shape& shape, const Type& out) {
  switch (builtin) {
    case Builtin::fract_:
      return fract(shape, out);
    case Builtin::frexp_:
      return intOut(shape, out, [](double x, int& exponent) {
        exponent = 0;
        return std::frexp(x, &exponent);
      });
    case Builtin::lgamma_r_:
      return intOut(shape, out, [](double x, int& sign) { return ::lgamma_r(x, &sign); });
    case Builtin::modf_:
      return realOut(shape, out, [](double x, double& whole) { return std::modf(x, &whole); });
    case Builtin::sincos_:
      return realOut(shape, out, [](double x, double& cosine) {
        cosine = std::cos(x);
        return std::sin(x);
      });
    case Builtin::remquo_:
      return remquo(shape, out);
    default:
      return nullptr;
  }
}

}  // namespace hpl::ir::detail
