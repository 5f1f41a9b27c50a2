// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/host_command.h"

#include <algorithm>
#include <cstring>

namespace hpl::memory::detail {

using geometry::RectCopy;

namespace {

// The block of parameters: this, room for the addresses that the driver writes, and the pieces. The
// addresses of pieces are those that the buffers were made with. The driver's own cannot be used:
// PoCL 3.1 writes the address of one buffer for another one where a command has several.
struct BlockHead {
  std::byte* message = nullptr;
  std::size_t buffers = 0;
  std::size_t pieces = 0;
};

// `copyRow(to, from)` for each row of the rectangle.
template <class CopyRow>
void forEachRow(const RectCopy& copy, const std::byte* src, std::byte* dst, CopyRow copyRow) {
  src += copy.srcOffset();
  dst += copy.dstOffset();
  for (std::size_t slice = 0; slice < copy.region[2]; ++slice) {
    for (std::size_t row = 0; row < copy.region[1]; ++row)
      copyRow(dst + slice * copy.dstSlicePitch + row * copy.dstRowPitch,
              src + slice * copy.srcSlicePitch + row * copy.srcRowPitch);
  }
}

// Rows with gaps between them lie in cache lines that take far longer to arrive than to copy, and
// the processor does not guess the next ones where few rows follow each other at one distance. So
// lines are fetched this many bytes ahead. To fetch past the last row does no harm.
struct Ahead {
  std::size_t src = 0;
  std::size_t dst = 0;
};
constexpr std::size_t kLine = 64;
constexpr std::size_t kLinesAhead = 32;

Ahead aheadOf(const RectCopy& copy) {
  const std::size_t linesOfRow = copy.region[0] / kLine + 1;
  const std::size_t rows = (kLinesAhead + linesOfRow - 1) / linesOfRow;
  if (rows < copy.region[1] || copy.region[2] == 1)
    return {rows * copy.srcRowPitch, rows * copy.dstRowPitch};
  const std::size_t slices = (rows + copy.region[1] - 1) / copy.region[1];
  return {slices * copy.srcSlicePitch, slices * copy.dstSlicePitch};
}

template <std::size_t Bytes>
void copyShortRows(const RectCopy& copy, const std::byte* src, std::byte* dst) {
  const Ahead ahead = aheadOf(copy);
  forEachRow(copy, src, dst, [ahead](std::byte* to, const std::byte* from) {
    __builtin_prefetch(from + ahead.src);
    __builtin_prefetch(to + ahead.dst, 1);
    std::memcpy(to, from, Bytes);
  });
}

void copyMediumRows(const RectCopy& copy, const std::byte* src, std::byte* dst) {
  const std::size_t bytes = copy.region[0];
  const Ahead ahead = aheadOf(copy);
  forEachRow(copy, src, dst, [ahead, bytes](std::byte* to, const std::byte* from) {
    for (std::size_t at = 0; at < bytes; at += kLine) {
      __builtin_prefetch(from + ahead.src + at);
      __builtin_prefetch(to + ahead.dst + at, 1);
    }
    std::memcpy(to, from, bytes);
  });
}

// Ghosts along the fastest dimension are rows of one to four cells, where a call of memcpy takes
// longer than the copy.
void copyRows(const RectCopy& copy, const std::byte* src, std::byte* dst) {
  constexpr std::size_t kMedium = 1024;
  switch (const std::size_t bytes = copy.region[0]; bytes) {
    case 4:
      return copyShortRows<4>(copy, src, dst);
    case 8:
      return copyShortRows<8>(copy, src, dst);
    case 12:
      return copyShortRows<12>(copy, src, dst);
    case 16:
      return copyShortRows<16>(copy, src, dst);
    case 24:
      return copyShortRows<24>(copy, src, dst);
    case 32:
      return copyShortRows<32>(copy, src, dst);
    default:
      if (bytes <= kMedium) return copyMediumRows(copy, src, dst);
      forEachRow(copy, src, dst,
                 [bytes](std::byte* to, const std::byte* from) { std::memcpy(to, from, bytes); });
  }
}

// The driver's copy of the block need not be aligned.
template <class T>
T taken(const std::byte*& at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  at += sizeof value;
  return value;
}

}  // namespace

struct HostCommandRun {
  static void CL_CALLBACK copyPieces(void* block) {
    const auto* at = static_cast<const std::byte*>(block);
    const auto head = taken<BlockHead>(at);
    at += head.buffers * sizeof(void*);
    for (std::size_t i = 0; i < head.pieces; ++i) {
      const auto piece = taken<HostCommandMaker::Piece>(at);
      copyRows(piece.copy, piece.from != nullptr ? piece.from : head.message + piece.at,
               piece.to != nullptr ? piece.to : head.message + piece.at);
    }
  }
};

void HostScratch::reserveFor(const HostCommand& command) {
  block.reserve(command.block.size());
  places.reserve(command.buffers.size());
}

std::byte* addressForHost(const Replica& replica) {
  if (!replica.memory->sharesHostMemory) return nullptr;
  cl_device_exec_capabilities abilities = 0;
  cl_int code = clGetDeviceInfo(replica.device().device()(), CL_DEVICE_EXECUTION_CAPABILITIES,
                                sizeof abilities, &abilities, nullptr);
  if (code != CL_SUCCESS || (abilities & CL_EXEC_NATIVE_KERNEL) == 0) return nullptr;
  void* address = nullptr;
  code = clGetMemObjectInfo(replica.buffer(), CL_MEM_HOST_PTR, sizeof address,
                            static_cast<void*>(&address), nullptr);
  return code == CL_SUCCESS ? static_cast<std::byte*>(address) : nullptr;
}

void HostCommandMaker::use(const cl::Buffer& buffer) {
  if (std::find(buffers_.begin(), buffers_.end(), buffer()) == buffers_.end())
    buffers_.push_back(buffer());
}

void HostCommandMaker::add(const std::vector<RectCopy>& copies, const std::byte* from,
                           std::byte* to, std::size_t at) {
  for (const RectCopy& copy : copies) pieces_.push_back({from, to, at, copy});
}

HostCommand HostCommandMaker::made() const {
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

cl_int enqueueHostCommand(const Queue& queue, const HostCommand& command, std::byte* message,
                          const WaitList& waits, HostScratch& scratch, cl::Event& event) {
  scratch.block.assign(command.block.begin(), command.block.end());
  std::memcpy(scratch.block.data() + offsetof(BlockHead, message), &message, sizeof message);
  scratch.places.clear();
  for (std::size_t i = 0; i < command.buffers.size(); ++i)
    scratch.places.push_back(scratch.block.data() + sizeof(BlockHead) + i * sizeof(void*));
  cl_event made = nullptr;
  const cl_int code = clEnqueueNativeKernel(
      queue.commands()(), HostCommandRun::copyPieces, scratch.block.data(), scratch.block.size(),
      static_cast<cl_uint>(command.buffers.size()), command.buffers.data(), scratch.places.data(),
      static_cast<cl_uint>(waits.size()),
      // cl::Event is a cl_event and nothing else, which the bindings themselves rely on.
      waits.empty() ? nullptr : reinterpret_cast<const cl_event*>(waits.data()), &made);
  if (code == CL_SUCCESS) event = cl::Event(made);
  return code;
}

}  // namespace hpl::memory::detail
