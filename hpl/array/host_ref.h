// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "hpl/memory/view.h"

namespace hpl {

/// An element of an array on the host, as `a(i, j)` gives it. Reading brings the host's copy up to
/// date, writing makes it the only current one; both cost one predictable branch once that is so.
/// Programs that define HPL_NO_AUTOSYNC (everywhere) do without the check and must call data().
template <class T>
class HostRef {
 public:
  using hpl_host_type = T;

  HostRef(memory::View& view, std::int64_t offset) : view_(&view), offset_(offset) {}
  HostRef(const HostRef&) = default;

  operator T() const { return value(); }
  T value() const {
    requireReadable();
    return *address();
  }
  /// Fields and lanes for reading: `a(i)->x`.
  const T* operator->() const {
    requireReadable();
    return address();
  }

  const HostRef& operator=(const T& value) const {
    requireWritable();
    *address() = value;
    return *this;
  }
  HostRef& operator=(const HostRef& other) {
    *this = other.value();
    return *this;
  }

#define HPL_HOST_COMPOUND(symbol)                           \
  template <class U>                                        \
  const HostRef& operator symbol##=(const U& other) const { \
    return *this = static_cast<T>(value() symbol other);    \
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
  T* address() const { return reinterpret_cast<T*>(view_->host) + offset_; }
  void requireReadable() const {
#ifndef HPL_NO_AUTOSYNC
    if ((view_->hostState.load(std::memory_order_acquire) & memory::kHostReadable) == 0)
        [[unlikely]]
      view_->openForReading();
#endif
  }
  void requireWritable() const {
#ifndef HPL_NO_AUTOSYNC
    // Relaxed: whoever writes an array has it to itself, so no other thread opened it meanwhile.
    if ((view_->hostState.load(std::memory_order_relaxed) & memory::kHostWritable) == 0)
        [[unlikely]]
      view_->openForWriting();
#endif
  }

  memory::View* view_;
  std::int64_t offset_;
};

}  // namespace hpl
