// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/batch.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <tuple>
#include <utility>

#include "hpl/memory/detail/half_done.h"
#include "hpl/memory/detail/packing.h"
#include "hpl/memory/detail/recording.h"
#include "hpl/runtime/relay.h"
#include "hpl/runtime/runtime.h"
#include "hpl/runtime/settings.h"
#include "hpl/trace/timeline.h"

namespace hpl::memory::detail {

namespace {

// As much as a chunk of a transfer through the host's memory: more is better read in pieces while
// those before are written.
constexpr std::size_t kMostBytesTogether = std::size_t{4} << 20;

// ---- making batches --------------------------------------------------------------------------

bool isInHosts(const Move& move) {
  return move.src.replica == nullptr && move.dst.replica == nullptr;
}

/// One command for many boxes of the replica.
bool isReachable(const Replica& replica) {
  return usesBoxKernels(replica.device()) || addressForHost(replica) != nullptr;
}

bool canTravelTogether(const Move& move) {
  const Route& route = move.route;
  if (runtime::settings().pack == runtime::Pack::Off) return false;
  if (!isByOneQueue(route.way) && !hasHalves(route)) return false;
  if (route.bytes > kMostBytesTogether) return false;
  if (isByOneQueue(route.way) && usesBoxKernels(move.dst.replica->device())) return true;
  return isReachable(*move.dst.replica) && isReachable(*move.src.replica);
}

bool areOfOnePair(const Move& a, const Move& b) {
  return &a.src.replica->device() == &b.src.replica->device() &&
         &a.dst.replica->device() == &b.dst.replica->device();
}

/// Boxes that one device gathers, scatters or copies, by whatever it can.
class Commands {
 public:
  explicit Commands(runtime::DeviceState& device)
      : device_(device), byKernels_(usesBoxKernels(device)) {}

  /// A null replica stands for the message, in which the copies begin at byte `at`.
  void add(const std::vector<geometry::RectCopy>& copies, const Replica* from, const Replica* to,
           std::size_t at) {
    if (byKernels_)
      return kernels_.add(copies, from != nullptr ? from->buffer() : nullptr,
                          to != nullptr ? to->buffer() : nullptr, at);
    if (from != nullptr) host_.use(from->buffer);
    if (to != nullptr) host_.use(to->buffer);
    host_.add(copies, from != nullptr ? addressForHost(*from) : nullptr,
              to != nullptr ? addressForHost(*to) : nullptr, at);
  }

  void make(HostCommand& command, BoxKernels& kernels) const {
    if (byKernels_) {
      kernels = kernels_.made(device_);
    } else {
      command = host_.made();
    }
  }

 private:
  runtime::DeviceState& device_;
  bool byKernels_;
  HostCommandMaker host_;
  BoxKernelsMaker kernels_;
};

void makeCommands(Batch& batch, std::span<const Move> moves) {
  Commands out(moves.front().src.replica->device());
  Commands in(moves.front().dst.replica->device());
  batch.way = moves.front().route.way;
  for (const Move& move : moves) {
    if (batch.isByOneQueue()) {
      in.add(move.route.copies, move.src.replica, move.dst.replica, 0);
    } else {
      const StagedChunk& chunk = move.route.chunks.front();
      out.add(chunk.reads, move.src.replica, nullptr, batch.bytes);
      in.add(chunk.writes, nullptr, move.dst.replica, batch.bytes);
    }
    batch.bytes += move.route.bytes;
    if (batch.way != Way::Within) continue;
    batch.slots.push_back(&slotFor(*move.src.replica, move.src.box, false));
    batch.slots.push_back(&slotFor(*move.dst.replica, move.dst.box, true));
  }
  if (!batch.isByOneQueue()) out.make(batch.out, batch.outKernels);
  in.make(batch.in, batch.inKernels);
}

}  // namespace

std::span<const Move> Batch::of(const std::vector<Move>& moves) const {
  return std::span<const Move>(moves).subspan(first, count);
}

std::vector<Batch> batchesOf(std::vector<Move>& moves) {
  // In the order of the devices' numbers, which is the same in every run. Those that have halves
  // come last, so that all are read before the first is written.
  const auto rank = [](const Move& move) {
    if (isInHosts(move)) return std::tuple(true, false, kHosts, kHosts);
    return std::tuple(false, !isByOneQueue(move.route.way), move.what.to, move.what.from);
  };
  std::stable_sort(moves.begin(), moves.end(),
                   [&](const Move& a, const Move& b) { return rank(a) < rank(b); });
  std::vector<Batch> batches;
  bool isOpen = false;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < moves.size() && !isInHosts(moves[i]); ++i) {
    const bool canJoin = canTravelTogether(moves[i]);
    if (isOpen && canJoin && areOfOnePair(moves[i - 1], moves[i]) &&
        bytes + moves[i].route.bytes <= kMostBytesTogether) {
      ++batches.back().count;
      bytes += moves[i].route.bytes;
      continue;
    }
    batches.emplace_back().first = i;
    isOpen = canJoin;
    bytes = moves[i].route.bytes;
  }
  for (Batch& batch : batches)
    if (batch.isTogether()) makeCommands(batch, batch.of(moves));
  return batches;
}

