// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

#include "hpl/array/array.h"
#include "hpl/array/parameter.h"
#include "hpl/launch/annotation.h"
#include "hpl/launch/per_device.h"

namespace hpl::launch {

/// An argument of a launch without its C++ type. Valid while the call that made it runs: large
/// scalars are not copied.
struct Argument {
  enum class Kind : unsigned char {
    Array,
    LocalArray,
    Scalar,
    PartExtent,  ///< `view` and `partDim`; becomes a scalar for each device
    PerDevice    ///< a std::vector: onDevice() gives each device's argument
  };

  // Every launch makes a list of these, so they are kept small: above 128 bytes GCC fills them with
  // `rep stos`, which takes longer than everything else that happens to an argument.

  Kind kind = Kind::Scalar;
  /// Number of dimensions of an array.
  int rank = 0;
  ir::Type type;
  memory::View* view = nullptr;
  const geometry::Extents* localExtents = nullptr;
  /// Number of values of a PerDevice argument.
  std::size_t values = 0;
  int partDim = 0;

  /// How an array is split over the devices of the launch.
  const Annotation& annotation() const { return annotation_ ? *annotation_ : kNotSplit; }
  /// Null: it is not. Kept by the caller.
  void annotate(const Annotation* annotation) {
    annotation_ = annotation != nullptr && annotation->count > 0 ? annotation : nullptr;
  }
  /// Each device's argument of a PerDevice one.
  Argument onDevice(std::size_t device) const { return at_(pointer_, device); }
  /// The devices that a PerDevice argument was made for; null: whichever the launch goes to.
  const std::vector<Device>* devices() const {
    const std::vector<Device>* list = nullptr;
    if (kind == Kind::PerDevice) std::memcpy(&list, storage_, sizeof list);  // NOLINT
    return list;
  }
  /// Whether the launch must go to several devices, or say for which one it is.
  bool isDistributed() const {
    return annotation_ != nullptr || kind == Kind::PartExtent || kind == Kind::PerDevice;
  }
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

  static Argument part(const PartExtent& extent) {
    Argument argument;
    argument.kind = Kind::PartExtent;
    argument.type = irType<std::size_t>();
    argument.view = extent.view;
    argument.partDim = extent.dim;
    return argument;
  }
  static Argument perDevice(const void* list, std::size_t values,
                            Argument (*at)(const void*, std::size_t),
                            const std::vector<Device>* devices = nullptr) {
    Argument argument;
    argument.kind = Kind::PerDevice;
    argument.pointer_ = list;
    argument.values = values;
    argument.at_ = at;
    std::memcpy(argument.storage_, &devices, sizeof devices);  // NOLINT
    return argument;
  }

 private:
  static constexpr Annotation kNotSplit{};

  const Annotation* annotation_ = nullptr;
  Argument (*at_)(const void*, std::size_t) = nullptr;
  const void* pointer_ = nullptr;
  alignas(16) std::byte storage_[16] = {};
};

static_assert(sizeof(Argument) <= 112);

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

}  // namespace hpl::launch
