// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hpl/geometry/box.h"
#include "hpl/geometry/rect_copy.h"
#include "hpl/memory/detail/packing.h"
#include "hpl/memory/detail/staging_pool.h"
#include "hpl/runtime/device_state.h"

namespace hpl::memory::detail {

/// The driver calls behind transfers. Each list of rectangles becomes one command per rectangle on
/// an in-order queue: the first waits for `waits`, and the event of the last is returned. All throw
/// DeviceError.
cl::Event enqueueWrites(runtime::DeviceState& device, const cl::Buffer& buffer,
                        const std::byte* host, std::span<const geometry::RectCopy> copies,
                        const std::vector<cl::Event>& waits, const std::string& label,
                        Flush flush = Flush::Now);
cl::Event enqueueReads(runtime::DeviceState& device, const cl::Buffer& buffer, std::byte* host,
                       std::span<const geometry::RectCopy> copies,
                       const std::vector<cl::Event>& waits, const std::string& label,
                       Flush flush = Flush::Now);
cl::Event enqueueCopies(runtime::DeviceState& device, const cl::CommandQueue& queue,
                        const cl::Buffer& src, const cl::Buffer& dst,
                        const std::vector<geometry::RectCopy>& copies,
                        const std::vector<cl::Event>& waits, const std::string& label,
                        Flush flush = Flush::Now);

/// The two sides of a copy between buffers of different contexts, through the host.
struct StagedEnds {
  runtime::DeviceState& srcDevice;
  const cl::Buffer& srcBuffer;
  runtime::DeviceState& dstDevice;
  const cl::Buffer& dstBuffer;
  const std::string& label;
};

/// Cells that pass through the host's memory together, where they are dense.
struct StagedChunk {
  std::vector<geometry::RectCopy> reads;
  std::vector<geometry::RectCopy> writes;
  std::size_t bytes = 0;
};

/// The chunks of a copy of `srcBox`, in a buffer that holds `srcEnclosing`, to `dstBox` in one that
/// holds `dstEnclosing`.
std::vector<StagedChunk> stagedChunks(const geometry::Box& srcEnclosing,
                                      const geometry::Box& srcBox,
                                      const geometry::Box& dstEnclosing,
                                      const geometry::Box& dstBox, std::size_t elementSize);

/// Copies between contexts that pass through the host's memory without the host's help hold at most
/// this much of it each; what is larger is driven by runStagedCopy, which needs two chunks.
inline constexpr std::size_t kMostBytesInFlight = std::size_t{32} << 20;

/// Reads cells of a buffer to dense memory of the host, `bytes` in all, or writes them from there,
/// on the device's transfer queue; faces are gathered by kernels where that is faster.
cl::Event enqueueDenseReads(runtime::DeviceState& device, const cl::Buffer& buffer,
                            const std::vector<geometry::RectCopy>& copies, std::size_t bytes,
                            std::byte* host, const std::vector<cl::Event>& waits,
                            const std::string& label, Flush flush);
cl::Event enqueueDenseWrites(runtime::DeviceState& device, const cl::Buffer& buffer,
                             const std::vector<geometry::RectCopy>& copies, std::size_t bytes,
                             const std::byte* host, const std::vector<cl::Event>& waits,
                             const std::string& label, Flush flush);

/// A chunk on its way through the host's memory.
struct ChunkOnHost {
  StagingMemory memory;
  cl::Event read;  ///< brings the cells there
};

/// The two halves of a staged copy that runs by itself: the source's transfer queue reads a chunk
/// (after `readWaits`, events of its context), and the destination's, which must honour user
/// events, writes what has been read (after `writeWaits`). The lists are changed, the bytes counted
/// with the second half.
ChunkOnHost enqueueChunkRead(const StagedEnds& ends, const StagedChunk& chunk,
                             std::vector<cl::Event>& readWaits, Flush flush);
cl::Event enqueueChunkWrite(const StagedEnds& ends, const StagedChunk& chunk, ChunkOnHost& onHost,
                            std::vector<cl::Event>& writeWaits, Flush flush);

/// The last commands of a staged copy on either side.
struct StagedEvents {
  cl::Event read;
  cl::Event written;
};

/// Starts a staged copy that runs by itself, chunk by chunk: the first is read after `readWaits`
/// and written after `writeWaits`.
StagedEvents enqueueStagedCopy(const StagedEnds& ends, const std::vector<StagedChunk>& chunks,
                               std::vector<cl::Event>& readWaits,
                               std::vector<cl::Event>& writeWaits, Flush flush = Flush::Now);

/// Runs a staged copy to its end: reads one chunk while the previous one is written.
void runStagedCopy(const StagedEnds& ends, const std::vector<StagedChunk>& chunks);

}  // namespace hpl::memory::detail
