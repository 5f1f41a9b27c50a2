// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/staging.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "hpl/memory/detail/half_done.h"
#include "hpl/memory/detail/packing.h"
#include "hpl/memory/detail/queue.h"
#include "hpl/runtime/events.h"
#include "hpl/runtime/log.h"
#include "hpl/runtime/relay.h"
#include "hpl/runtime/runtime.h"
#include "hpl/trace/timeline.h"

namespace hpl::memory::detail {

namespace {

using geometry::Box;
using geometry::RectCopy;
using runtime::Concern;

// The arguments that every enqueue ends with, for command `i` of `count` on an in-order queue.
struct Tail {
  cl_uint waitCount;
  const cl_event* waits;
  cl_event* event;

  Tail(std::size_t i, std::size_t count, const std::vector<cl::Event>& list, cl_event* last)
      : waitCount(i == 0 ? static_cast<cl_uint>(list.size()) : 0),
        // cl::Event is a cl_event and nothing else, which the bindings themselves rely on.
        waits(waitCount == 0 ? nullptr : reinterpret_cast<const cl_event*>(list.data())),
        event(i + 1 == count ? last : nullptr) {}
};

// No command may outlive its memory, or its place in the books. Other queues may have been told to
// begin later, and this one may wait for them.
void finishAfterFailure(const runtime::DeviceState& device, const cl::CommandQueue& queue) {
  runtime::Runtime::flushAll();
  if (runtime::finished(queue) != CL_SUCCESS)
    runtime::log::error("commands of device " + device.name() + " may still be under way");
}

[[noreturn]] void throwHalfDone(const runtime::DeviceState& device, const cl::CommandQueue& queue,
                                cl_int code, const char* call, const std::string& label) {
  finishAfterFailure(device, queue);
  try {
    runtime::throwDeviceError(code, call, &device, Concern::array(label));
  } catch (const DeviceError& error) {
    throw HalfDoneError(error);
  }
}

// Runs `enqueue(copy, tail)` for each rectangle.
template <class Enqueue>
cl::Event enqueueAll(const runtime::DeviceState& device, const cl::CommandQueue& queue,
                     std::span<const RectCopy> copies, const std::vector<cl::Event>& waits,
                     const char* call, const std::string& label, Flush flush, Enqueue&& enqueue) {
  cl_event last = nullptr;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const auto attempt = [&] { return enqueue(copies[i], Tail(i, copies.size(), waits, &last)); };
    const cl_int code = i == 0 ? attempt() : runtime::insist(attempt);
    if (code == CL_SUCCESS) continue;
    if (i == 0) runtime::throwDeviceError(code, call, &device, Concern::array(label));
    throwHalfDone(device, queue, code, call, label);
  }
  cl::Event event(last);
  const cl_int code = flush == Flush::Now ? runtime::flushed(queue) : CL_SUCCESS;
  if (code != CL_SUCCESS) throwHalfDone(device, queue, code, "clFlush", label);
  return event;
}

}  // namespace

cl::Event enqueueWrites(runtime::DeviceState& device, const cl::Buffer& buffer,
                        const std::byte* host, std::span<const RectCopy> copies,
                        const std::vector<cl::Event>& waits, const std::string& label,
                        Flush flush) {
  const cl::CommandQueue& queue = device.queue(QueueKind::In);
  return enqueueAll(device, queue, copies, waits, "writing an array to the device", label, flush,
                    [&](const RectCopy& c, const Tail& tail) {
                      if (c.isContiguous()) {
                        return clEnqueueWriteBuffer(queue(), buffer(), CL_FALSE, c.dstOffset(),
                                                    c.bytes(), host + c.srcOffset(), tail.waitCount,
                                                    tail.waits, tail.event);
                      }
                      return clEnqueueWriteBufferRect(
                          queue(), buffer(), CL_FALSE, c.dstOrigin, c.srcOrigin, c.region,
                          c.dstRowPitch, c.dstSlicePitch, c.srcRowPitch, c.srcSlicePitch, host,
                          tail.waitCount, tail.waits, tail.event);
                    });
}

cl::Event enqueueReads(runtime::DeviceState& device, const cl::Buffer& buffer, std::byte* host,
                       std::span<const RectCopy> copies, const std::vector<cl::Event>& waits,
                       const std::string& label, Flush flush) {
  const cl::CommandQueue& queue = device.queue(QueueKind::Out);
  return enqueueAll(device, queue, copies, waits, "reading an array from the device", label, flush,
                    [&](const RectCopy& c, const Tail& tail) {
                      if (c.isContiguous()) {
                        return clEnqueueReadBuffer(queue(), buffer(), CL_FALSE, c.srcOffset(),
                                                   c.bytes(), host + c.dstOffset(), tail.waitCount,
                                                   tail.waits, tail.event);
                      }
                      return clEnqueueReadBufferRect(
                          queue(), buffer(), CL_FALSE, c.srcOrigin, c.dstOrigin, c.region,
                          c.srcRowPitch, c.srcSlicePitch, c.dstRowPitch, c.dstSlicePitch, host,
                          tail.waitCount, tail.waits, tail.event);
                    });
}

