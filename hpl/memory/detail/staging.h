// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "hpl/geometry/box.h"
#include "hpl/geometry/rect_copy.h"
#include "hpl/runtime/detail/device_state.h"

namespace hpl::memory::detail {

/// The driver calls behind transfers. Each list of rectangles becomes one command per rectangle on
/// an in-order queue: the first waits for `waits`, the event of the last is returned, and the
/// queue is flushed so that others may wait for it. All throw DeviceError.
cl::Event enqueueWrites(runtime::DeviceState& device, const cl::Buffer& buffer,
                        const std::byte* host, const std::vector<geometry::RectCopy>& copies,
                        const std::vector<cl::Event>& waits, const std::string& label);
cl::Event enqueueReads(runtime::DeviceState& device, const cl::Buffer& buffer, std::byte* host,
                       const std::vector<geometry::RectCopy>& copies,
                       const std::vector<cl::Event>& waits, const std::string& label);
cl::Event enqueueCopies(runtime::DeviceState& device, const cl::CommandQueue& queue,
                        const cl::Buffer& src, const cl::Buffer& dst,
                        const std::vector<geometry::RectCopy>& copies,
                        const std::vector<cl::Event>& waits, const std::string& label);

/// A copy between buffers of different contexts, through the host.
struct StagedCopy {
  runtime::DeviceState* srcDevice = nullptr;
  cl::Buffer srcBuffer;
  geometry::Box srcEnclosing;
  geometry::Box srcBox;
  runtime::DeviceState* dstDevice = nullptr;
  cl::Buffer dstBuffer;
  geometry::Box dstEnclosing;
  geometry::Box dstBox;
  std::size_t elementSize = 0;
  std::string label;
};

/// Copies between contexts that pass through the host's memory without the host's help hold at most
/// this much of it each; what is larger is driven by runStagedCopy, which needs two chunks.
inline constexpr std::size_t kMostBytesInFlight = std::size_t{32} << 20;

/// The last commands of a staged copy on either side.
struct StagedEvents {
  cl::Event read;
  cl::Event written;
};

/// Starts a staged copy that runs by itself: chunk by chunk, the source's transfer queue reads
/// (after `readWaits`, events of its context) and the destination's, which must honour user events,
/// writes what has been read (after `writeWaits`). Counts the bytes.
StagedEvents enqueueStagedCopy(const StagedCopy& job, const std::vector<cl::Event>& readWaits,
                               const std::vector<cl::Event>& writeWaits);

/// Runs a staged copy to its end: in chunks, reading one while the previous one is written.
void runStagedCopy(const StagedCopy& job);

}  // namespace hpl::memory::detail
