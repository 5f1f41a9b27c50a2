// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "hpl/array/annotation.h"
#include "hpl/array/array.h"
#include "hpl/array/parameter.h"
#include "hpl/runtime/device.h"

namespace hpl::layout {

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
  const launch::Annotation& annotation() const { return annotation_ ? *annotation_ : kNotSplit; }
  /// Null: it is not. Kept by the caller.
  void annotate(const launch::Annotation* annotation) {
    annotation_ = annotation != nullptr && annotation->count > 0 ? annotation : nullptr;
  }
  /// The program's view if that is no box (View::map); `view` is its box then. Null: `view`.
  memory::View* mapped() const { return mapped_; }
  /// The same argument as the box.
  Argument boxOfMapped() const {
    Argument argument = *this;
    argument.mapped_ = nullptr;
    argument.rank = view->rank();
    return argument;
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
  /// The same, but a view may be any one; for callers that look at mapped().
  static Argument anyArray(const hpl::detail::ArrayBase& array, const ir::Type& type, int rank) {
    if (array.localExtents().rank() > 0 || array.anyView().map() == nullptr)
      return Argument::array(array, type, rank);
    return ofView(array.anyView(), type, rank);
  }
  /// An array of the library's own, or any view of one.
  static Argument ofView(memory::View& view, const ir::Type& type, int rank) {
    Argument argument;
    argument.type = type;
    argument.rank = rank;
    argument.kind = Kind::Array;
    argument.view = &view.plain();
    if (view.map() != nullptr) argument.mapped_ = &view;
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

  /// The same for a value of a type that is known at run time, of at most 16 bytes.
  static Argument scalarOf(const ir::Type& type, const std::byte* value) {
    Argument argument;
    argument.type = type;
    std::memcpy(argument.storage_, value, ir::sizeOf(type));
    return argument;
  }

  static Argument part(const launch::PartExtent& extent) {
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
  static constexpr launch::Annotation kNotSplit{};

  const launch::Annotation* annotation_ = nullptr;
  Argument (*at_)(const void*, std::size_t) = nullptr;
  const void* pointer_ = nullptr;
  memory::View* mapped_ = nullptr;  // of arrays
  alignas(16) std::byte storage_[16] = {};
};

static_assert(sizeof(Argument) <= 112);

/// The arguments of a launch, in the order of the kernel's parameters.
using Arguments = std::span<const Argument>;

/// The names that the program gave to the arguments' arrays; empty for others.
std::vector<std::string> labelsOf(Arguments arguments);

/// The shape of the first array; null: there is none.
const geometry::Extents* firstArray(Arguments arguments);

}  // namespace hpl::layout
