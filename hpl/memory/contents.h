// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/memory/root.h"

namespace hpl::memory {

/// Copies the contents of `src` to `dst`, as if through a temporary when they overlap. It happens
/// where it moves least: on the device where both live; else into the device where `dst` lives;
/// else on a device that holds `src`; else on the host. Asynchronous unless the host takes part.
/// Throws ShapeError that names both shapes when they differ or the element sizes do.
void copy(View& dst, View& src);

/// Sets every cell of `dst` to the `elementSize` bytes at `element`: on the device where `dst`
/// lives, asynchronously, else on the host.
void fill(View& dst, const void* element);

}  // namespace hpl::memory
