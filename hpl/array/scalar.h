// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <source_location>

#include "hpl/array/memory_flag.h"
#include "hpl/lang/place.h"

namespace hpl {

template <class T, int N, MemoryFlag Mem = Global>
class Array;

/// A scalar. In a kernel it is a variable: `Float y = x;` declares a new one initialised with x,
/// as does every other copy and move (in std::swap, in vectors), and assignments become statements.
/// On the host it holds a value for kernel arguments; used inside a kernel without being an
/// argument, that value becomes a constant of the generated code. `Array<int, 0, Local>` in a
/// kernel is one variable per work-group.
template <class T, MemoryFlag Mem>
class Array<T, 0, Mem> : public detail::Lanes<Array<T, 0, Mem>, T, Ref>,
                         public detail::Members<T, detail::PlacePart>,
                         public detail::NoHostValue<T>,
                         public detail::Assignable<Array<T, 0, Mem>, T> {
  static_assert(detail::kElementType<T>,
                "HPL: scalars hold arithmetic types, half, vectors, complex numbers or "
                "structs registered with HPL_STRUCT");

 public:
  using hpl_value_type = T;

  Array() {
    if (detail::capturing()) declare(nullptr);
  }
  /// Declares a kernel variable (in kernels) or holds the value (on the host).
  template <Operand X>
  Array(const X& x, const std::source_location& where = std::source_location::current()) {
    static_assert(detail::kIndexed<X>, HPL_INDEX_IS_MISSING);
    if (detail::capturing()) {
      detail::setLocation(where);
      declare(detail::converted<T>(x));
    } else {
      value_ = convertedHostValue(x);
    }
  }
  Array(const Array& other) {
    if (detail::capturing()) {
      declare(other.node());
    } else {
      value_ = other.value();
    }
  }

  Array& operator=(const Array& other) { return this->operator=<Array>(other); }
  template <class X>
  Array& operator=(const X& x) {
    static_assert(detail::kIndexed<X>, HPL_INDEX_IS_MISSING);
    if (symbol_ != nullptr) {
      detail::assignNode(node(), detail::converted<T>(x));
    } else if (detail::capturing()) {
      detail::throwKernelError(
          "a kernel assigns to a scalar of the host; declare the variable inside "
          "the kernel, or pass an array of one element to get a result out");
    } else {
      value_ = convertedHostValue(x);
    }
    return *this;
  }

  /// The host's value. Throws KernelError for a kernel variable.
  T value() const {
    if (symbol_ != nullptr)
      detail::throwKernelError(
          "value() reads on the host, but this scalar is a variable of the kernel; use it "
          "directly");
    return value_;
  }

  /// The same without a copy, for launches.
  const T& hostValue() const {
    if (symbol_ != nullptr) value();
    return value_;
  }

  /// Field of a registered struct: `v.at(&S::f)`.
  template <class C, class F>
    requires std::same_as<C, T>
  Ref<F> at(F C::*field) const {
    return Ref<F>(detail::memberNode(node(), detail::fieldIndex(field)));
  }

  /// Names the variable in the generated code.
  Array& label(const char* name) {
    if (symbol_ != nullptr) detail::nameVariable(symbol_, name);
    return *this;
  }

  detail::Node node() const {
    if (symbol_ != nullptr) return detail::variableNode(symbol_);
    if (!detail::capturing()) detail::throwOutsideKernel("a kernel operator on a scalar");
    return detail::hostConstant(value_);
  }

  /// The scalar that stands for a parameter; used while a kernel is captured.
  static Array fromSymbol(detail::Symbol symbol) { return Array(Adopt{symbol}); }

 private:
  struct Adopt {
    detail::Symbol symbol;
  };
  explicit Array(Adopt adopted) { adopt(adopted.symbol); }

  void declare(detail::Node init) {
    constexpr ir::Space space = Mem == Local ? ir::Space::Local : ir::Space::Private;
    adopt(detail::declareVariable(irType<T>(), space, 0, nullptr, init));
  }
  void adopt(detail::Symbol symbol) {
    symbol_ = symbol;
    if constexpr (!detail::ScalarType<T> && !detail::ComplexType<T>)
      if (symbol_ != nullptr) this->bindMembers(detail::variableNode(symbol_));
  }

  template <class X>
  static T convertedHostValue(const X& x) {
    using V = detail::ValueOf<X>;
    if constexpr (!Operand<X> || detail::Unindexed<X> || !detail::kConverts<T, V>) {
      return detail::noResult<T>();  // converted() refuses it
    } else if constexpr (detail::HostProxy<X>) {
      return static_cast<T>(static_cast<V>(x));
    } else if constexpr (requires { x.value(); }) {
      return static_cast<T>(x.value());
    } else if constexpr (detail::KernelValue<X>) {
      detail::throwOutsideKernel("a kernel expression");
    } else {
      return static_cast<T>(x);
    }
  }

  detail::Symbol symbol_ = nullptr;
  T value_{};
};

#define HPL_SCALAR_TYPES(Name, type) \
  using Name##2 = Array<type##2, 0>; \
  using Name##3 = Array<type##3, 0>; \
  using Name##4 = Array<type##4, 0>; \
  using Name##8 = Array<type##8, 0>; \
  using Name##16 = Array<type##16, 0>;

using Bool = Array<bool, 0>;
using Char = Array<signed char, 0>;
using Uchar = Array<unsigned char, 0>;
using Short = Array<short, 0>;
using Ushort = Array<unsigned short, 0>;
using Int = Array<int, 0>;
using Uint = Array<unsigned int, 0>;
using UInt = Uint;
using Long = Array<long, 0>;
using Ulong = Array<unsigned long, 0>;
using Size_t = Array<std::size_t, 0>;
using Half = Array<half, 0>;
using Float = Array<float, 0>;
using Double = Array<double, 0>;
HPL_SCALAR_TYPES(Char, char)
HPL_SCALAR_TYPES(Uchar, uchar)
HPL_SCALAR_TYPES(Short, short)
HPL_SCALAR_TYPES(Ushort, ushort)
HPL_SCALAR_TYPES(Int, int)
HPL_SCALAR_TYPES(Uint, uint)
HPL_SCALAR_TYPES(Long, long)
HPL_SCALAR_TYPES(Ulong, ulong)
HPL_SCALAR_TYPES(Float, float)
HPL_SCALAR_TYPES(Double, double)
#undef HPL_SCALAR_TYPES

}  // namespace hpl
