// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>

#include "hpl/array/array.h"
#include "hpl/array/parameter.h"
#include "hpl/lang/capture.h"
#include "hpl/memory/view.h"

namespace hpl {

namespace detail {

/// One exchange of all these arrays' ghosts.
void syncGhosts(std::span<memory::View* const> views);

}  // namespace detail

/// The same as `a.syncGhosts()`, for several arrays in one exchange: cells that go from one device
/// to the same other one travel together, so that three arrays with small ghosts cost hardly more
/// than one. Arrays that are not distributed with overlaps cost nothing. Throws ArgumentError when
/// two arguments are one array, or views of one; KernelError inside a kernel; DeviceError as
/// `a.syncGhosts()`, after which the ghosts that have arrived are up to date and the others as they
/// were.
template <class First, class... More>
void syncGhosts(const First& first, const More&... more) {
  constexpr bool kAreArrays =
      detail::ArrayTraits<First>::kIsArray && (detail::ArrayTraits<More>::kIsArray && ...);
  static_assert(kAreArrays,
                "HPL: syncGhosts(a, b, ...) exchanges the ghosts of Array<T, N>s; name no other "
                "arguments");
  if constexpr (kAreArrays) {
    detail::refuseInKernel("syncGhosts(...)");
    const std::array<memory::View*, 1 + sizeof...(More)> views{&first.hostView(),
                                                               &more.hostView()...};
    detail::syncGhosts(views);
  }
}

}  // namespace hpl
