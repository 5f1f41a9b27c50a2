// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "hpl/array/array.h"
#include "hpl/array/parameter.h"

namespace hpl::launch {

/// An argument of a launch without its C++ type. Valid while the call that made it runs: large
/// scalars are not copied.
struct Argument {
  enum class Kind : unsigned char { Array, LocalArray, Scalar };

  Kind kind = Kind::Scalar;
  ir::Type type;
  /// Number of dimensions of an array.
  int rank = 0;
  memory::View* view = nullptr;
  const geometry::Extents* localExtents = nullptr;
  /// The scalar's value.
  const void* value() const { return pointer_ != nullptr ? pointer_ : storage_; }

  static Argument array(const hpl::detail::ArrayBase& array, const ir::Type& type, int rank) {
    Argument argument;
    argument.type = type;
    argument.rank = rank;
    if (array.localExtents().rank() > 0) {
      argument.kind = Kind::LocalArray;
      argument.localExtents = &array.localExtents();
    } else {
      argument.kind = Kind::Array;
      argument.view = &array.hostView();
    }
    return argument;
  }
  template <class T>
  static Argument scalar(const T& value) {
    Argument argument;
    argument.type = irType<T>();
    if constexpr (sizeof(T) <= sizeof(storage_)) {
      std::memcpy(argument.storage_, &value, sizeof(T));
    } else {
      argument.pointer_ = &value;
    }
    return argument;
  }

 private:
  const void* pointer_ = nullptr;
  alignas(16) std::byte storage_[16] = {};
};

/// The argument that stands for a host object in `eval(f)(object)`.
template <class X>
Argument makeArgument(const X& x) {
  using hpl::detail::ArrayTraits;
  if constexpr (ArrayTraits<X>::kIsArray) {
    if constexpr (ArrayTraits<X>::kRank == 0) {
      return Argument::scalar(x.hostValue());
    } else {
      return Argument::array(x, irType<typename ArrayTraits<X>::Element>(), ArrayTraits<X>::kRank);
    }
  } else if constexpr (hpl::detail::HostProxy<X>) {
    return Argument::scalar(*x.operator->());
  } else {
    static_assert(ElementType<X>,
                  "HPL: arguments of eval(f)(...) must be Arrays or scalars of kernel types");
    return Argument::scalar(x);
  }
}

}  // namespace hpl::launch