void BatchScratch::reserveFor(const std::vector<Batch>& batches) {
  transfer.reads.reserve();
  transfer.writes.reserve();
  for (const Batch& batch : batches) {
    host.reserveFor(batch.out);
    host.reserveFor(batch.in);
  }
}

// ---- sending ---------------------------------------------------------------------------------

namespace {

std::string labelsOf(std::span<const Move> moves) {
  std::string labels;
  for (const Move& move : moves) {
    const std::string& label = move.dst.state->root.label();
    labels += (labels.empty() ? "" : ", ") + label;
  }
  return labels;
}

[[noreturn]] void throwFor(cl_int code, const char* call, const Queue& queue,
                           std::span<const Move> moves) {
  runtime::throwDeviceError(code, call, &queue.device(), runtime::Concern::array(labelsOf(moves)));
}

cl::Event enqueueOn(const Queue& queue, const HostCommand& command, std::byte* message,
                    const WaitList& waits, std::span<const Move> moves, BatchScratch& scratch) {
  cl::Event event;
  const cl_int code = enqueueHostCommand(queue, command, message, waits, scratch.host, event);
  if (code != CL_SUCCESS) throwFor(code, "clEnqueueNativeKernel", queue, moves);
  return event;
}

/// The commands before have begun: nothing of them may be under way when their memory is given
/// back.
[[noreturn]] void throwHalfDone(cl_int code, const char* call, const Queue& queue,
                                std::span<const Move> moves) {
  runtime::Runtime::flushAll();
  runtime::finished(queue.commands());
  try {
    throwFor(code, call, queue, moves);
  } catch (const DeviceError& error) {
    throw HalfDoneError(error);
  }
}

cl::Event enqueueOn(const Queue& queue, const BoxKernels& kernels, cl_mem message,
                    const WaitList& waits, std::span<const Move> moves, bool begun) {
  cl::Event event;
  const cl_int code =
      kernels.enqueue(queue.device(), queue.commands(), message, waits, event, begun);
  if (code == CL_SUCCESS) return event;
  if (begun) throwHalfDone(code, "clEnqueueNDRangeKernel", queue, moves);
  throwFor(code, "clEnqueueNDRangeKernel", queue, moves);
}

/// Gathers the message on the device, and brings it to the host's memory.
cl::Event enqueueGathering(const Queue& queue, const Batch& batch, std::byte* message,
                           const WaitList& waits, std::span<const Move> moves) {
  const cl::Buffer& dense = packBuffer(queue.device(), QueueKind::Out, batch.bytes);
  enqueueOn(queue, batch.outKernels, dense(), waits, moves, false);
  cl_event read = nullptr;
  const cl_int code = clEnqueueReadBuffer(queue.commands()(), dense(), CL_FALSE, 0, batch.bytes,
                                          message, 0, nullptr, &read);
  if (code != CL_SUCCESS) throwFor(code, "clEnqueueReadBuffer", queue, moves);
  return cl::Event(read);
}

/// Brings the message to the device, and scatters it there.
cl::Event enqueueScattering(const Queue& queue, const Batch& batch, const std::byte* message,
                            const WaitList& waits, std::span<const Move> moves) {
  const cl::Buffer& dense = packBuffer(queue.device(), QueueKind::In, batch.bytes);
  const cl_int code = clEnqueueWriteBuffer(
      queue.commands()(), dense(), CL_FALSE, 0, batch.bytes, message,
      static_cast<cl_uint>(waits.size()),
      waits.empty() ? nullptr : reinterpret_cast<const cl_event*>(waits.data()), nullptr);
  if (code != CL_SUCCESS) throwFor(code, "clEnqueueWriteBuffer", queue, moves);
  return enqueueOn(queue, batch.inKernels, dense(), {}, moves, true);
}

// False: something has to be waited for.
bool collectWaits(std::span<const Move> moves, End Move::*side, bool write, Queue& queue,
                  Waits& waits) {
  for (const Move& move : moves) {
    const End& end = move.*side;
    collectConflicts(*end.state, end.storage(), end.box, write, {&queue}, waits, Forget::IfMany);
  }
  return !waits.mustBlock();
}

void noteEnds(std::span<const Move> moves, End Move::*side, bool write, const cl::Event& event,
              Queue& queue, Stamp number) {
  for (const Move& move : moves) noteEnd(move.*side, write, event, queue, number);
}

void count(std::span<const Move> moves, std::size_t bytes, const Queue& queue,
           const cl::Event& event) {
  trace::recordTransfer(trace::Transfer::DeviceToDevice, bytes, queue.device().index(), event(),
                        trace::enabled() ? labelsOf(moves) : std::string(), queue.track());
}

}  // namespace

