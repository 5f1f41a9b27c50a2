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
    *writable() = value;
    return *this;
  }
  HostRef& operator=(const HostRef& other) {
    *this = other.value();
    return *this;
  }

#define HPL_HOST_COMPOUND(symbol)                           \
  template <class U>                                        \
  const HostRef& operator symbol##=(const U& other) const { \
    T& element = *writable();                               \
    element = static_cast<T>(element symbol other);         \
    return *this;                                           \
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
  using Steps = std::array<detail::ArrayBase::Step, N>;
  Steps stepsIn(const memory::View& view) const {
    Steps steps;
    for (int d = 0; d < N; ++d) {
      // Unsigned, where an index that is far outside does no harm before it is refused.
      const auto index = static_cast<std::uint64_t>(indices_[static_cast<std::size_t>(d)]);
      const auto stride = static_cast<std::uint64_t>(view.strides[d]);
      steps[static_cast<std::size_t>(d)] = {view.extents[d], d + 1 < N ? index * stride : index};
    }
    return steps;
  }
  T* at(std::byte* base, const Steps& steps) const {
    std::uint64_t offset = 0;
    for (std::size_t d = 0; d < N; ++d) {
      // Unsigned comparison rejects negative indices as well.
      if (static_cast<std::uint64_t>(indices_[d]) >= static_cast<std::uint64_t>(steps[d].extent))
          [[unlikely]]
        refuse();
      offset += steps[d].offset;
    }
    return reinterpret_cast<T*>(base) + static_cast<std::int64_t>(offset);
  }
  // Inline, and with copies: what a function is given the address of cannot live in registers.
  [[noreturn, gnu::always_inline]] void refuse() const {
    const Indices indices = indices_;
    array_->throwOutOfRange(indices.data());
  }
  [[gnu::always_inline]] void open(const Steps& closed, bool forWriting) const {
    const Indices indices = indices_;
    const Steps steps = closed;
    array_->openForElement(indices.data(), steps.data(), forWriting);
  }

#ifdef HPL_NO_AUTOSYNC
  const T* readable() const { return writable(); }
  T* writable() const { return at(array_->cells().host, stepsIn(array_->cells())); }
#else
  const T* readable() const {
    const memory::View& view = array_->cells();
    std::byte* base = view.readable.load(std::memory_order_acquire);
    if (base == nullptr) [[unlikely]] {
      open(stepsIn(view), false);
      base = view.host;
    }
    return at(base, stepsIn(view));
  }
  // Everything is read before the branch and again behind it. The second time costs nothing when
  // the view is open, since nothing happened in between; and because both ways out of the branch
  // then end with the same values at hand, compilers (GCC at -O2) keep them in registers from one
  // iteration of a loop to the next, reloading them only where the view had to be opened.
  T* writable() const {
    const memory::View* view = &array_->cells();
    std::byte* base = view->writable;
    Steps steps = stepsIn(*view);
    if (base == nullptr) [[unlikely]]
      open(steps, true);
    view = &array_->cells();
    base = view->writable;
    steps = stepsIn(*view);
    return at(base, steps);
  }
#endif

  const detail::ArrayBase* array_;
  Indices indices_;
};

}  // namespace hpl
