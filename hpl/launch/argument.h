// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include "hpl/array/annotation.h"
#include "hpl/array/array.h"
#include "hpl/array/parameter.h"
#include "hpl/array/per_device.h"
#include "hpl/layout/argument.h"

/// How the objects that a program passes to `eval(f)(...)` become arguments.

namespace hpl::launch {

using layout::Argument;
using layout::Arguments;

template <class X>
constexpr bool isAnnotated = false;
template <class A>
constexpr bool isAnnotated<Annotated<A>> = true;
template <class X>
constexpr bool isAnnotated<NoArrayToSplit<X>> = true;
template <class X>
constexpr bool isVector = false;
template <class T, class A>
constexpr bool isVector<std::vector<T, A>> = true;
template <class T>
constexpr bool isVector<PerDevice<T>> = true;
template <class X>
constexpr bool namesDevices = false;
template <class T>
constexpr bool namesDevices<PerDevice<T>> = true;

/// Whether an X can be an argument: an Array, a scalar, one of them for each device.
template <class X>
constexpr bool isArgument() {
  if constexpr (isAnnotated<X> || std::is_same_v<X, PartExtent> ||
                hpl::detail::ArrayTraits<X>::kIsArray || hpl::detail::HostProxy<X> ||
                hpl::detail::UnscopedEnum<X>) {
    return true;
  } else if constexpr (isVector<X>) {
    return isArgument<typename X::value_type>();
  } else {
    return ElementType<X>;
  }
}
#define HPL_NO_ARGUMENT                                                                        \
  "HPL: arguments of eval(f)(...) must be Arrays or scalars of kernel types, or std::vectors " \
  "of them with one for each device"

/// The argument that stands for a host object in `eval(f)(object)`, where isArgument.
template <class X>
Argument makeArgument(const X& x) {
  using hpl::detail::ArrayTraits;
  if constexpr (isAnnotated<X>) {
    Argument argument = makeArgument(*x.array);
    argument.annotate(&x.annotation);
    return argument;
  } else if constexpr (std::is_same_v<X, PartExtent>) {
    return Argument::part(x);
  } else if constexpr (isVector<X>) {
    static_assert(!std::is_same_v<typename X::value_type, bool>,
                  "HPL: per-device arguments of type bool need another container element, such as "
                  "std::vector<int>");
    const std::vector<Device>* devices = nullptr;
    if constexpr (namesDevices<X>) devices = &x.devices();
    return Argument::perDevice(
        &x, x.size(),
        [](const void* list, std::size_t device) {
          return makeArgument((*static_cast<const X*>(list))[device]);
        },
        devices);
  } else if constexpr (ArrayTraits<X>::kIsArray) {
    if constexpr (ArrayTraits<X>::kRank == 0) {
      return Argument::scalar(x.hostValue());
    } else {
      return Argument::array(x, irType<typename ArrayTraits<X>::Element>(), ArrayTraits<X>::kRank);
    }
  } else if constexpr (hpl::detail::HostProxy<X>) {
    return Argument::scalar(*x.operator->());
  } else if constexpr (hpl::detail::UnscopedEnum<X>) {
    return Argument::scalar(+x);
  } else if constexpr (isArgument<X>()) {
    return Argument::scalar(x);
  } else {
    return {};
  }
}

/// The same for eval, which takes all views.
template <class X>
Argument makeKernelArgument(const X& x) {
  using Traits = hpl::detail::ArrayTraits<X>;
  if constexpr (Traits::kIsArray) {
    if constexpr (Traits::kRank > 0)
      return Argument::anyArray(x, irType<typename Traits::Element>(), Traits::kRank);
  }
  return makeArgument(x);
}

}  // namespace hpl::launch
