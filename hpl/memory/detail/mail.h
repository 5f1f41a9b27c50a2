// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "hpl/coherence/parcels.h"
#include "hpl/memory/detail/host_command.h"
#include "hpl/memory/detail/letters.h"
#include "hpl/memory/detail/transfer.h"
#include "hpl/ranks/transport.h"

/// The messages of a stretch of an operation, as this process reads and writes them. All that goes
/// to one rank is one message, unless HPL_MESSAGES says otherwise. Each rank reads all that it
/// sends before it writes what it gets, so no queue of a device has a read that another rank waits
/// for behind a write that waits for other ranks.
namespace hpl::memory::detail {

/// Cells of one transfer, at this process's end of it.
struct MailPiece {
  coherence::Transfer what;
  End end;
  std::size_t offset = 0;  ///< In the message; dense there.
  std::size_t bytes = 0;
  /// Between a device's buffer and the message; none for the host's storage.
  std::vector<geometry::RectCopy> copies = {};
  /// Where the cells are in a device's memory, if messages may leave from there or arrive there.
  std::vector<ranks::Elsewhere> inPlace = {};
};

/// Neighbours in a list of pieces, of one device, which reads or writes them by one command.
struct MailBatch {
  std::size_t first = 0;
  std::size_t count = 1;
  HostCommand command;  ///< Empty: each piece has a command of its own.
};

struct MailLetter {
  std::vector<int> peers;  ///< All of them get the same; of incoming ones, the sender.
  std::vector<MailPiece> pieces;
  /// Those of all pieces; empty: each piece has a command of its own.
  std::vector<MailBatch> batches = {};
  std::size_t bytes = 0;
  std::size_t together = 0;  ///< LetterKind::together
  int via = -1;              ///< LetterKind::via
  /// In a message between nodes: where parts of this rank's own begin, and those of others.
  std::vector<std::size_t> marks = {};
  std::vector<RelayedPart> relayed = {};
};

struct Mail {
  std::vector<MailLetter> outgoing;
  std::vector<MailLetter> incoming;
  bool empty() const noexcept { return outgoing.empty() && incoming.empty(); }
};

/// The mail of a stretch of a step between several ranks; empty where there are none. `sourceOf`
/// and `targetOf` are the ends of transfers in this process.
using EndOfTransfer = std::function<End(const coherence::Transfer& transfer)>;
Mail mailOf(const coherence::Step& step, coherence::Stretch which, const EndOfTransfer& sourceOf,
            const EndOfTransfer& targetOf);

/// Finds the pieces that need no command of a device, and joins those of each device that can move
/// them by one. Both hold addresses of buffers: for mail that is not sent any more once one of its
/// buffers has changed.
void joinPieces(Mail& mail);

/// Prepares a buffer before cells of it are read or written; may be empty.
using BeforePiece = std::function<void(const MailPiece& piece)>;

/// Begins to read pieces into the memory of a message. `begun` gets the last command of each queue
/// and its device.
void readPieces(Lock& lock, std::span<const MailPiece> pieces, std::byte* into,
                const BeforePiece& before,
                const std::function<void(const cl::Event& read, DeviceState& device)>& begun);
/// Cells of a device that are read into a message by readPieces(), from `offset` on.
MailPiece pieceToRead(const End& end, std::size_t offset);

/// For each incoming letter, where its parts that are other ranks' have to arrive.
using Deliveries = std::vector<std::vector<Delivery>>;
/// Begins to read and send the outgoing letters.
Deliveries postOutgoing(Lock& lock, const Mail& mail, const BeforePiece& before = {});
/// Begins to receive the incoming letters and to write their cells. Waits for those with cells for
/// the host's storage, or for devices that cannot wait by themselves.
void postIncoming(Lock& lock, const Mail& mail, Deliveries deliveries,
                  const BeforePiece& before = {});

}  // namespace hpl::memory::detail
