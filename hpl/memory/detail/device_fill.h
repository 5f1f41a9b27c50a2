// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/memory/detail/coherence.h"

namespace hpl::memory::detail {

/// Enqueues, on the device's compute queue, commands that set every cell of `box` in a buffer that
/// holds `enclosing` to the element; the first waits for `waits`. A strided box takes a number of
/// commands that is logarithmic in its extents.
void enqueueFill(DeviceState& device, const cl::Buffer& buffer, const Box& enclosing,
                 const Box& box, const void* element, const Root& root, const WaitList& waits);

}  // namespace hpl::memory::detail
