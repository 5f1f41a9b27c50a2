// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "hpl/geometry/rect_copy.h"
#include "hpl/runtime/device_state.h"

/// Strided faces, such as the columns between the parts of PART2, are many short rows. Drivers of
/// discrete devices move each of them by itself; a kernel on the device gathers them into a dense
/// buffer, which moves at once (HPL_PACK).
namespace hpl::memory::detail {

/// When the queue of a command is flushed. Others may wait for the command only after that.
enum class Flush {
  Now,
  Later  ///< by the caller, who has more to enqueue
};

/// Whether these copies should be gathered or scattered by a kernel of the device.
bool shouldPack(const runtime::DeviceState& device, const std::vector<geometry::RectCopy>& copies);

/// Runs the copies between two buffers of the device's context by kernels on `queue`: the first
/// waits for `waits`, and the event of the last is returned. `label` names the array in errors.
/// Throws DeviceError.
cl::Event enqueueKernelCopies(runtime::DeviceState& device, const cl::CommandQueue& queue,
                              const cl::Buffer& src, const cl::Buffer& dst,
                              const std::vector<geometry::RectCopy>& copies,
                              const std::vector<cl::Event>& waits, const std::string& label,
                              Flush flush);

/// A dense buffer of at least `bytes` for the commands of one of the device's queues, which runs
/// them in order: the next caller may use it for its own commands. To be used under the coherence
/// lock.
const cl::Buffer& packBuffer(runtime::DeviceState& device, runtime::QueueKind kind,
                             std::size_t bytes);

/// Gives kernels and buffers back; no command may be using them.
void clearPacking();

}  // namespace hpl::memory::detail
