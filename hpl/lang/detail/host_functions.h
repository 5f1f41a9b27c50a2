// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "hpl/lang/detail/builtin.h"

/// Functions of the standard library called with values of a kernel are errors. Without these
/// overloads compilers would list all that the names could mean.
namespace hpl::detail {

template <class... X>
struct HostFunction : Expr<float> {
  static_assert(
      kNever<X...>,
      "HPL: functions of namespace std compute on the host, while the kernel is recorded; "
      "in kernels write sqrt(x), max(a, b), ... without std::");
};

}  // namespace hpl::detail

// Programs may not add functions to namespace std for their own use. These have none: they are the
// least specialised ones, so calls that any other overload takes never choose them, and calls that
// do choose them do not compile.
#define HPL_HOST_FUNCTION(name)                  \
  template <class... X>                          \
    requires(hpl::detail::KernelValue<X> || ...) \
  hpl::detail::HostFunction<X...> name(const X&...);
namespace std {
HPL_HOST_FUNCTION(abs)
HPL_HOST_FUNCTION(acos)
HPL_HOST_FUNCTION(acosh)
HPL_HOST_FUNCTION(asin)
HPL_HOST_FUNCTION(asinh)
HPL_HOST_FUNCTION(atan)
HPL_HOST_FUNCTION(atan2)
HPL_HOST_FUNCTION(atanh)
HPL_HOST_FUNCTION(cbrt)
HPL_HOST_FUNCTION(ceil)
HPL_HOST_FUNCTION(clamp)
HPL_HOST_FUNCTION(copysign)
HPL_HOST_FUNCTION(cos)
HPL_HOST_FUNCTION(cosh)
HPL_HOST_FUNCTION(erf)
HPL_HOST_FUNCTION(erfc)
HPL_HOST_FUNCTION(exp)
HPL_HOST_FUNCTION(exp2)
HPL_HOST_FUNCTION(expm1)
HPL_HOST_FUNCTION(fabs)
HPL_HOST_FUNCTION(fdim)
HPL_HOST_FUNCTION(floor)
HPL_HOST_FUNCTION(fma)
HPL_HOST_FUNCTION(fmax)
HPL_HOST_FUNCTION(fmin)
HPL_HOST_FUNCTION(fmod)
HPL_HOST_FUNCTION(hypot)
HPL_HOST_FUNCTION(ilogb)
HPL_HOST_FUNCTION(isfinite)
HPL_HOST_FUNCTION(isinf)
HPL_HOST_FUNCTION(isnan)
HPL_HOST_FUNCTION(isnormal)
HPL_HOST_FUNCTION(ldexp)
HPL_HOST_FUNCTION(lgamma)
HPL_HOST_FUNCTION(log)
HPL_HOST_FUNCTION(log10)
HPL_HOST_FUNCTION(log1p)
HPL_HOST_FUNCTION(log2)
HPL_HOST_FUNCTION(logb)
HPL_HOST_FUNCTION(max)
HPL_HOST_FUNCTION(min)
HPL_HOST_FUNCTION(nextafter)
HPL_HOST_FUNCTION(pow)
HPL_HOST_FUNCTION(remainder)
HPL_HOST_FUNCTION(rint)
HPL_HOST_FUNCTION(round)
HPL_HOST_FUNCTION(signbit)
HPL_HOST_FUNCTION(sin)
HPL_HOST_FUNCTION(sinh)
HPL_HOST_FUNCTION(sqrt)
HPL_HOST_FUNCTION(tan)
HPL_HOST_FUNCTION(tanh)
HPL_HOST_FUNCTION(tgamma)
HPL_HOST_FUNCTION(trunc)
}  // namespace std
#undef HPL_HOST_FUNCTION

namespace hpl {

/// An error: values of a kernel do not exist yet when C++ prints.
template <class C, class Traits, detail::KernelValue X>
std::basic_ostream<C, Traits>& operator<<(std::basic_ostream<C, Traits>& stream, const X&) {
  static_assert(detail::kNever<X>,
                "HPL: C++ prints while the kernel is recorded, when this value does not exist yet: "
                "store it in an array and print that on the host");
  return stream;
}

}  // namespace hpl