cl::Event enqueueCopies(runtime::DeviceState& device, const cl::CommandQueue& queue,
                        const cl::Buffer& src, const cl::Buffer& dst,
                        const std::vector<RectCopy>& copies, const std::vector<cl::Event>& waits,
                        const std::string& label, Flush flush) {
  if (shouldPack(device, copies))
    return enqueueKernelCopies(device, queue, src, dst, copies, waits, label, flush);
  return enqueueAll(
      device, queue, copies, waits, "copying an array on the device", label, flush,
      [&](const RectCopy& c, const Tail& tail) {
        if (c.isContiguous()) {
          return clEnqueueCopyBuffer(queue(), src(), dst(), c.srcOffset(), c.dstOffset(), c.bytes(),
                                     tail.waitCount, tail.waits, tail.event);
        }
        return clEnqueueCopyBufferRect(queue(), src(), dst(), c.srcOrigin, c.dstOrigin, c.region,
                                       c.srcRowPitch, c.srcSlicePitch, c.dstRowPitch,
                                       c.dstSlicePitch, tail.waitCount, tail.waits, tail.event);
      });
}

namespace {

constexpr std::size_t kChunkBytes = std::size_t{4} << 20;

// Cuts a box into pieces of at most kChunkBytes, halving the slowest dimension that can be cut.
void cutIntoChunks(const Box& box, std::size_t elementSize, std::vector<Box>& chunks) {
  if (static_cast<std::size_t>(box.volume()) * elementSize > kChunkBytes) {
    for (int d = 0; d < box.rank(); ++d) {
      if (box.extent(d) < 2) continue;
      const geometry::Index middle = box.lo(d) + box.extent(d) / 2;
      cutIntoChunks(box.withRange(d, box.lo(d), middle), elementSize, chunks);
      cutIntoChunks(box.withRange(d, middle, box.hi(d)), elementSize, chunks);
      return;
    }
  }
  chunks.push_back(box);
}

// Two of them are in use at a time; whatever happens, no command may outlive its memory.
struct HostChunk {
  std::unique_ptr<std::byte[]> memory;
  cl::Event read;
  cl::Event written;

  ~HostChunk() {
    for (cl::Event* event : {&read, &written}) {
      if ((*event)() != nullptr) runtime::endOf((*event)());
    }
  }
};

// Notes the phase of a message, if the command belongs to one.
void notePhase(trace::Phase phase, const runtime::DeviceState& device, const cl::Event& event,
               const std::string& label, QueueKind kind) {
  const trace::PhaseScope scope(phase);
  trace::recordTransfer(trace::Transfer::DeviceToDevice, 0, device.index(), event(), label,
                        trackOf(device, kind));
}

// One contiguous piece.
RectCopy wholePiece(std::size_t bytes) {
  return {{0, 0, 0}, {0, 0, 0}, {bytes, 1, 1}, bytes, bytes, bytes, bytes};
}

void countStaged(const StagedEnds& ends, const StagedChunk& chunk, const cl::Event& read,
                 const cl::Event& written) {
  trace::recordTransfer(trace::Transfer::DeviceToDevice, 0, ends.srcDevice.index(), read(),
                        ends.label, trackOf(ends.srcDevice, QueueKind::Out));
  trace::recordTransfer(trace::Transfer::DeviceToDevice, chunk.bytes, ends.dstDevice.index(),
                        written(), ends.label);
}

}  // namespace

cl::Event enqueueDenseReads(runtime::DeviceState& device, const cl::Buffer& buffer,
                            const std::vector<RectCopy>& copies, std::size_t bytes, std::byte* host,
                            const std::vector<cl::Event>& waits, const std::string& label,
                            Flush flush) {
  if (!shouldPack(device, copies))
    return enqueueReads(device, buffer, host, copies, waits, label, flush);
  const cl::Buffer& packed = packBuffer(device, QueueKind::Out, bytes);
  notePhase(trace::Phase::Packing, device,
            enqueueKernelCopies(device, device.queue(QueueKind::Out), buffer, packed, copies, waits,
                                label, Flush::Later),
            label, QueueKind::Out);
  const RectCopy whole = wholePiece(bytes);
  return enqueueReads(device, packed, host, {&whole, 1}, {}, label, flush);
}

