// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/batch.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "hpl/memory/detail/recording.h"
#include "hpl/runtime/relay.h"
#include "hpl/runtime/settings.h"
#include "hpl/trace/timeline.h"

namespace hpl::memory::detail {

namespace {

using geometry::RectCopy;

// As much as a chunk of a transfer through the host's memory: more is better read in pieces while
// those before are written.
constexpr std::size_t kMostBytesTogether = std::size_t{4} << 20;

// ---- the function that devices run
// -----------------------------------------------------------------

// The block of its parameters: this, room for the addresses that the driver writes, and the pieces.
struct BlockHead {
  std::byte* message = nullptr;
  std::size_t buffers = 0;
  std::size_t pieces = 0;
};

// One rectangle; null is the message, from byte `at` on. The addresses are those that the buffers
// were made with. What the driver writes into the block cannot be used: PoCL 3.1 gives the address
// of one buffer for another one where a command has several.
struct Piece {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::size_t at = 0;
  RectCopy copy;
};

void copyRows(const RectCopy& copy, const std::byte* src, std::byte* dst) {
  src += copy.srcOffset();
  dst += copy.dstOffset();
  for (std::size_t slice = 0; slice < copy.region[2]; ++slice) {
    for (std::size_t row = 0; row < copy.region[1]; ++row)
      std::memcpy(dst + slice * copy.dstSlicePitch + row * copy.dstRowPitch,
                  src + slice * copy.srcSlicePitch + row * copy.srcRowPitch, copy.region[0]);
  }
}

// Nobody promises that the driver's copy of the block is aligned.
template <class T>
T taken(const std::byte*& at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  at += sizeof value;
  return value;
}

void CL_CALLBACK copyPieces(void* block) {
  const auto* at = static_cast<const std::byte*>(block);
  const auto head = taken<BlockHead>(at);
  at += head.buffers * sizeof(void*);
  for (std::size_t i = 0; i < head.pieces; ++i) {
    const auto piece = taken<Piece>(at);
    copyRows(piece.copy, piece.from != nullptr ? piece.from : head.message + piece.at,
             piece.to != nullptr ? piece.to : head.message + piece.at);
  }
}

// ---- making batches --------------------------------------------------------------------------

bool runsHostFunctions(const DeviceState& device) {
  cl_device_exec_capabilities abilities = 0;
  const cl_int code = clGetDeviceInfo(device.device()(), CL_DEVICE_EXECUTION_CAPABILITIES,
                                      sizeof abilities, &abilities, nullptr);
  return code == CL_SUCCESS && (abilities & CL_EXEC_NATIVE_KERNEL) != 0;
}

// Where the replica's buffer is in the process's memory; null: nobody can tell.
std::byte* addressOf(const Replica& replica) {
  void* address = nullptr;
  if (!replica.memory->sharesHostMemory) return nullptr;
  const cl_int code = clGetMemObjectInfo(replica.buffer(), CL_MEM_HOST_PTR, sizeof address,
                                         static_cast<void*>(&address), nullptr);
  return code == CL_SUCCESS ? static_cast<std::byte*>(address) : nullptr;
}

bool isInHosts(const Move& move) {
  return move.src.replica == nullptr && move.dst.replica == nullptr;
}

bool canTravelTogether(const Move& move) {
  const Route& route = move.route;
  const bool isBetweenDevices = route.way == Way::Direct || hasHalves(route);
  if (runtime::settings().pack == runtime::Pack::Off || !isBetweenDevices) return false;
  if (route.bytes > kMostBytesTogether) return false;
  const auto isInReach = [](const End& end) {
    return runsHostFunctions(end.replica->device()) && addressOf(*end.replica) != nullptr;
  };
  return isInReach(move.dst) && isInReach(move.src);
}

bool areOfOnePair(const Move& a, const Move& b) {
  return &a.src.replica->device() == &b.src.replica->device() &&
         &a.dst.replica->device() == &b.dst.replica->device();
}

// Collects the pieces of a command, and each buffer once.
class CommandMaker {
 public:
  void use(const cl::Buffer& buffer) {
    if (std::find(buffers_.begin(), buffers_.end(), buffer()) == buffers_.end())
      buffers_.push_back(buffer());
  }
  void add(const std::vector<RectCopy>& copies, const std::byte* from, std::byte* to,
           std::size_t at) {
    for (const RectCopy& copy : copies) pieces_.push_back({from, to, at, copy});
  }
  HostCommand made() const {
    HostCommand command;
    command.buffers = buffers_;
    const BlockHead head{nullptr, buffers_.size(), pieces_.size()};
    const std::size_t addresses = buffers_.size() * sizeof(void*);
    const std::size_t pieces = pieces_.size() * sizeof(Piece);
    command.block.resize(sizeof head + addresses + pieces);
    std::memcpy(command.block.data(), &head, sizeof head);
    std::memcpy(command.block.data() + sizeof head + addresses, pieces_.data(), pieces);
    return command;
  }

