// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "hpl/memory/detail/box_kernels.h"
#include "hpl/memory/detail/host_command.h"
#include "hpl/memory/detail/transfer.h"

/// Cells of several arrays, or several boxes of one, that go from one device to the same other one,
/// or to itself: each alone would cost commands, and waits between contexts, of its own. Devices
/// that run functions of the host (host_command.h) gather all of them into one message, and scatter
/// it; or copy all of them at once.
namespace hpl::memory::detail {

struct Move;

/// Neighbours in a list of moves that travel together, or a move that travels alone.
struct Batch {
  std::size_t first = 0;
  std::size_t count = 1;
  // For several moves:
  std::size_t bytes = 0;
  Way way = Way::Staged;
  /// Commands that gather on the source, unless one queue copies from buffer to buffer, and
  /// commands that scatter or copy: each has one kind empty.
  HostCommand out, in;
  BoxKernels outKernels, inKernels;
  /// For copies within a device: where each move is noted, its source and then its target.
  std::vector<Slot*> slots;

  bool isTogether() const noexcept { return count > 1; }
  bool isByOneQueue() const noexcept { return detail::isByOneQueue(way); }
  std::span<const Move> of(const std::vector<Move>& moves) const;
};

/// Puts moves that can travel together next to each other, and lists the batches: first those that
/// one queue does, then those in halves. Moves within the hosts' memory come last, and belong to
/// none. HPL_PACK=off: each travels alone.
std::vector<Batch> batchesOf(std::vector<Move>& moves);

/// Lists that sending fills, for those who send often.
struct BatchScratch {
  TransferScratch transfer;
  HostScratch host;

  /// Makes room, so that to send these allocates nothing.
  void reserveFor(const std::vector<Batch>& batches);
};

/// The two halves of a batch of several moves through the host's memory, and one of several that
/// one queue does; as one of several transfers (Sending::Repeated). When something has to be waited
/// for, nothing is moved.
Moved sendOut(std::span<const Move> moves, const Batch& batch, BatchScratch& scratch,
              std::vector<ChunkOnHost>& onHost);
Moved sendIn(std::span<const Move> moves, const Batch& batch, BatchScratch& scratch,
             ChunkOnHost& onHost);
Moved sendByOneQueue(std::span<const Move> moves, const Batch& batch, BatchScratch& scratch);

}  // namespace hpl::memory::detail
