// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "hpl/memory/detail/transfer.h"

/// Cells of several arrays, or several boxes of one, that go from one device to the same other one:
/// each alone would cost commands, and waits between contexts, of its own. Devices that work in the
/// host's memory and run functions of the host's program as commands (CL_EXEC_NATIVE_KERNEL, which
/// CPUs do) gather all of them into one message, and scatter it.
namespace hpl::memory::detail {

struct Move;

/// A function of ours as a command: a block of parameters, and the buffers that the driver keeps
/// until it has run.
struct HostCommand {
  std::vector<std::byte> block;
  std::vector<cl_mem> buffers;
};

/// Neighbours in a list of moves that travel together, or a move that travels alone.
struct Batch {
  std::size_t first = 0;
  std::size_t count = 1;
  // Of several moves:
  std::size_t bytes = 0;
  bool isDirect = false;  ///< within a context: `in` copies from buffer to buffer
  HostCommand out;        ///< gathers on the source, unless it is direct
  HostCommand in;

  bool isTogether() const noexcept { return count > 1; }
  std::span<const Move> of(const std::vector<Move>& moves) const;
};

/// Puts moves that can travel together next to each other, and lists the batches. Moves within the
/// hosts' memory come last, and belong to none. HPL_PACK=off: each travels alone.
std::vector<Batch> batchesOf(std::vector<Move>& moves);

/// Lists that sending fills, for those who send often.
struct BatchScratch {
  TransferScratch transfer;
  std::vector<std::byte> block;
  std::vector<const void*> places;

  /// Makes room, so that to send these allocates nothing.
  void reserveFor(const std::vector<Batch>& batches);
};

/// The two halves of a batch of several moves through the host's memory, and one of several that is
/// direct; as one of several transfers (Sending::Repeated). When something has to be waited for,
/// nothing is moved.
Moved sendOut(std::span<const Move> moves, const Batch& batch, BatchScratch& scratch,
              std::vector<ChunkOnHost>& onHost);
Moved sendIn(std::span<const Move> moves, const Batch& batch, BatchScratch& scratch,
             ChunkOnHost& onHost);
Moved sendDirect(std::span<const Move> moves, const Batch& batch, BatchScratch& scratch);

}  // namespace hpl::memory::detail
