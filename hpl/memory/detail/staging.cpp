// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/staging.h"

#include <algorithm>
#include <array>
#include <memory>

#include "hpl/memory/detail/packing.h"
#include "hpl/memory/detail/staging_pool.h"
#include "hpl/runtime/detail/events.h"
#include "hpl/runtime/detail/relay.h"
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

// Runs `enqueue(copy, tail)` for each rectangle, then flushes.
template <class Enqueue>
cl::Event enqueueAll(const runtime::DeviceState& device, const cl::CommandQueue& queue,
                     const std::vector<RectCopy>& copies, const std::vector<cl::Event>& waits,
                     const char* call, const std::string& label, Enqueue&& enqueue) {
  cl_event last = nullptr;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const cl_int code = enqueue(copies[i], Tail(i, copies.size(), waits, &last));
    // What was enqueued before the failure has no event: it must not outlive its host memory.
    if (code != CL_SUCCESS) clFinish(queue());
    runtime::check(code, call, &device, Concern::array(label));
  }
  cl::Event event(last);
  runtime::check(clFlush(queue()), "clFlush", &device, Concern::array(label));
  return event;
}

}  // namespace

cl::Event enqueueWrites(runtime::DeviceState& device, const cl::Buffer& buffer,
                        const std::byte* host, const std::vector<RectCopy>& copies,
                        const std::vector<cl::Event>& waits, const std::string& label) {
  const cl::CommandQueue& queue = device.transferQueue();
  return enqueueAll(device, queue, copies, waits, "writing an array to the device", label,
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
                       const std::vector<RectCopy>& copies, const std::vector<cl::Event>& waits,
                       const std::string& label) {
  const cl::CommandQueue& queue = device.transferQueue();
  return enqueueAll(device, queue, copies, waits, "reading an array from the device", label,
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
                        const std::string& label) {
  if (shouldPack(device, copies))
    return enqueueKernelCopies(device, queue, src, dst, copies, waits, label);
  return enqueueAll(
      device, queue, copies, waits, "copying an array on the device", label,
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
struct Chunk {
  std::unique_ptr<std::byte[]> memory;
  cl::Event read;
  cl::Event written;

  ~Chunk() {
    for (cl::Event* event : {&read, &written}) {
      if ((*event)() != nullptr) clWaitForEvents(1, &(*event)());
    }
  }
};

}  // namespace

namespace {

// One contiguous piece.
std::vector<RectCopy> wholePiece(const Box& box, std::size_t elementSize) {
  return geometry::rectCopies(box, box, box, box, elementSize);
}

// Brings a box of a device's buffer, dense, to the host, or the other way round.
cl::Event readDense(const StagedCopy& job, const Box& box, std::byte* host,
                    const std::vector<cl::Event>& waits) {
  const std::vector<RectCopy> copies =
      geometry::rectCopies(job.srcEnclosing, box, box, box, job.elementSize);
  runtime::DeviceState& device = *job.srcDevice;
  if (!shouldPack(device, copies))
    return enqueueReads(device, job.srcBuffer, host, copies, waits, job.label);
  const std::vector<RectCopy> whole = wholePiece(box, job.elementSize);
  const cl::Buffer& packed = packBuffer(device, whole.front().bytes());
  enqueueKernelCopies(device, device.transferQueue(), job.srcBuffer, packed, copies, waits,
                      job.label);
  return enqueueReads(device, packed, host, whole, {}, job.label);
}

cl::Event writeDense(const StagedCopy& job, const Box& box, const std::byte* host,
                     const std::vector<cl::Event>& waits) {
  const std::vector<RectCopy> copies =
      geometry::rectCopies(box, box, job.dstEnclosing, box, job.elementSize);
  runtime::DeviceState& device = *job.dstDevice;
  if (!shouldPack(device, copies))
    return enqueueWrites(device, job.dstBuffer, host, copies, waits, job.label);
  const std::vector<RectCopy> whole = wholePiece(box, job.elementSize);
  const cl::Buffer& packed = packBuffer(device, whole.front().bytes());
  enqueueWrites(device, packed, host, whole, waits, job.label);
  return enqueueKernelCopies(device, device.transferQueue(), packed, job.dstBuffer, copies, {},
                             job.label);
}

}  // namespace

StagedEvents enqueueStagedCopy(const StagedCopy& job, const std::vector<cl::Event>& readWaits,
                               const std::vector<cl::Event>& writeWaits) {
  std::vector<Box> boxes;
  cutIntoChunks(job.srcBox, job.elementSize, boxes);
  geometry::Point shift = job.dstBox.lo();
  for (int d = 0; d < shift.rank(); ++d) shift[d] -= job.srcBox.lo(d);
  const std::vector<cl::Event> none;
  StagedEvents last;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const Box& from = boxes[i];
    const Box to = from.translated(shift);
    const std::size_t bytes = static_cast<std::size_t>(from.volume()) * job.elementSize;
    StagingMemory memory(bytes);
    last.read = readDense(job, from, memory.data(), i == 0 ? readWaits : none);
    memory.usedUntil(last.read);
    trace::recordTransfer(trace::Transfer::DeviceToDevice, 0, job.srcDevice->index(), last.read(),
                          job.label);
    std::vector<cl::Event> waits = i == 0 ? writeWaits : none;
    waits.push_back(runtime::relay(last.read, *job.dstDevice));
    last.written = writeDense(job, to, memory.data(), waits);
    memory.usedUntil(last.written);
    trace::recordTransfer(trace::Transfer::DeviceToDevice, bytes, job.dstDevice->index(),
                          last.written(), job.label);
  }
  return last;
}

void runStagedCopy(const StagedCopy& job) {
  std::vector<Box> boxes;
  cutIntoChunks(job.srcBox, job.elementSize, boxes);
  geometry::Point shift = job.dstBox.lo();
  for (int d = 0; d < shift.rank(); ++d) shift[d] -= job.srcBox.lo(d);

  const Concern concern = Concern::array(job.label);
  std::array<Chunk, 2> chunks;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const Box& from = boxes[i];
    const Box to = from.translated(shift);
    const std::size_t bytes = static_cast<std::size_t>(from.volume()) * job.elementSize;
    Chunk& chunk = chunks[i % 2];
    runtime::wait(chunk.written, job.dstDevice, concern);
    chunk.memory = std::make_unique_for_overwrite<std::byte[]>(bytes);
    chunk.read = enqueueReads(
        *job.srcDevice, job.srcBuffer, chunk.memory.get(),
        geometry::rectCopies(job.srcEnclosing, from, from, from, job.elementSize), {}, job.label);
    runtime::wait(chunk.read, job.srcDevice, concern);
    trace::recordTransfer(trace::Transfer::DeviceToDevice, 0, job.srcDevice->index(), chunk.read(),
                          job.label);
    chunk.written = enqueueWrites(
        *job.dstDevice, job.dstBuffer, chunk.memory.get(),
        geometry::rectCopies(to, to, job.dstEnclosing, to, job.elementSize), {}, job.label);
    trace::recordTransfer(trace::Transfer::DeviceToDevice, bytes, job.dstDevice->index(),
                          chunk.written(), job.label);
  }
  for (const Chunk& chunk : chunks) runtime::wait(chunk.written, job.dstDevice, concern);
}

}  // namespace hpl::memory::detail
