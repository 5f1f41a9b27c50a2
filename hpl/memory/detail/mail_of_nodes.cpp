// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/mail_of_nodes.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "hpl/geometry/rect_copy.h"
#include "hpl/memory/detail/letters.h"
#include "hpl/ranks/world.h"

namespace hpl::memory::detail {

namespace {

using coherence::Parcel;
using coherence::Piece;
using coherence::Transfer;

coherence::NodesOfRanks nodesOf(const ranks::World& world) {
  coherence::NodesOfRanks nodes;
  for (int rank = 0; rank < world.size(); ++rank) nodes.nodeOf.push_back(world.nodeOf(rank));
  nodes.head = kLetterHead;
  nodes.mostBytes = world.mostJoined();
  nodes.mostLetters = kMostLettersTogether;
  return nodes;
}

// The loads that ranks of one node have for each other.
class Loads {
 public:
  explicit Loads(const coherence::NodeParcels& parcels) : loads_(parcels.loads) {}

  // LetterKind::together of the messages of `from` to `to`; 0 where none are parts of those between
  // nodes.
  std::size_t together(int from, int to) const {
    const auto load = loads_.find({from, to});
    if (load == loads_.end()) return 0;
    return load->second.letters > kMostLettersTogether ? std::numeric_limits<std::size_t>::max()
                                                       : load->second.bytes;
  }

 private:
  const std::map<std::pair<int, int>, coherence::Load>& loads_;
};

// This rank's parts of the messages between nodes, and the messages that it gathers or hands out.
// Those of two ranks of one node come in one order at both: first what is to be gathered, then what
// they have for each other, then what is handed out.
class LettersOfNodes {
 public:
  LettersOfNodes(const coherence::Step& step, const Loads& loads, int me, Direction direction,
                 const EndOfTransfer& endOf)
      : step_(step), loads_(loads), me_(me), direction_(direction), endOf_(endOf) {}

  void add(const coherence::NodeParcel& parcel) {
    const bool isOut = direction_ == Direction::Out;
    const int leader = isOut ? parcel.from : parcel.to;
    MailLetter whole;
    whole.peers = {isOut ? parcel.to : parcel.from};
    whole.bytes = parcel.bytes;
    for (const coherence::NodePart& part : parcel.parts) {
      const int own = isOut ? part.from : part.to;
      if (leader == me_ && own == me_) {
        if (isOut) whole.marks.push_back(part.offset);
        addPieces(part, part.offset + kLetterHead, whole);
      } else if (leader == me_) {
        const int from = isOut ? own : me_, to = isOut ? me_ : own;
        whole.relayed.push_back(
            {own, part.offset, kLetterHead + part.bytes, loads_.together(from, to)});
      } else if (own == me_) {
        MailLetter& letter = parts_.emplace_back();
        letter.peers = {isOut ? part.to : part.from};
        letter.bytes = part.bytes;
        letter.via = leader;
        letter.together = isOut ? loads_.together(me_, leader) : loads_.together(leader, me_);
        addPieces(part, 0, letter);
      }
    }
    if (leader == me_) wholes_.push_back(std::move(whole));
  }

  std::vector<MailLetter> takeParts() { return std::move(parts_); }
  std::vector<MailLetter> takeWholes() { return std::move(wholes_); }

 private:
  void addPieces(const coherence::NodePart& part, std::size_t offset, MailLetter& letter) {
    for (Piece piece : part.pieces) {
      piece.offset += offset;
      const Transfer what = step_.transfers[piece.transfer];
      letter.pieces.push_back(pieceOf(what, piece, endOf_(what), direction_));
    }
  }

  const coherence::Step& step_;
  const Loads& loads_;
  int me_;
  Direction direction_;
  const EndOfTransfer& endOf_;
  std::vector<MailLetter> parts_;
  std::vector<MailLetter> wholes_;
};

void append(std::vector<MailLetter>& all, std::vector<MailLetter> some) {
  std::move(some.begin(), some.end(), std::back_inserter(all));
}

}  // namespace

MailPiece pieceOf(const coherence::Transfer& what, const coherence::Piece& piece, End end,
                  Direction direction) {
  MailPiece made{what, std::move(end), piece.offset, piece.bytes};
  if (made.end.replica == nullptr) return made;
  const Box& cells = made.end.box;
  const Box& enclosing = made.end.replica->box;
  const std::size_t size = made.end.state->root.elementSize();
  made.copies = direction == Direction::Out
                    ? geometry::rectCopies(enclosing, cells, cells, cells, size)
                    : geometry::rectCopies(cells, cells, enclosing, cells, size);
  return made;
}

coherence::NodeParcels messagesOfNodes(const coherence::Step& step, coherence::Stretch which,
                                       const ranks::World& world) {
  return coherence::nodeParcelsOf(step, which, planner().machine(), nodesOf(world));
}

void takeOut(const coherence::NodeParcels& ofNodes, int me, coherence::Parcels& parcels) {
  for (const coherence::NodeParcel& parcel : ofNodes.parcels) {
    for (const coherence::NodePart& part : parcel.parts) {
      if (part.from == me)
        std::erase_if(parcels.outgoing, [&](const Parcel& own) { return own.peer == part.to; });
      if (part.to == me)
        std::erase_if(parcels.incoming, [&](const Parcel& own) { return own.peer == part.from; });
    }
  }
}

void addOfNodes(const coherence::Step& step, const coherence::NodeParcels& ofNodes, int me,
                const EndOfTransfer& sourceOf, const EndOfTransfer& targetOf, Mail& mail) {
  const Loads loads(ofNodes);
  LettersOfNodes out(step, loads, me, Direction::Out, sourceOf);
  LettersOfNodes in(step, loads, me, Direction::In, targetOf);
  for (const coherence::NodeParcel& parcel : ofNodes.parcels) {
    out.add(parcel);
    in.add(parcel);
  }
  const auto countTogether = [&](MailLetter& letter, int from, int to) {
    if (const std::size_t all = loads.together(from, to); all != 0) letter.together = all;
  };
  for (MailLetter& letter : mail.outgoing) countTogether(letter, me, letter.peers.front());
  for (MailLetter& letter : mail.incoming) countTogether(letter, letter.peers.front(), me);
  std::vector<MailLetter> outgoing = out.takeParts();
  append(outgoing, std::move(mail.outgoing));
  append(outgoing, out.takeWholes());
  mail.outgoing = std::move(outgoing);
  append(mail.incoming, in.takeWholes());
  append(mail.incoming, in.takeParts());
}

}  // namespace hpl::memory::detail