Moved sendOut(std::span<const Move> moves, const Batch& batch, BatchScratch& scratch,
              std::vector<ChunkOnHost>& onHost) {
  Queue& out = moves.front().src.out();
  Waits& waits = scratch.transfer.reads;
  waits.clear();
  if (!collectWaits(moves, &Move::src, false, out, waits)) return Moved::Blocked;
  waits.relayTo(out.device());
  StagingMemory memory(batch.bytes, out.device());
  memory.addWaits(waits.events);
  cl::Event read = batch.out.empty()
                       ? enqueueGathering(out, batch, memory.data(), waits.events, moves)
                       : enqueueOn(out, batch.out, memory.data(), waits.events, moves, scratch);
  memory.usedUntil(read, out.device());
  noteEnds(moves, &Move::src, false, read, out, out.count());
  onHost.push_back({std::move(memory), std::move(read)});
  return Moved::Enqueued;
}

Moved sendIn(std::span<const Move> moves, const Batch& batch, BatchScratch& scratch,
             ChunkOnHost& onHost) {
  const Queue& out = moves.front().src.out();
  Queue& in = moves.front().dst.in();
  Waits& waits = scratch.transfer.writes;
  waits.clear();
  if (!collectWaits(moves, &Move::dst, true, in, waits)) return Moved::Blocked;
  waits.relayTo(in.device());
  waits.events.push_back(runtime::relay(onHost.read, out.device(), in.device()));
  std::byte* const message = onHost.memory.data();
  const cl::Event written = batch.in.empty()
                                ? enqueueScattering(in, batch, message, waits.events, moves)
                                : enqueueOn(in, batch.in, message, waits.events, moves, scratch);
  onHost.memory.usedUntil(written, in.device());
  count(moves, 0, out, onHost.read);
  count(moves, batch.bytes, in, written);
  noteEnds(moves, &Move::dst, true, written, in, in.count());
  return Moved::Enqueued;
}

Moved sendByOneQueue(std::span<const Move> moves, const Batch& batch, BatchScratch& scratch) {
  const bool isWithin = batch.way == Way::Within;
  DeviceMemory& memory = *moves.front().dst.replica->memory;
  // The compute queue orders copies within a device like kernels.
  Queue& queue = isWithin ? memory.compute : memory.in;
  Waits& waits = scratch.transfer.writes;
  waits.clear();
  if (!collectWaits(moves, &Move::src, false, queue, waits) ||
      !collectWaits(moves, &Move::dst, true, queue, waits))
    return Moved::Blocked;
  waits.relayTo(queue.device());
  cl::Event copied = batch.in.empty()
                         ? enqueueOn(queue, batch.inKernels, nullptr, waits.events, moves, false)
                         : enqueueOn(queue, batch.in, nullptr, waits.events, moves, scratch);
  count(moves, batch.bytes, queue, copied);
  if (isWithin) {
    const Stamp stamp = memory.compute.record(std::move(copied));
    for (Slot* slot : batch.slots) slot->stamp = stamp;
    return Moved::Enqueued;
  }
  const Stamp number = queue.count();
  noteEnds(moves, &Move::src, false, copied, queue, number);
  noteEnds(moves, &Move::dst, true, copied, queue, number);
  return Moved::Enqueued;
}

}  // namespace hpl::memory::detail
