// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "hpl/geometry/rect_copy.h"
#include "hpl/runtime/device_state.h"

/// Kernels that copy many boxes at once, for devices whose memory the host cannot reach: one kernel
/// for each pair of buffers, which finds its boxes in a table on the device (HPL_PACK).
namespace hpl::memory::detail {

/// Whether boxes that travel together are gathered and scattered by kernels of the device.
bool usesBoxKernels(const runtime::DeviceState& device);

/// Copies between buffers, and between buffers and the dense memory of a message. Made once, and
/// enqueued as often as the copies are repeated, which allocates nothing. To be used under the
/// coherence lock, as long as the buffers live.
class BoxKernels {
 public:
  bool empty() const noexcept { return pairs_.empty(); }

  /// Enqueues them on an in-order queue of the device: the first waits for `waits`. The driver's
  /// code, and if it is CL_SUCCESS the event of the last. `message`: the dense memory; null where
  /// there is none. `begun`: a kernel is on its way, in failure, too. Throws DeviceError where a
  /// kernel does not compile.
  cl_int enqueue(runtime::DeviceState& device, const cl::CommandQueue& queue, cl_mem message,
                 const std::vector<cl::Event>& waits, cl::Event& last, bool& begun) const;

 private:
  friend class BoxKernelsMaker;
  struct Pair {
    /// Null: the message.
    cl_mem src = nullptr;
    cl_mem dst = nullptr;
    std::shared_ptr<cl::Buffer> table;
    cl_uint boxes = 0;
    std::size_t units = 0;
    /// Bytes of a unit.
    std::size_t unit = 1;
  };
  std::vector<Pair> pairs_;
};

/// Collects boxes.
class BoxKernelsMaker {
 public:
  /// A null buffer stands for the message, in which the copies begin at byte `at`.
  void add(const std::vector<geometry::RectCopy>& copies, cl_mem src, cl_mem dst, std::size_t at);
  /// Throws DeviceError where the tables find no place on the device, or a kernel does not compile.
  BoxKernels made(runtime::DeviceState& device) const;

 private:
  struct Pair {
    cl_mem src;
    cl_mem dst;
    std::vector<geometry::RectCopy> boxes;
  };
  std::vector<Pair> pairs_;
};

/// Gives the kernels back; no command may be using them.
void clearBoxKernels();

}  // namespace hpl::memory::detail