 private:
  std::vector<cl_mem> buffers_;
  std::vector<Piece> pieces_;
};

void makeCommands(Batch& batch, std::span<const Move> moves) {
  CommandMaker out, in;
  batch.isDirect = moves.front().route.way == Way::Direct;
  for (const Move& move : moves) {
    const std::byte* from = addressOf(*move.src.replica);
    std::byte* to = addressOf(*move.dst.replica);
    in.use(move.dst.replica->buffer);
    if (batch.isDirect) {
      in.use(move.src.replica->buffer);
      in.add(move.route.copies, from, to, 0);
    } else {
      const StagedChunk& chunk = move.route.chunks.front();
      out.use(move.src.replica->buffer);
      out.add(chunk.reads, from, nullptr, batch.bytes);
      in.add(chunk.writes, nullptr, to, batch.bytes);
    }
    batch.bytes += move.route.bytes;
  }
  if (!batch.isDirect) batch.out = out.made();
  batch.in = in.made();
}

}  // namespace

std::span<const Move> Batch::of(const std::vector<Move>& moves) const {
  return std::span<const Move>(moves).subspan(first, count);
}

std::vector<Batch> batchesOf(std::vector<Move>& moves) {
  // In the order of the devices' numbers, which is the same in every run.
  const auto rank = [](const Move& move) {
    const auto spaces = std::pair(move.what.to, move.what.from);
    return std::pair(isInHosts(move), isInHosts(move) ? std::pair(kHosts, kHosts) : spaces);
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
    block.reserve(std::max(batch.out.block.size(), batch.in.block.size()));
    places.reserve(std::max(batch.out.buffers.size(), batch.in.buffers.size()));
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

cl::Event enqueueOn(const Queue& queue, const HostCommand& command, std::byte* message,
                    const WaitList& waits, std::span<const Move> moves, BatchScratch& scratch) {
  scratch.block.assign(command.block.begin(), command.block.end());
  std::memcpy(scratch.block.data() + offsetof(BlockHead, message), &message, sizeof message);
  scratch.places.clear();
  for (std::size_t i = 0; i < command.buffers.size(); ++i)
    scratch.places.push_back(scratch.block.data() + sizeof(BlockHead) + i * sizeof(void*));
  cl_event event = nullptr;
  const cl_int code = clEnqueueNativeKernel(
      queue.commands()(), copyPieces, scratch.block.data(), scratch.block.size(),
      static_cast<cl_uint>(command.buffers.size()), command.buffers.data(), scratch.places.data(),
      static_cast<cl_uint>(waits.size()),
      // cl::Event is a cl_event and nothing else, which the bindings themselves rely on.
      waits.empty() ? nullptr : reinterpret_cast<const cl_event*>(waits.data()), &event);
  if (code != CL_SUCCESS)
    runtime::throwDeviceError(code, "clEnqueueNativeKernel", &queue.device(),
                              runtime::Concern::array(labelsOf(moves)));
  return cl::Event(event);
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
  cl::Event read = enqueueOn(out, batch.out, memory.data(), waits.events, moves, scratch);
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
  const cl::Event written =
      enqueueOn(in, batch.in, onHost.memory.data(), waits.events, moves, scratch);
  onHost.memory.usedUntil(written, in.device());
  count(moves, 0, out, onHost.read);
  count(moves, batch.bytes, in, written);
  noteEnds(moves, &Move::dst, true, written, in, in.count());
  return Moved::Enqueued;
}

Moved sendDirect(std::span<const Move> moves, const Batch& batch, BatchScratch& scratch) {
  Queue& in = moves.front().dst.in();
  Waits& waits = scratch.transfer.writes;
  waits.clear();
  if (!collectWaits(moves, &Move::src, false, in, waits) ||
      !collectWaits(moves, &Move::dst, true, in, waits))
    return Moved::Blocked;
  waits.relayTo(in.device());
  const cl::Event copied = enqueueOn(in, batch.in, nullptr, waits.events, moves, scratch);
  count(moves, batch.bytes, in, copied);
  const Stamp number = in.count();
  noteEnds(moves, &Move::src, false, copied, in, number);
  noteEnds(moves, &Move::dst, true, copied, in, number);
  return Moved::Enqueued;
}

}  // namespace hpl::memory::detail
