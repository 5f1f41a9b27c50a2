// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/transfer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "hpl/geometry/layout.h"
#include "hpl/geometry/rect_copy.h"
#include "hpl/memory/detail/shelf.h"
#include "hpl/memory/detail/staging.h"
#include "hpl/trace/timeline.h"

namespace hpl::memory::detail {

namespace {

using geometry::RectCopy;

std::size_t bytesOf(const std::vector<RectCopy>& copies) {
  std::size_t bytes = 0;
  for (const RectCopy& copy : copies) bytes += copy.bytes();
  return bytes;
}

std::vector<RectCopy> copiesBetween(const End& src, const End& dst) {
  const auto enclosing = [](const End& end) {
    return end.replica ? end.replica->box : end.state->wholeBox();
  };
  return geometry::rectCopies(enclosing(src), src.box, enclosing(dst), dst.box,
                              src.state->root.elementSize());
}

// Attaches a command of a transfer to one of its ends. The new epoch tells launch plans that there
// is something to wait for.
void noteEnd(const End& end, bool write, cl::Event event, DeviceState& device,
             std::uint64_t number) {
  end.storage().note({end.box, write, std::move(event), &device, number});
  end.state->bumpEpoch();
}

// Both ends.
void noteTransfer(const End& src, cl::Event read, DeviceState& reader, const End& dst,
                  cl::Event written, DeviceState& writer) {
  const std::uint64_t number = nextTransfer();
  noteEnd(src, false, std::move(read), reader, number);
  noteEnd(dst, true, std::move(written), writer, number);
}

// Counts a transfer by one device, and notes it.
Moved note(trace::Transfer kind, std::size_t bytes, DeviceState& device, cl::Event event,
           const End& src, const End& dst) {
  const std::string& label =
      kind == trace::Transfer::DeviceToHost ? src.state->root.label() : dst.state->root.label();
  trace::recordTransfer(kind, bytes, device.index(), event(), label);
  cl::Event same = event;
  noteTransfer(src, std::move(same), device, dst, std::move(event), device);
  return Moved::Enqueued;
}

Moved upload(const End& src, const End& dst, const WaitList& waits) {
  DeviceState& device = dst.replica->device();
  // The host may not write what is being read; whoever wants to has to ask again, and waits.
  src.state->forbidHostWrites(src.box);
  const std::vector<RectCopy> copies = copiesBetween(src, dst);
  cl::Event event = enqueueWrites(device, dst.replica->buffer, src.state->hostData, copies, waits,
                                  dst.state->root.label());
  return note(trace::Transfer::HostToDevice, bytesOf(copies), device, std::move(event), src, dst);
}

Moved download(const End& src, const End& dst, const WaitList& waits) {
  DeviceState& device = src.replica->device();
  const std::vector<RectCopy> copies = copiesBetween(src, dst);
  cl::Event event = enqueueReads(device, src.replica->buffer, dst.state->hostData, copies, waits,
                                 src.state->root.label());
  return note(trace::Transfer::DeviceToHost, bytesOf(copies), device, std::move(event), src, dst);
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

Route routeBetween(const End& src, const End& dst) {
  Route route;
  route.isDirect = src.replica->device().sharesContextWith(dst.replica->device());
  route.bytes = static_cast<std::size_t>(src.box.volume()) * src.state->root.elementSize();
  if (route.isDirect) {
    route.copies = copiesBetween(src, dst);
  } else {
    route.chunks = chunksBetween(src, dst);
  }
  return route;
}

Moved send(Lock& lock, const End& src, const End& dst, const Route& route, TransferScratch& scratch,
           Sending sending) {
  const Forget forget = sending == Sending::Alone ? Forget::Always : Forget::IfMany;
  const Flush flush = sending == Sending::Alone ? Flush::Now : Flush::Later;
  DeviceState& from = src.replica->device();
  DeviceState& to = dst.replica->device();
  scratch.reads.clear();
  scratch.writes.clear();
  // A direct copy is one command of the destination's.
  Waits& reads = route.isDirect ? scratch.writes : scratch.reads;
  collectConflicts(*src.state, src.storage(), src.box, false, {route.isDirect ? &to : &from, false},
                   reads, forget);
  collectConflicts(*dst.state, dst.storage(), dst.box, true, {&to, false}, scratch.writes, forget);
  for (const Waits* waits : {&scratch.reads, &scratch.writes}) {
    if (!waits->mustBlock()) continue;
    if (sending == Sending::Alone) blockOn(lock, waits->host, src.state->root);
    return Moved::Blocked;
  }
  scratch.reads.relayTo(from);
  scratch.writes.relayTo(to);
  const std::string& label = dst.state->root.label();
  if (route.isDirect) {
    cl::Event event =
        enqueueCopies(to, to.transferQueue(), src.replica->buffer, dst.replica->buffer,
                      route.copies, scratch.writes.events, label, flush);
    return note(trace::Transfer::DeviceToDevice, route.bytes, to, std::move(event), src, dst);
  }
  StagedEvents events =
      enqueueStagedCopy({from, src.replica->buffer, to, dst.replica->buffer, label}, route.chunks,
                        scratch.reads.events, scratch.writes.events, flush);
  noteTransfer(src, std::move(events.read), from, dst, std::move(events.written), to);
  return Moved::Enqueued;
}

Moved sendOut(const End& src, const End& dst, const Route& route, TransferScratch& scratch,
              std::vector<ChunkOnHost>& onHost) {
  DeviceState& from = src.replica->device();
  Waits& waits = scratch.reads;
  waits.clear();
  collectConflicts(*src.state, src.storage(), src.box, false, {&from, false}, waits,
                   Forget::IfMany);
  if (waits.mustBlock()) return Moved::Blocked;
  waits.relayTo(from);
  const ChunkOnHost& out =
      onHost.emplace_back(enqueueChunkRead({from, src.replica->buffer, dst.replica->device(),
                                            dst.replica->buffer, dst.state->root.label()},
                                           route.chunks.front(), waits.events, Flush::Later));
  noteEnd(src, false, out.read, from, nextTransfer());
  return Moved::Enqueued;
}

Moved sendIn(const End& src, const End& dst, const Route& route, TransferScratch& scratch,
             ChunkOnHost& onHost) {
  DeviceState& to = dst.replica->device();
  Waits& waits = scratch.writes;
  waits.clear();
  collectConflicts(*dst.state, dst.storage(), dst.box, true, {&to, false}, waits, Forget::IfMany);
  if (waits.mustBlock()) return Moved::Blocked;
  waits.relayTo(to);
  cl::Event written = enqueueChunkWrite({src.replica->device(), src.replica->buffer, to,
                                         dst.replica->buffer, dst.state->root.label()},
                                        route.chunks.front(), onHost, waits.events, Flush::Later);
  noteEnd(dst, true, std::move(written), to, nextTransfer());
  return Moved::Enqueued;
}

Moved transfer(Lock& lock, const End& src, const End& dst) {
  const bool up = src.onHost();
  const bool down = dst.onHost();
  if (!up && !down) {
    if (!src.replica->device().sharesContextWith(dst.replica->device()))
      return transferAcross(lock, src, dst);
    TransferScratch scratch;
    return send(lock, src, dst, routeBetween(src, dst), scratch);
  }
  DeviceState& runsOn = down ? src.replica->device() : dst.replica->device();
  Waits waits;
  collectConflicts(*src.state, src.storage(), src.box, false, {&runsOn, false}, waits);
  collectConflicts(*dst.state, dst.storage(), dst.box, true, {&runsOn, false}, waits);
  if (waits.mustBlock()) {
    blockOn(lock, waits.host, src.state->root);
    return Moved::Blocked;
  }
  waits.relayTo(runsOn);
  return up ? upload(src, dst, waits.events) : download(src, dst, waits.events);
}

std::vector<Replica*> sourcesFor(RootState& state, const Replica* destination) {
  std::vector<Replica*> near;
  std::vector<Replica*> far;
  for (const auto& replica : state.replicas) {
    if (replica->zeroCopy) continue;
    const bool direct = destination != nullptr && !destination->zeroCopy &&
                        destination->device().sharesContextWith(replica->device());
    (direct ? near : far).push_back(replica.get());
  }
  const bool toHost = destination == nullptr || destination->zeroCopy;
  if (!toHost) near.push_back(nullptr);
  near.insert(near.end(), far.begin(), far.end());
  return near;
}

bool fetch(Lock& lock, RootState& state, Replica* destination, const Box& box, KeptCells kept) {
  Storage& storage = destination ? destination->storage() : state.host;
  if (destination != nullptr && storage.kept.intersects(box)) {
    const bool done = kept == KeptCells::Accept ? unshelve(lock, *destination, box)
                                                : shelve(lock, *destination, box);
    if (!done) return false;
  }
  if (storage.current.contains(box)) return true;
  Region missing = differenceOf(Region(box), storage.current);
  if (kept == KeptCells::Accept) missing.subtract(storage.kept);
  state.requireValues(missing);
  for (Replica* source : sourcesFor(state, destination)) {
    const Storage& from = source ? source->own : state.host;
    const Region pieces = intersectionOf(missing, from.current);
    for (const Box& piece : pieces) {
      const Moved moved = transfer(lock, {&state, source, piece}, {&state, destination, piece});
      if (moved == Moved::Blocked) return false;
      state.markCurrent(storage, piece);
      if (moved == Moved::Staged) return false;
    }
    missing.subtract(pieces);
    if (missing.empty()) break;
  }
  return true;
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

}  // namespace hpl::memory::detail
