// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <numbers>

#include "hpl/ir/detail/interpreter/lanes.h"

/// Section 6.12.2 of OpenCL 1.2. Half and float results are computed in double and rounded once,
/// which makes them correctly rounded but for rare ties; half_ and native_ functions are the full
/// ones.
namespace hpl::ir::detail {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class F>
Operation real1(const Shape& shape, F) {
  return forFloating(shape.result.scalar, []<class T>() {
    return lanewise<T, T>([](auto x) { return F{}(static_cast<double>(x)); });
  });
}

template <class F>
Operation real2(const Shape& shape, F) {
  return forFloating(shape.result.scalar, []<class T>() {
    return lanewise<T, T, T>(
        [](auto x, auto y) { return F{}(static_cast<double>(x), static_cast<double>(y)); });
  });
}

/// In the type itself, where going through double would round twice.
template <class F>
Operation own3(const Shape& shape, F) {
  return forFloating(shape.result.scalar, []<class T>() {
    return lanewise<T, T, T, T>([](auto x, auto y, auto z) { return F{}(x, y, z); });
  });
}

/// A floating and an int argument.
template <class F>
Operation realInt(const Shape& shape, F) {
  return forFloating(shape.result.scalar, []<class T>() {
    return lanewise<T, T, std::int32_t>(
        [](auto x, std::int32_t n) { return F{}(static_cast<double>(x), n); });
  });
}

/// x modulo 2, exactly: what the periods of sinpi, cospi and tanpi need.
double halfTurns(double x) { return std::fmod(x, 2.0); }

double sinPi(double x) {
  double r = halfTurns(x);
  if (r == 0 || std::fabs(r) == 1) return std::copysign(0.0, x);
  // sin(pi r) = sin(pi (1 - r)) keeps the argument small, where sin is steep.
  if (std::fabs(r) > 0.5 && std::fabs(r) <= 1.5) r = std::copysign(1.0, r) - r;
  if (r > 1.5) r -= 2;
  if (r < -1.5) r += 2;
  return std::sin(kPi * r);
}

double cosPi(double x) {
  const double r = std::fabs(halfTurns(x));
  if (r == 0.5 || r == 1.5) return 0.0;
  if (r < 0.25) return std::cos(kPi * r);
  return r < 1.0 ? std::sin(kPi * (0.5 - r)) : std::sin(kPi * (r - 1.5));
}

double powr(double x, double y) {
  if (x < 0 || (x == 0 && y == 0) || (x == 1 && std::isinf(y)) || (std::isinf(x) && y == 0)) {
    return kNan;
  }
  if (std::isnan(x) || std::isnan(y)) return kNan;
  return std::pow(std::fabs(x), y);
}

double rootn(double x, std::int32_t n) {
  if (n == 0 || (x < 0 && n % 2 == 0)) return kNan;
  const double root = n == 3 ? std::cbrt(std::fabs(x)) : std::pow(std::fabs(x), 1.0 / n);
  return n % 2 == 0 ? root : std::copysign(root, x);
}

double exp10(double x) { return std::pow(10.0, x); }
double rsqrt(double x) { return 1.0 / std::sqrt(x); }

/// lgamma_r rather than std::lgamma: the latter writes a global.
double logGamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

template <class V>
V larger(V x, V y) {
  if (std::fabs(x) > std::fabs(y)) return x;
  return std::fabs(y) > std::fabs(x) ? y : std::fmax(x, y);
}
template <class V>
V smaller(V x, V y) {
  if (std::fabs(x) < std::fabs(y)) return x;
  return std::fabs(y) < std::fabs(x) ? y : std::fmin(x, y);
}

/// The neighbouring half: halves of one sign are ordered as their bits are.
HalfLane nextHalf(HalfLane x, HalfLane y) {
  const float from = get(x);
  const float to = get(y);
  if (std::isnan(from) || std::isnan(to)) return put<HalfLane>(kNan);
  if (from == to) return y;
  if (from == 0) return HalfLane{static_cast<std::uint16_t>(to > 0 ? 0x0001 : 0x8001)};
  const bool away = (to > from) == (from > 0);
  return HalfLane{static_cast<std::uint16_t>(away ? x.bits + 1 : x.bits - 1)};
}

Operation nextafter(const Shape& shape) {
  if (shape.result.scalar != Scalar::Half) {
    return forFloating(shape.result.scalar, []<class T>() -> Operation {
      if constexpr (std::is_same_v<T, HalfLane>) {
        return nullptr;
      } else {
        return lanewise<T, T, T>([](T x, T y) { return std::nextafter(x, y); });
      }
    });
  }
  return [](const Shape& s, const std::byte* const* args, std::byte* result, std::byte*,
            std::int64_t items) {
    const std::int64_t n = items * storedLanes(s.result);
    for (std::int64_t i = 0; i < n; ++i) {
      reinterpret_cast<HalfLane*>(result)[i] =
          nextHalf(reinterpret_cast<const HalfLane*>(args[0])[i],
                   reinterpret_cast<const HalfLane*>(args[1])[i]);
    }
  };
}

Operation ilogb(const Shape& shape) {
  return forFloating(shape.args[0].scalar, []<class T>() {
    return lanewise<std::int32_t, T>([](auto x) { return std::ilogb(x); });
  });
}

/// A NaN; the argument's bits would be its payload, which comparisons must not depend on.
Operation nan(const Shape& shape) {
  return forFloating(shape.result.scalar,
                     []<class T>() { return lanewise<T>([]() { return kNan; }); });
}

/// Trigonometric and hyperbolic functions and their inverses.
Operation findTrigonometric(Builtin builtin, const Shape& s) {
  switch (builtin) {
    case Builtin::acos_:
      return real1(s, [](double x) { return std::acos(x); });
    case Builtin::acosh_:
      return real1(s, [](double x) { return std::acosh(x); });
    case Builtin::acospi_:
      return real1(s, [](double x) { return std::acos(x) / kPi; });
    case Builtin::asin_:
      return real1(s, [](double x) { return std::asin(x); });
    case Builtin::asinh_:
      return real1(s, [](double x) { return std::asinh(x); });
    case Builtin::asinpi_:
      return real1(s, [](double x) { return std::asin(x) / kPi; });
    case Builtin::atan_:
      return real1(s, [](double x) { return std::atan(x); });
    case Builtin::atan2_:
      return real2(s, [](double y, double x) { return std::atan2(y, x); });
    case Builtin::atanh_:
      return real1(s, [](double x) { return std::atanh(x); });
    case Builtin::atanpi_:
      return real1(s, [](double x) { return std::atan(x) / kPi; });
    case Builtin::atan2pi_:
      return real2(s, [](double y, double x) { return std::atan2(y, x) / kPi; });
    case Builtin::cos_:
    case Builtin::half_cos_:
    case Builtin::native_cos_:
      return real1(s, [](double x) { return std::cos(x); });
    case Builtin::cosh_:
      return real1(s, [](double x) { return std::cosh(x); });
    case Builtin::cospi_:
      return real1(s, [](double x) { return cosPi(x); });
    case Builtin::sin_:
    case Builtin::half_sin_:
    case Builtin::native_sin_:
      return real1(s, [](double x) { return std::sin(x); });
    case Builtin::sinh_:
      return real1(s, [](double x) { return std::sinh(x); });
    case Builtin::sinpi_:
      return real1(s, [](double x) { return sinPi(x); });
    case Builtin::tan_:
    case Builtin::half_tan_:
    case Builtin::native_tan_:
      return real1(s, [](double x) { return std::tan(x); });
    case Builtin::tanh_:
      return real1(s, [](double x) { return std::tanh(x); });
    case Builtin::tanpi_:
      return real1(s, [](double x) { return sinPi(x) / cosPi(x); });
    default:
      return nullptr;
  }
}

/// Exponentials, logarithms, powers and roots.
Operation findExponential(Builtin builtin, const Shape& s) {
  switch (builtin) {
    case Builtin::cbrt_:
      return real1(s, [](double x) { return std::cbrt(x); });
    case Builtin::exp_:
    case Builtin::half_exp_:
    case Builtin::native_exp_:
      return real1(s, [](double x) { return std::exp(x); });
    case Builtin::exp2_:
    case Builtin::half_exp2_:
    case Builtin::native_exp2_:
      return real1(s, [](double x) { return std::exp2(x); });
    case Builtin::exp10_:
    case Builtin::half_exp10_:
    case Builtin::native_exp10_:
      return real1(s, [](double x) { return exp10(x); });
    case Builtin::expm1_:
      return real1(s, [](double x) { return std::expm1(x); });
    case Builtin::log_:
    case Builtin::half_log_:
    case Builtin::native_log_:
      return real1(s, [](double x) { return std::log(x); });
    case Builtin::log2_:
    case Builtin::half_log2_:
    case Builtin::native_log2_:
      return real1(s, [](double x) { return std::log2(x); });
    case Builtin::log10_:
    case Builtin::half_log10_:
    case Builtin::native_log10_:
      return real1(s, [](double x) { return std::log10(x); });
    case Builtin::log1p_:
      return real1(s, [](double x) { return std::log1p(x); });
    case Builtin::pow_:
      return real2(s, [](double x, double y) { return std::pow(x, y); });
    case Builtin::powr_:
    case Builtin::half_powr_:
    case Builtin::native_powr_:
      return real2(s, [](double x, double y) { return powr(x, y); });
    case Builtin::pown_:
      return realInt(s, [](double x, std::int32_t n) { return std::pow(x, n); });
    case Builtin::rootn_:
      return realInt(s, [](double x, std::int32_t n) { return rootn(x, n); });
    case Builtin::rsqrt_:
    case Builtin::half_rsqrt_:
    case Builtin::native_rsqrt_:
      return real1(s, [](double x) { return rsqrt(x); });
    case Builtin::sqrt_:
    case Builtin::half_sqrt_:
    case Builtin::native_sqrt_:
      return real1(s, [](double x) { return std::sqrt(x); });
    default:
      return nullptr;
  }
}

/// Rounding, remainders and the functions that take numbers apart: exact or rounded once.
Operation findExact(Builtin builtin, const Shape& s) {
  switch (builtin) {
    case Builtin::ceil_:
      return real1(s, [](double x) { return std::ceil(x); });
    case Builtin::copysign_:
      return real2(s, [](double x, double y) { return std::copysign(x, y); });
    case Builtin::fabs_:
      return real1(s, [](double x) { return std::fabs(x); });
    case Builtin::fdim_:
      return real2(s, [](double x, double y) { return std::fdim(x, y); });
    case Builtin::floor_:
      return real1(s, [](double x) { return std::floor(x); });
    case Builtin::fma_:
      return own3(s, [](auto x, auto y, auto z) { return std::fma(x, y, z); });
    case Builtin::mad_:
      return own3(s, [](auto x, auto y, auto z) { return times(x, y) + z; });
    case Builtin::fmax_:
      return real2(s, [](double x, double y) { return std::fmax(x, y); });
    case Builtin::fmin_:
      return real2(s, [](double x, double y) { return std::fmin(x, y); });
    case Builtin::fmod_:
      return real2(s, [](double x, double y) { return std::fmod(x, y); });
    case Builtin::ilogb_:
      return ilogb(s);
    case Builtin::ldexp_:
      return realInt(s, [](double x, std::int32_t n) { return std::ldexp(x, n); });
    case Builtin::logb_:
      return real1(s, [](double x) { return std::logb(x); });
    case Builtin::maxmag_:
      return real2(s, [](double x, double y) { return larger(x, y); });
    case Builtin::minmag_:
      return real2(s, [](double x, double y) { return smaller(x, y); });
    case Builtin::nan_:
      return nan(s);
    case Builtin::nextafter_:
      return nextafter(s);
    case Builtin::remainder_:
      return real2(s, [](double x, double y) { return std::remainder(x, y); });
    case Builtin::rint_:
      return real1(s, [](double x) { return std::nearbyint(x); });
    case Builtin::round_:
      return real1(s, [](double x) { return std::round(x); });
    case Builtin::trunc_:
      return real1(s, [](double x) { return std::trunc(x); });
    case Builtin::half_divide_:
    case Builtin::native_divide_:
      return real2(s, [](double x, double y) { return x / y; });
    case Builtin::half_recip_:
    case Builtin::native_recip_:
      return real1(s, [](double x) { return 1.0 / x; });
    default:
      return nullptr;
  }
}

}  // namespace

Operation findMath(Builtin builtin, const Shape& s) {
  switch (builtin) {
    case Builtin::erf_:
      return real1(s, [](double x) { return std::erf(x); });
    case Builtin::erfc_:
      return real1(s, [](double x) { return std::erfc(x); });
    case Builtin::hypot_:
      return real2(s, [](double x, double y) { return std::hypot(x, y); });
    case Builtin::lgamma_:
      return real1(s, [](double x) { return logGamma(x); });
    case Builtin::tgamma_:
      return real1(s, [](double x) { return std::tgamma(x); });
    default:
      break;
  }
  if (const Operation found = findTrigonometric(builtin, s)) return found;
  if (const Operation found = findExponential(builtin, s)) return found;
  return findExact(builtin, s);
}

}  // namespace hpl::ir::detail
