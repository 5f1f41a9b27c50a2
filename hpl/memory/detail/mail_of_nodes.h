// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/coherence/node_parcels.h"
#include "hpl/memory/detail/mail.h"

/// The mail of HPL_MESSAGES=nodes: parts of messages between nodes that this rank sends and gets by
/// way of others, and messages that it gathers and hands out itself.
namespace hpl::memory::detail {

enum class Direction { Out, In };
/// This process's end of a transfer in a message.
MailPiece pieceOf(const coherence::Transfer& what, const coherence::Piece& piece, End end,
                  Direction direction);

/// The messages between nodes of a stretch.
coherence::NodeParcels messagesOfNodes(const coherence::Step& step, coherence::Stretch which,
                                       const ranks::World& world);
/// Takes what is part of them out of the messages between ranks.
void takeOut(const coherence::NodeParcels& ofNodes, int me, coherence::Parcels& parcels);
/// Adds this rank's share of them to the mail between ranks.
void addOfNodes(const coherence::Step& step, const coherence::NodeParcels& ofNodes, int me,
                const EndOfTransfer& sourceOf, const EndOfTransfer& targetOf, Mail& mail);

}  // namespace hpl::memory::detail
