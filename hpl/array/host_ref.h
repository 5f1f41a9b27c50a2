// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "hpl/array/detail/array_base.h"

namespace hpl {

/// An element of an N-dimensional array on the host, as `a(i, j)` gives it; valid as long as the
/// handle `a`. Reading brings the host's copy up to date, writing makes it the only current one;
/// both cost one predictable branch once that is so. Both throw ShapeError outside of the array.
/// Programs that define HPL_NO_AUTOSYNC (everywhere) do without the check and must call data().
template <class T, int N>
class HostRef {
 public:
  using hpl_host_type = T;

  /// One index per dimension.
  template <class... I>
  explicit HostRef(const detail::ArrayBase& array, I... indices)
      : array_(&array), indices_{static_cast<std::int64_t>(indices)...} {
    static_assert(sizeof...(I) == N);
  }
  HostRef(const HostRef&) = default;

  operator T() const { return value(); }
  T value() const { return *readable(); }
  /// Fields and lanes for reading: `a(i)->x`.
  const T* operator->() const { return readable(); }

  const HostRef& operator=(const T& value) const {
    modify([&](T& element) { element = value; });
    return *this;
  }
  HostRef& operator=(const HostRef& other) {  // NOLINT(bugprone-unhandled-self-assignment): a value
    *this = other.value();
    return *this;
  }

#define HPL_HOST_COMPOUND(symbol)                                                \
  template <class U>                                                             \
  const HostRef& operator symbol##=(const U& other) const {                      \
    modify([&](T& element) { element = static_cast<T>(element symbol other); }); \
    return *this;                                                                \
  }
  HPL_HOST_COMPOUND(+)
  HPL_HOST_COMPOUND(-)
  HPL_HOST_COMPOUND(*)
  HPL_HOST_COMPOUND(/)
  HPL_HOST_COMPOUND(%)
  HPL_HOST_COMPOUND(&)
  HPL_HOST_COMPOUND(|)
  HPL_HOST_COMPOUND(^)
  HPL_HOST_COMPOUND(<<)
  HPL_HOST_COMPOUND(>>)
#undef HPL_HOST_COMPOUND

  const HostRef& operator++() const { return *this += 1; }
  const HostRef& operator--() const { return *this -= 1; }
  T operator++(int) const {
    const T before = value();
    *this += 1;
    return before;
  }
  T operator--(int) const {
    const T before = value();
    *this -= 1;
    return before;
  }

  friend void swap(HostRef a, HostRef b) {
    const T saved = a.value();
    a = b.value();
    b = saved;
  }

 private:
  using Indices = std::array<std::int64_t, N>;

  // Unsigned: rejects negative indices as well.
  [[gnu::always_inline]] static bool beyond(std::int64_t index, std::uint64_t extent) {
    return __builtin_expect_with_probability(static_cast<std::uint64_t>(index) >= extent, 0, 1.0);
  }
  [[gnu::always_inline]] bool outside(const memory::View& view, std::uint64_t lastExtent) const {
    for (int d = 0; d + 1 < N; ++d)
      if (beyond(indices_[static_cast<std::size_t>(d)],
                 static_cast<std::uint64_t>(view.extents[d])))
        return true;
    return beyond(indices_[N - 1], lastExtent);
  }
  [[gnu::always_inline]] T* at(const memory::View& view) const {
    std::int64_t offset = indices_[N - 1];
    for (int d = 0; d + 1 < N; ++d)
      offset += indices_[static_cast<std::size_t>(d)] * view.strides[d];
    return reinterpret_cast<T*>(view.host) + offset;
  }

  // Below, indices are copied: what a function is given the address of cannot live in registers.

#ifdef HPL_NO_AUTOSYNC
  const T* readable() const {
    const memory::View& view = array_->cells();
    if (outside(view, static_cast<std::uint64_t>(view.extents[N - 1]))) {
      const Indices indices = indices_;
      array_->throwOutOfRange(indices.data());
    }
    return at(view) + indices_[N - 1] * (view.strides[N - 1] - 1);
  }
  template <class Change>
  [[gnu::always_inline]] void modify(Change change) const {
    change(*const_cast<T*>(readable()));
  }
#else
  const T* readable() const {
    const memory::View& view = array_->cells();
    if (outside(view, view.readableExtent.load(std::memory_order_acquire))) {
      const Indices indices = indices_;
      return reinterpret_cast<const T*>(array_->elementForReading(indices.data()));
    }
    return at(view);
  }

  // The compiled form of a loop over elements should hold everything but the elements themselves in
  // registers. The obstacle is the function that opens the view: for all the compiler knows, it
  // changes the array and the view altogether. So, behind it, we store the values that it leaves as
  // they were, and read everything once more where both ways meet, as if for use by an instruction
  // of no effect: then both ways end with the same values at hand, and GCC (-O2) finds that nothing
  // in the loop changes, save for `openExtent` where the view was opened.
  //
  // An array that gets its host memory when it is opened has a `first` that did change. The old one
  // is stored then; elementForWriting() sees to it that it is not followed.
  template <class Change>
  [[gnu::always_inline]] void modify(Change change) const {
    memory::View& view = array_->cells();
    const memory::ElementWrites known = view.writes;
    if (outside(known)) {
      const Indices indices = indices_;
      change(*reinterpret_cast<T*>(array_->elementForWriting(indices.data(), known.first)));
      array_->keepCells(view);
      view.writes.first = known.first;
      for (std::size_t d = 0; d + 1 < N; ++d) {
        view.writes.extents[d] = known.extents[d];
        view.writes.strides[d] = known.strides[d];
      }
    } else {
      std::uint64_t offset = static_cast<std::uint64_t>(indices_[N - 1]);
      for (std::size_t d = 0; d + 1 < N; ++d)
        offset +=
            static_cast<std::uint64_t>(indices_[d]) * static_cast<std::uint64_t>(known.strides[d]);
      change(reinterpret_cast<T*>(known.first)[offset]);
    }
    readAgain(array_->cells().writes);
  }
  [[gnu::always_inline]] bool outside(const memory::ElementWrites& writes) const {
    for (std::size_t d = 0; d + 1 < N; ++d)
      if (beyond(indices_[d], static_cast<std::uint64_t>(writes.extents[d]))) return true;
    return beyond(indices_[N - 1], static_cast<std::uint64_t>(writes.openExtent));
  }
  [[gnu::always_inline]] static void readAgain(const memory::ElementWrites& writes) {
#if defined(__GNUC__) && !defined(__clang__)  // clang needs no help, and would use memory
    asm volatile("" : : "g"(writes.first), "g"(writes.openExtent));
    for (std::size_t d = 0; d + 1 < N; ++d)
      asm volatile("" : : "g"(writes.extents[d]), "g"(writes.strides[d]));
#else
    static_cast<void>(writes);
#endif
  }
#endif

  const detail::ArrayBase* array_;
  Indices indices_;
};

}  // namespace hpl