cl::Event enqueueDenseWrites(runtime::DeviceState& device, const cl::Buffer& buffer,
                             const std::vector<RectCopy>& copies, std::size_t bytes,
                             const std::byte* host, const std::vector<cl::Event>& waits,
                             const std::string& label, Flush flush) {
  if (!shouldPack(device, copies))
    return enqueueWrites(device, buffer, host, copies, waits, label, flush);
  const cl::Buffer& packed = packBuffer(device, QueueKind::In, bytes);
  const RectCopy whole = wholePiece(bytes);
  notePhase(trace::Phase::Writing, device,
            enqueueWrites(device, packed, host, {&whole, 1}, waits, label, Flush::Later), label,
            QueueKind::In);
  return enqueueKernelCopies(device, device.queue(QueueKind::In), packed, buffer, copies, {}, label,
                             flush);
}

std::vector<StagedChunk> stagedChunks(const Box& srcEnclosing, const Box& srcBox,
                                      const Box& dstEnclosing, const Box& dstBox,
                                      std::size_t elementSize) {
  std::vector<Box> boxes;
  cutIntoChunks(srcBox, elementSize, boxes);
  geometry::Point shift = dstBox.lo();
  for (int d = 0; d < shift.rank(); ++d) shift[d] -= srcBox.lo(d);
  std::vector<StagedChunk> chunks;
  for (const Box& from : boxes) {
    const Box to = from.translated(shift);
    chunks.push_back({geometry::rectCopies(srcEnclosing, from, from, from, elementSize),
                      geometry::rectCopies(to, to, dstEnclosing, to, elementSize),
                      static_cast<std::size_t>(from.volume()) * elementSize});
  }
  return chunks;
}

ChunkOnHost enqueueChunkRead(const StagedEnds& ends, const StagedChunk& chunk,
                             std::vector<cl::Event>& readWaits, Flush flush) {
  StagingMemory memory(chunk.bytes, ends.srcDevice);
  memory.addWaits(readWaits);
  cl::Event read = enqueueDenseReads(ends.srcDevice, ends.srcBuffer, chunk.reads, chunk.bytes,
                                     memory.data(), readWaits, ends.label, flush);
  memory.usedUntil(read, ends.srcDevice);
  return {std::move(memory), std::move(read)};
}

cl::Event enqueueChunkWrite(const StagedEnds& ends, const StagedChunk& chunk, ChunkOnHost& onHost,
                            std::vector<cl::Event>& writeWaits, Flush flush) {
  writeWaits.push_back(runtime::relay(onHost.read, ends.srcDevice, ends.dstDevice));
  cl::Event written = enqueueDenseWrites(ends.dstDevice, ends.dstBuffer, chunk.writes, chunk.bytes,
                                         onHost.memory.data(), writeWaits, ends.label, flush);
  onHost.memory.usedUntil(written, ends.dstDevice);
  countStaged(ends, chunk, onHost.read, written);
  return written;
}

StagedEvents enqueueStagedCopy(const StagedEnds& ends, const std::vector<StagedChunk>& chunks,
                               std::vector<cl::Event>& readWaits,
                               std::vector<cl::Event>& writeWaits, Flush flush) {
  StagedEvents last;
  for (const StagedChunk& chunk : chunks) {
    try {
      ChunkOnHost onHost = enqueueChunkRead(ends, chunk, readWaits, flush);
      last.written = enqueueChunkWrite(ends, chunk, onHost, writeWaits, flush);
      last.read = std::move(onHost.read);
    } catch (const DeviceError& error) {
      // The chunks before are on their way, and in no books yet.
      finishAfterFailure(ends.dstDevice, ends.dstDevice.queue(QueueKind::In));
      if (&chunk == &chunks.front()) throw;
      throw HalfDoneError(error);
    }
    // The queues are in order: what the first commands waited for is done.
    readWaits.clear();
    writeWaits.clear();
  }
  return last;
}

void runStagedCopy(const StagedEnds& ends, const std::vector<StagedChunk>& chunks) {
  const Concern concern = Concern::array(ends.label);
  std::array<HostChunk, 2> buffers;
  bool hasBegun = false;
  try {
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      const StagedChunk& chunk = chunks[i];
      HostChunk& host = buffers[i % 2];
      runtime::wait(host.written, &ends.dstDevice, concern);
      host.memory = std::make_unique_for_overwrite<std::byte[]>(chunk.bytes);
      host.read = enqueueReads(ends.srcDevice, ends.srcBuffer, host.memory.get(), chunk.reads, {},
                               ends.label);
      runtime::wait(host.read, &ends.srcDevice, concern);
      host.written = enqueueWrites(ends.dstDevice, ends.dstBuffer, host.memory.get(), chunk.writes,
                                   {}, ends.label);
      hasBegun = true;
      countStaged(ends, chunk, host.read, host.written);
    }
    for (const HostChunk& host : buffers) runtime::wait(host.written, &ends.dstDevice, concern);
  } catch (const DeviceError& error) {
    if (!hasBegun) throw;
    throw HalfDoneError(error);
  }
}

}  // namespace hpl::memory::detail
