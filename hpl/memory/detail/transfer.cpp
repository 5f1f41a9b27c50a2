// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/transfer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "hpl/geometry/layout.h"
#include "hpl/geometry/rect_copy.h"
#include "hpl/memory/detail/placement.h"
#include "hpl/memory/detail/staging.h"
#include "hpl/runtime/settings.h"
#include "hpl/trace/timeline.h"

namespace hpl::memory::detail {

void noteEnd(const End& end, bool write, cl::Event event, Queue& queue, Stamp number) {
  end.storage().note({end.box, write, std::move(event), &queue, number});
  end.state->bumpEpoch();
}

namespace {

using geometry::RectCopy;

std::vector<RectCopy> copiesBetween(const End& src, const End& dst) {
  const auto enclosing = [](const End& end) {
    return end.replica ? end.replica->box : end.state->wholeBox();
  };
  return geometry::rectCopies(enclosing(src), src.box, enclosing(dst), dst.box,
                              src.state->root.elementSize());
}

// Counts a transfer by one command, and notes it at both ends.
Moved note(trace::Transfer kind, std::size_t bytes, Queue& queue, cl::Event event, const End& src,
           const End& dst) {
  const std::string& label =
      kind == trace::Transfer::DeviceToHost ? src.state->root.label() : dst.state->root.label();
  trace::recordTransfer(kind, bytes, queue.device().index(), event(), label, queue.track());
  const Stamp number = queue.count();
  noteEnd(src, false, event, queue, number);
  noteEnd(dst, true, std::move(event), queue, number);
  return Moved::Enqueued;
}

std::vector<StagedChunk> chunksBetween(const End& src, const End& dst) {
  return stagedChunks(src.replica->box, src.box, dst.replica->box, dst.box,
                      src.state->root.elementSize());
}

// Between contexts, driven by the host. The lock is given up while the bytes pass through it; the
// pins keep the replicas, and a buffer that was exchanged meanwhile is noticed.
Moved staged(Lock& lock, const End& src, const End& dst) {
  const cl::Buffer srcBuffer = src.replica->buffer;
  const cl::Buffer dstBuffer = dst.replica->buffer;
  const std::string label = dst.state->root.label();
  const std::vector<StagedChunk> chunks = chunksBetween(src, dst);
  pin(*src.replica);
  pin(*dst.replica);
  lock.unlock();
  const auto relock = [&] {
    lock.lock();
    unpin(*src.replica);
    unpin(*dst.replica);
  };
  try {
    runStagedCopy({src.replica->device(), srcBuffer, dst.replica->device(), dstBuffer, label},
                  chunks);
  } catch (...) {
    relock();
    throw;
  }
  relock();
  return dst.replica->buffer() == dstBuffer() ? Moved::Staged : Moved::Blocked;
}

// A copy between contexts.
Moved transferAcross(Lock& lock, const End& src, const End& dst) {
  DeviceState& to = dst.replica->device();
  const std::size_t bytes =
      static_cast<std::size_t>(src.box.volume()) * src.state->root.elementSize();
  const bool byQueues = to.honoursUserEvents() && bytes <= kMostBytesInFlight;
  if (byQueues) {
    TransferScratch scratch;
    return send(lock, src, dst, routeBetween(src, dst), scratch);
  }
  Waits waits;
  collectConflicts(*src.state, src.storage(), src.box, false, Waiter::theHost(), waits);
  collectConflicts(*dst.state, dst.storage(), dst.box, true, Waiter::theHost(), waits);
  if (waits.mustBlock()) {
    blockOn(lock, waits.host, src.state->root);
    return Moved::Blocked;
  }
  return staged(lock, src, dst);
}

}  // namespace

bool copiesDirectly(const DeviceState& from, const DeviceState& to) {
  const runtime::Transports& transport = runtime::settings().transport;
  if (&from == &to) return transport.self != runtime::Use::Never;
  return from.sharesContextWith(to) && transport.direct != runtime::Use::Never;
}

Route routeBetween(const End& src, const End& dst) {
  Route route;
  route.bytes = static_cast<std::size_t>(src.box.volume()) * src.state->root.elementSize();
  if (src.onHost()) {
    route.way = Way::Upload;
  } else if (dst.onHost()) {
    route.way = Way::Download;
  } else if (copiesDirectly(src.replica->device(), dst.replica->device())) {
    route.way = &src.replica->device() == &dst.replica->device() ? Way::Within : Way::Direct;
  }
  if (route.way == Way::Staged) {
    route.chunks = chunksBetween(src, dst);
  } else {
    route.copies = copiesBetween(src, dst);
  }
  return route;
}

namespace {

// A transfer that one queue does by itself, after `waits`.
Moved sendAtOnce(const End& src, const End& dst, const Route& route, Queue& queue,
                 const WaitList& waits, Flush flush) {
  DeviceState& device = queue.device();
  if (route.way == Way::Upload) {
    // The host may not write while its memory is being read; to write, it has to ask again, and
    // waits.
    src.state->forbidHostWrites(src.box);
    cl::Event event = enqueueWrites(device, dst.replica->buffer, src.state->hostData, route.copies,
                                    waits, dst.state->root.label(), flush);
    return note(trace::Transfer::HostToDevice, route.bytes, queue, std::move(event), src, dst);
  }
  if (route.way == Way::Download) {
    cl::Event event = enqueueReads(device, src.replica->buffer, dst.state->hostData, route.copies,
                                   waits, src.state->root.label(), flush);
    return note(trace::Transfer::DeviceToHost, route.bytes, queue, std::move(event), src, dst);
  }
  cl::Event event =
      enqueueCopies(device, queue.commands(), src.replica->buffer, dst.replica->buffer,
                    route.copies, waits, dst.state->root.label(), flush);
  return note(trace::Transfer::DeviceToDevice, route.bytes, queue, std::move(event), src, dst);
}

// Collects the commands that a transfer waits for at its source. An upload waits on the host for
// the commands that fill the host's memory, unless its driver reads that when the upload runs.
void collectSources(const End& src, const Route& route, Queue& reader, Waits& waits,
                    Forget forget) {
  collectConflicts(*src.state, src.storage(), src.box, false, {&reader}, waits, forget);
  const bool mayWait = !waits.events.empty() || !waits.foreign.empty();
  if (route.way != Way::Upload || !mayWait || reader.device().readsHostLate()) return;
  waits.clear();
  collectConflicts(*src.state, src.storage(), src.box, false, Waiter::theHost(), waits, forget);
}

}  // namespace

Moved send(Lock& lock, const End& src, const End& dst, const Route& route, TransferScratch& scratch,
           Sending sending) {
  const Forget forget = sending == Sending::Alone ? Forget::Always : Forget::IfMany;
  const Flush flush = sending == Sending::Alone ? Flush::Now : Flush::Later;
  const bool isStaged = route.way == Way::Staged;
  Queue& writer = route.way == Way::Download ? src.out() : dst.in();
  Queue& reader = isStaged ? src.out() : writer;
  scratch.reads.clear();
  scratch.writes.clear();
  Waits& reads = isStaged ? scratch.reads : scratch.writes;
  collectSources(src, route, reader, reads, forget);
  collectConflicts(*dst.state, dst.storage(), dst.box, true, {&writer}, scratch.writes, forget);
  for (const Waits* waits : {&scratch.reads, &scratch.writes}) {
    if (!waits->mustBlock()) continue;
    if (sending == Sending::Alone) blockOn(lock, waits->host, src.state->root);
    return Moved::Blocked;
  }
  scratch.reads.relayTo(reader.device());
  scratch.writes.relayTo(writer.device());
  if (!isStaged) return sendAtOnce(src, dst, route, writer, scratch.writes.events, flush);
  StagedEvents events =
      enqueueStagedCopy({reader.device(), src.replica->buffer, writer.device(), dst.replica->buffer,
                         dst.state->root.label()},
                        route.chunks, scratch.reads.events, scratch.writes.events, flush);
  noteEnd(src, false, std::move(events.read), reader, reader.count());
  noteEnd(dst, true, std::move(events.written), writer, writer.count());
  return Moved::Enqueued;
}

Moved sendOut(const End& src, const End& dst, const Route& route, TransferScratch& scratch,
              std::vector<ChunkOnHost>& onHost) {
  DeviceState& from = src.replica->device();
  Waits& waits = scratch.reads;
  waits.clear();
  collectConflicts(*src.state, src.storage(), src.box, false, {&src.out()}, waits, Forget::IfMany);
  if (waits.mustBlock()) return Moved::Blocked;
  waits.relayTo(from);
  const ChunkOnHost& out =
      onHost.emplace_back(enqueueChunkRead({from, src.replica->buffer, dst.replica->device(),
                                            dst.replica->buffer, dst.state->root.label()},
                                           route.chunks.front(), waits.events, Flush::Later));
  noteEnd(src, false, out.read, src.out(), src.out().count());
  return Moved::Enqueued;
}

Moved sendIn(const End& src, const End& dst, const Route& route, TransferScratch& scratch,
             ChunkOnHost& onHost) {
  DeviceState& to = dst.replica->device();
  Waits& waits = scratch.writes;
  waits.clear();
  collectConflicts(*dst.state, dst.storage(), dst.box, true, {&dst.in()}, waits, Forget::IfMany);
  if (waits.mustBlock()) return Moved::Blocked;
  waits.relayTo(to);
  cl::Event written = enqueueChunkWrite({src.replica->device(), src.replica->buffer, to,
                                         dst.replica->buffer, dst.state->root.label()},
                                        route.chunks.front(), onHost, waits.events, Flush::Later);
  noteEnd(dst, true, std::move(written), dst.in(), dst.in().count());
  return Moved::Enqueued;
}

Moved transfer(Lock& lock, const End& src, const End& dst) {
  if (!src.onHost() && !dst.onHost() &&
      !copiesDirectly(src.replica->device(), dst.replica->device()))
    return transferAcross(lock, src, dst);
  TransferScratch scratch;
  return send(lock, src, dst, routeBetween(src, dst), scratch);
}

cl::Event enqueueDeviceCopy(DeviceState& device, const cl::Buffer& src, const Box& srcEnclosing,
                            const Box& srcBox, const cl::Buffer& dst, const Box& dstEnclosing,
                            const Box& dstBox, const Root& root, const WaitList& waits) {
  const std::vector<RectCopy> copies =
      geometry::rectCopies(srcEnclosing, srcBox, dstEnclosing, dstBox, root.elementSize());
  return enqueueCopies(device, device.computeQueue(), src, dst, copies, waits, root.label());
}

namespace {

// One dimension of a copy in the host's memory; the dimensions from `inner` on are one piece of
// `bytes`.
struct HostCopy {
  geometry::Extents extents, srcStrides, dstStrides;  // strides in bytes
  int inner;
  std::size_t bytes;

