// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

/// Memory for the handles of views, to which programs keep references: `auto& v = a(Range(..))`. A
/// view may be dropped under such a reference, which then has to say so instead of naming another
/// view. Each place is therefore given out once only, and reads as a handle of a dropped view when
/// its own is gone. That costs addresses, and no memory: pages of dropped handles go back to the
/// system and show the same few pages of a file.
namespace hpl::detail {

/// Bytes of a place.
inline constexpr std::size_t kHandleBytes = 128;

/// Memory for a handle. Throws std::bad_alloc.
void* takeHandlePlace();
/// Turns the place of a handle, whose destructor has run, into a handle of a dropped view.
void dropHandlePlace(void* place) noexcept;

}  // namespace hpl::detail
