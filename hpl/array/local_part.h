// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hpl/memory/local_access.h"
#include "hpl/runtime/device.h"

namespace hpl {

namespace detail {

/// A LocalPart without its element type; indices count from the array's first cell.
struct LocalCells {
  std::byte* first = nullptr;
  Device device;
  std::vector<std::size_t> lo, extents, whole, strides;
};
std::vector<LocalCells> localCells(memory::View& view, bool forWriting);

[[noreturn]] void throwNotInPart(const std::size_t* indices, const std::size_t* first,
                                 const std::size_t* extents, std::size_t rank);
[[noreturn]] void throwNoPartDimension(int dimension, std::size_t rank);

}  // namespace detail

/// Cells of an array that a device of this process owns, in the host's memory: a box, its place in
/// the array, and which of its faces are the array's. T is const where they may only be read.
///
/// The parts are those of the annotated launch (PART1, ...) that cut the array last, without their
/// ghosts. An array that has no such cut, also one that the library divides by itself, has bands of
/// the slowest dimension, as even as can be, one for each device. Each cell lies in one part of one
/// rank. The old contents are there; written values are the array's.
///
/// Valid inside of forEachLocal(), or after a.local() until the next operation of the program that
/// is not a local(): a launch, an assignment, a fill, an exchange, any other host access. Later
/// writes may be lost.
template <typename T, std::size_t N>
class LocalPart {
 public:
  /// One number for each dimension, the slowest first.
  using Sizes = std::array<std::size_t, N>;

  /// For local() only.
  explicit LocalPart(const detail::LocalCells& cells)
      : data_(reinterpret_cast<T*>(cells.first)), device_(cells.device) {
    for (std::size_t d = 0; d < N; ++d) {
      first_[d] = cells.lo[d];
      extents_[d] = cells.extents[d];
      whole_[d] = cells.whole[d];
      strides_[d] = cells.strides[d];
    }
  }

  /// Index of its first cell in the array, as in a(i, j).
  const Sizes& first() const noexcept { return first_; }
  /// Number of its cells in each dimension.
  const Sizes& extents() const noexcept { return extents_; }
  /// The same of the array.
  const Sizes& wholeExtents() const noexcept { return whole_; }
  /// Whether it begins, or ends, where the array does; dimensions count from 0. Throws ShapeError
  /// for a dimension that there is not.
  bool atBegin(int dimension) const { return first_[checked(dimension)] == 0; }
  bool atEnd(int dimension) const {
    const std::size_t d = checked(dimension);
    return first_[d] + extents_[d] == whole_[d];
  }

  /// Its first cell; neighbours along a dimension are strides() elements apart, 1 in the last one.
  T* data() const noexcept { return data_; }
  const Sizes& strides() const noexcept { return strides_; }
  /// The cell of the array's index (i, j, ...). Throws ShapeError when it lies in another part;
  /// programs that define HPL_NO_AUTOSYNC do without the check.
  template <class... I>
  T& operator()(I... indices) const {
    static_assert(sizeof...(I) == N, "HPL: a part of an array of N dimensions takes N indices");
    const Sizes at{static_cast<std::size_t>(indices)...};
    std::size_t offset = 0;
    for (std::size_t d = 0; d < N; ++d) {
      const std::size_t inside = at[d] - first_[d];
#ifndef HPL_NO_AUTOSYNC
      if (inside >= extents_[d]) [[unlikely]]
        detail::throwNotInPart(at.data(), first_.data(), extents_.data(), N);
#endif
      offset += inside * strides_[d];
    }
    return data_[offset];
  }

  /// The device that owns the cells.
  const Device& device() const noexcept { return device_; }

 private:
  static std::size_t checked(int dimension) {
    if (dimension < 0 || static_cast<std::size_t>(dimension) >= N) [[unlikely]]
      detail::throwNoPartDimension(dimension, N);
    return static_cast<std::size_t>(dimension);
  }

  T* data_;
  Sizes first_{}, extents_{}, whole_{}, strides_{};
  Device device_;
};

namespace detail {

template <class T, std::size_t N>
std::vector<LocalPart<T, N>> localParts(memory::View& view, bool forWriting) {
  std::vector<LocalPart<T, N>> parts;
  for (const LocalCells& cells : localCells(view, forWriting)) parts.emplace_back(cells);
  return parts;
}

}  // namespace detail

/// Calls f(part) for each LocalPart of the array that this process has: all of them in one process;
/// none on a rank without a part. The parts of a const array are for reading, those of others may
/// be written. All ranks call it together, as they do any operation; inside of `f` there is none
/// (LaunchError on several ranks): other arrays are opened before, with local(). Throws as local()
/// does, and what `f` throws: what it has written until then is the array's value.
template <class A, class F>
void forEachLocal(A& array, F&& f) {
  const auto parts = array.local();
  const memory::LocalWork work(array.hostView());
  for (const auto& part : parts) f(part);
}

}  // namespace hpl
