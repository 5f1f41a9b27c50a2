// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "hpl/memory/root.h"

namespace hpl::memory {

/// Where `dst` or `src` was made from a view that is some device's part of a distribution with
/// ghosts (View::parent), both mean that device's copy and no other (paper, Fig. 4): what they
/// write into its ghosts stays there, and what they write into its core is the array's value, of
/// which neighbours learn by the next exchange. Everything else means the array.

/// Copies the contents of `src` to `dst`, as if through a temporary when they overlap. It happens
/// where it moves least: on the device where both live; else into the device where `dst` lives;
/// else on a device that holds `src`; else on the host. Asynchronous unless the host takes part.
/// Throws ShapeError that names both shapes when they differ or the element sizes do.
void copy(View& dst, View& src);

/// Throws ShapeError where copy() would.
void requireAssignable(const View& dst, const View& src);

/// An array for the library's own use, with the elements and the label of `root`, of this shape. It
/// has no contents, and no memory on the host.
std::shared_ptr<Root> scratchLike(const Root& root, const geometry::Extents& shape);

/// Sets every cell of `dst` to the `elementSize` bytes at `element`: on the device where `dst`
/// lives, asynchronously, else on the host.
void fill(View& dst, const void* element);

}  // namespace hpl::memory