  void run(int d, const std::byte* src, std::byte* dst) const {
    if (d == inner) {
      std::memcpy(dst, src, bytes);
      return;
    }
    for (geometry::Index i = 0; i < extents[d]; ++i)
      run(d + 1, src + i * srcStrides[d], dst + i * dstStrides[d]);
  }
};

}  // namespace

void copyHost(const std::byte* src, const Box& srcEnclosing, const Box& srcBox, std::byte* dst,
              const Box& dstEnclosing, const Box& dstBox, std::size_t elementSize) {
  HostCopy copy{srcBox.extents(), geometry::rowMajorStrides(srcEnclosing.extents()),
                geometry::rowMajorStrides(dstEnclosing.extents()), srcBox.rank(), elementSize};
  const auto size = static_cast<geometry::Index>(elementSize);
  for (int d = 0; d < copy.inner; ++d) {
    copy.srcStrides[d] *= size;
    copy.dstStrides[d] *= size;
  }
  const auto isNext = [&](const geometry::Extents& strides) {
    return strides[copy.inner - 1] == static_cast<geometry::Index>(copy.bytes);
  };
  while (copy.inner > 0 && isNext(copy.srcStrides) && isNext(copy.dstStrides))
    copy.bytes *= static_cast<std::size_t>(copy.extents[--copy.inner]);
  copy.run(0, src + geometry::linearOffset(srcEnclosing, srcBox) * size,
           dst + geometry::linearOffset(dstEnclosing, dstBox) * size);
}

namespace {

bool areOverlapping(const End& src, const End& dst) {
  return &src.storage() == &dst.storage() && src.box.intersects(dst.box);
}

void noteDeviceCopy(const End& src, const End& dst, std::size_t bytes, cl::Event event,
                    Counting counting = Counting::Counted) {
  DeviceState& device = dst.replica->device();
  if (counting == Counting::Counted)
    trace::recordTransfer(trace::Transfer::DeviceToDevice, bytes, device.index(), event(),
                          dst.state->root.label(), trace::Queue::Compute);
  const Stamp stamp = dst.replica->memory->compute.record(std::move(event));
  slotFor(*src.replica, src.box, false).stamp = stamp;
  slotFor(*dst.replica, dst.box, true).stamp = stamp;
  for (const End* end : {&src, &dst})
    if (end->replica->zeroCopy) end->state->noteAliasUser(device);
}

// Memory of the device's for cells on their way.
cl::Buffer temporaryFor(Lock& lock, const End& dst, std::size_t bytes) {
  cl::Buffer temporary;
  while (!allocate(lock, *dst.replica->memory, dst.state->root, bytes, nullptr, temporary)) {
  }
  // The driver keeps the memory until the copies are done; our books need not.
  dst.replica->device().release(bytes);
  return temporary;
}

}  // namespace

Moved copyWithin(const End& src, const End& dst, const Route& route, TransferScratch& scratch) {
  DeviceState& device = dst.replica->device();
  Waits& waits = scratch.writes;
  waits.clear();
  collectConflicts(*src.state, src.storage(), src.box, false, {&dst.replica->memory->compute},
                   waits, Forget::IfMany);
  collectConflicts(*dst.state, dst.storage(), dst.box, true, {&dst.replica->memory->compute}, waits,
                   Forget::IfMany);
  if (waits.mustBlock()) return Moved::Blocked;
  waits.relayTo(device);
  cl::Event event =
      enqueueCopies(device, device.computeQueue(), src.replica->buffer, dst.replica->buffer,
                    route.copies, waits.events, dst.state->root.label(), Flush::Later);
  noteDeviceCopy(src, dst, route.bytes, std::move(event));
  return Moved::Enqueued;
}

void copyOnDevice(Lock& lock, const End& src, const End& dst, Counting counting) {
  DeviceState& device = dst.replica->device();
  const std::size_t bytes =
      static_cast<std::size_t>(src.box.volume()) * src.state->root.elementSize();
  const Pin pins[] = {Pin(*src.replica), Pin(*dst.replica)};
  cl::Buffer temporary;
  if (areOverlapping(src, dst)) temporary = temporaryFor(lock, dst, bytes);
  Waits waits;
  for (;;) {
    waits.clear();
    collectConflicts(*src.state, src.storage(), src.box, false, {&dst.replica->memory->compute},
                     waits);
    collectConflicts(*dst.state, dst.storage(), dst.box, true, {&dst.replica->memory->compute},
                     waits);
    if (!waits.mustBlock()) break;
    blockOn(lock, waits.host, dst.state->root);
  }
  waits.relayTo(device);
  const Replica &from = *src.replica, &to = *dst.replica;
  cl::Event event;
  if (temporary() != nullptr) {
    enqueueDeviceCopy(device, from.buffer, from.box, src.box, temporary, src.box, src.box,
                      dst.state->root, waits.events);
    event = enqueueDeviceCopy(device, temporary, src.box, src.box, to.buffer, to.box, dst.box,
                              dst.state->root, {});
  } else {
    event = enqueueDeviceCopy(device, from.buffer, from.box, src.box, to.buffer, to.box, dst.box,
                              dst.state->root, waits.events);
  }
  noteDeviceCopy(src, dst, bytes, std::move(event), counting);
}

void copyOnHost(Lock& lock, const End& src, const End& dst) {
  waitOnHost(lock, *src.state, src.box, false);
  waitOnHost(lock, *dst.state, dst.box, true);
  const std::size_t size = src.state->root.elementSize();
  const Box srcAll = src.state->wholeBox(), dstAll = dst.state->wholeBox();
  if (!areOverlapping(src, dst))
    return copyHost(src.state->hostData, srcAll, src.box, dst.state->hostData, dstAll, dst.box,
                    size);
  std::vector<std::byte> temporary(static_cast<std::size_t>(src.box.volume()) * size);
  copyHost(src.state->hostData, srcAll, src.box, temporary.data(), src.box, src.box, size);
  copyHost(temporary.data(), src.box, src.box, dst.state->hostData, dstAll, dst.box, size);
}

}  // namespace hpl::memory::detail
