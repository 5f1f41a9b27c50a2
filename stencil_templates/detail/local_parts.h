// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "hpl/hpl.h"

// The parts of an array that a skeleton's init and output get.

#if __has_include("hpl/array/local_part.h")

#define HPL_HAS_LOCAL_PARTS 1

#else

#define HPL_HAS_LOCAL_PARTS 0

namespace hpl {

/// Cells of an array, in the host's memory: a box, its place, and which of its faces are the
/// array's. T is const where they may only be read. Valid while forEachLocal() runs.
///
/// The parts are even bands of the slowest dimension, one for each device of the default device's
/// type. On several ranks each rank reads those of its own devices, and writes all of them: what is
/// written has to be the same on all.
template <class T, std::size_t N>
class LocalPart {
 public:
  using Sizes = std::array<std::size_t, N>;

  LocalPart(T* data, const Sizes& first, const Sizes& extents, const Sizes& whole)
      : data_(data), first_(first), extents_(extents), whole_(whole) {
    std::size_t stride = 1;
    for (std::size_t d = N; d-- > 0; stride *= whole[d]) strides_[d] = stride;
  }

  /// Index of its first cell in the array, as in a(i, j), and the numbers of its cells and of the
  /// array's, slowest dimension first.
  const Sizes& first() const noexcept { return first_; }
  const Sizes& extents() const noexcept { return extents_; }
  const Sizes& wholeExtents() const noexcept { return whole_; }
  /// Whether it begins, or ends, where the array does; dimensions count from 0.
  bool atBegin(int dimension) const { return first_[static_cast<std::size_t>(dimension)] == 0; }
  bool atEnd(int dimension) const {
    const auto d = static_cast<std::size_t>(dimension);
    return first_[d] + extents_[d] == whole_[d];
  }
  /// Its first cell; neighbours along a dimension are strides() elements apart.
  T* data() const noexcept { return data_; }
  const Sizes& strides() const noexcept { return strides_; }
  /// The cell of the array's index (i, j, ...).
  template <class... I>
  T& operator()(I... indices) const {
    static_assert(sizeof...(I) == N, "HPL: a part of an array of N dimensions takes N indices");
    const Sizes at{static_cast<std::size_t>(indices)...};
    std::size_t offset = 0;
    for (std::size_t d = 0; d < N; ++d) offset += (at[d] - first_[d]) * strides_[d];
    return data_[offset];
  }

 private:
  T* data_;
  Sizes first_, extents_, whole_, strides_{};
};

namespace stencils {

template <class P, class T, int N>
std::vector<LocalPart<P, N> > partsOf(const Array<T, N>& array, P* data) {
  typename LocalPart<P, N>::Sizes whole{};
  for (std::size_t d = 0; d < N; ++d) whole[d] = array.getDimension(static_cast<int>(d));
  std::vector<LocalPart<P, N> > parts;
  const std::size_t count = hpl::devices(defaultDevice().type()).size();
  typename LocalPart<P, N>::Sizes first{}, extents = whole;
  for (std::size_t i = 0; i < count; ++i) {
    extents[0] = whole[0] / count + (i < whole[0] % count ? 1 : 0);
    if (extents[0] == 0) break;
    parts.emplace_back(data + first[0] * (array.size() / whole[0]), first, extents, whole);
    first[0] += extents[0];
  }
  return parts;
}

}  // namespace stencils

/// Calls f(part) for each part. The old contents are there; what is written is the array's value.
template <class T, int N, class F>
void forEachLocal(Array<T, N>& array, F&& f) {
  for (const auto& part : stencils::partsOf(array, array.data())) f(part);
}
template <class T, int N, class F>
void forEachLocal(const Array<T, N>& array, F&& f) {
  const auto parts = stencils::partsOf(array, array.data());
  const std::vector<Device> devices = hpl::devices(defaultDevice().type());
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (devices[i].isLocal()) f(parts[i]);
}

}  // namespace hpl

#endif

namespace hpl::stencils {

/// The parts of an array, and those of another one that is cut alike, both for as long as no other
/// operation is made.
template <class T, int N>
auto partsToCopy(const Array<T, N>& from, Array<T, N>& to) {
#if HPL_HAS_LOCAL_PARTS
  auto source = from.local();
  return std::pair(std::move(source), to.local());
#else
  const T* const source = from.data();
  return std::pair(partsOf(from, source), partsOf(to, to.data()));
#endif
}

}  // namespace hpl::stencils
