// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <type_traits>

#include "hpl/ir/type.h"
#include "hpl/lang/half.h"
#include "hpl/lang/vector_types.h"

/// The mapping from C++ types to the types of the kernel language.
namespace hpl {

/// Specialised by HPL_STRUCT for registered structs: `static const ir::StructType& type()`.
template <class T>
struct StructTraits;

namespace detail {

template <class T>
struct IsVec : std::false_type {};
template <class T, int N>
struct IsVec<Vec<T, N>> : std::true_type {};

template <class T>
struct IsComplex : std::false_type {};
template <>
struct IsComplex<std::complex<float>> : std::true_type {};
template <>
struct IsComplex<std::complex<double>> : std::true_type {};

template <class T>
concept VecType = IsVec<T>::value;
template <class T>
concept ComplexType = IsComplex<T>::value;
template <class T>
concept RegisteredStruct = requires { StructTraits<T>::type(); };
template <class T>
concept ScalarType = (std::is_arithmetic_v<T> && sizeof(T) <= 8) || std::is_same_v<T, half>;

/// Enumerators of `enum` without `class`, which are integers wherever C++ needs one.
template <class T>
concept UnscopedEnum = std::is_enum_v<T> && std::is_convertible_v<T, std::underlying_type_t<T>>;

template <class T>
constexpr ir::Scalar scalarOf() {
  using S = ir::Scalar;
  if constexpr (std::is_same_v<T, bool>) return S::Bool;
  if constexpr (std::is_same_v<T, half>) return S::Half;
  if constexpr (std::is_same_v<T, float>) return S::Float;
  if constexpr (std::is_same_v<T, double>) return S::Double;
  constexpr bool isSigned = std::is_signed_v<T>;
  switch (sizeof(T)) {
    case 1:
      return isSigned ? S::Char : S::Uchar;
    case 2:
      return isSigned ? S::Short : S::Ushort;
    case 4:
      return isSigned ? S::Int : S::Uint;
    default:
      return isSigned ? S::Long : S::Ulong;
  }
}

}  // namespace detail

/// The types that arrays may hold and kernels may compute with: arithmetic types up to 64 bits,
/// half, Vec, std::complex<float|double> and structs registered with HPL_STRUCT.
template <class T>
concept ElementType = detail::ScalarType<T> || detail::VecType<T> || detail::ComplexType<T> ||
                      detail::RegisteredStruct<T>;

namespace detail {

/// The same as a variable: compilers explain concepts in assertions at length.
template <class T>
inline constexpr bool kElementType = ElementType<T>;

}  // namespace detail

/// The kernel type of a C++ type.
template <ElementType T>
constexpr ir::Type irType() {
  if constexpr (detail::VecType<T>) {
    return ir::Type{detail::scalarOf<typename T::Scalar>(), T::kLanes, false, nullptr};
  } else if constexpr (detail::ComplexType<T>) {
    return ir::Type{detail::scalarOf<typename T::value_type>(), 1, true, nullptr};
  } else if constexpr (detail::ScalarType<T>) {
    return ir::Type{detail::scalarOf<T>(), 1, false, nullptr};
  } else {
    return ir::Type{ir::Scalar::Void, 1, false, &StructTraits<T>::type()};
  }
}

}  // namespace hpl
