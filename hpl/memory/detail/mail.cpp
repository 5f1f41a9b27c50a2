// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/mail.h"

#include <algorithm>
#include <map>
#include <utility>

#include "hpl/error.h"
#include "hpl/geometry/rect_copy.h"
#include "hpl/memory/detail/letters.h"
#include "hpl/memory/detail/mail_in_place.h"
#include "hpl/memory/detail/mail_of_nodes.h"
#include "hpl/memory/detail/packing.h"
#include "hpl/memory/detail/session.h"
#include "hpl/runtime/settings.h"
#include "hpl/trace/timeline.h"

namespace hpl::memory::detail {

using coherence::Parcel;
using coherence::Piece;
using coherence::Transfer;

namespace {

std::vector<MailLetter> lettersOf(const coherence::Step& step, const std::vector<Parcel>& parcels,
                                  const EndOfTransfer& endOf, Direction direction) {
  std::vector<MailLetter> letters;
  const std::vector<Piece>* last = nullptr;
  for (const Parcel& parcel : parcels) {
    // The piece for the hosts is the same for all ranks, and is read once.
    if (direction == Direction::Out && last != nullptr && *last == parcel.pieces) {
      letters.back().peers.push_back(parcel.peer);
      continue;
    }
    last = &parcel.pieces;
    MailLetter& letter = letters.emplace_back();
    letter.peers = {parcel.peer};
    letter.bytes = parcel.bytes;
    for (const Piece& piece : parcel.pieces) {
      const Transfer what = step.transfers[piece.transfer];
      letter.pieces.push_back(pieceOf(what, piece, endOf(what), direction));
    }
  }
  std::map<int, std::pair<std::size_t, std::size_t>> ofPeer;  // letters, bytes
  for (const MailLetter& letter : letters)
    for (const int peer : letter.peers) {
      ++ofPeer[peer].first;
      ofPeer[peer].second += letter.bytes;
    }
  for (MailLetter& letter : letters) {
    const auto [count, bytes] = ofPeer[letter.peers.front()];
    letter.together = bytesTogether(count, bytes);
  }
  return letters;
}

coherence::Together together() {
  switch (runtime::settings().messages) {
    case runtime::Messages::Ranks:
    case runtime::Messages::Nodes:
      break;
    case runtime::Messages::Devices:
      return coherence::Together::Devices;
    case runtime::Messages::Fields:
      return coherence::Together::Fields;
  }
  return coherence::Together::Ranks;
}

}  // namespace

Mail mailOf(const coherence::Step& step, coherence::Stretch which, const EndOfTransfer& sourceOf,
            const EndOfTransfer& targetOf) {
  const ranks::World* world = otherRanks();
  if (world == nullptr || which.begin == which.end) return {};
  const coherence::Machine& machine = planner().machine();
  coherence::Parcels parcels =
      coherence::parcelsOf(step, which, machine, world->size(), world->rank(), together());
  coherence::NodeParcels ofNodes;
  if (world->joinsNodes()) {
    ofNodes = messagesOfNodes(step, which, *world);
    takeOut(ofNodes, world->rank(), parcels);
  }
  Mail mail{lettersOf(step, parcels.outgoing, sourceOf, Direction::Out),
            lettersOf(step, parcels.incoming, targetOf, Direction::In)};
  if (!ofNodes.parcels.empty()) addOfNodes(step, ofNodes, world->rank(), sourceOf, targetOf, mail);
  return mail;
}

namespace {

// The events that the queue has to wait for before it reads or writes the pieces.
void waitsOf(Lock& lock, std::span<const MailPiece> pieces, bool write, Queue& queue,
             Waits& waits) {
  for (;;) {
    waits.clear();
    for (const MailPiece& piece : pieces)
      collectConflicts(*piece.end.state, piece.end.storage(), piece.end.box, write, {&queue}, waits,
                       Forget::IfMany);
    if (!waits.mustBlock()) break;
    blockOn(lock, waits.host, pieces.front().end.state->root);
  }
  waits.relayTo(queue.device());
}

void readPiece(Lock& lock, const MailPiece& piece, std::byte* into, LastCommands& last) {
  Queue& queue = piece.end.out();
  DeviceState& device = queue.device();
  Waits waits;
  waitsOf(lock, {&piece, 1}, false, queue, waits);
  const std::string& label = piece.end.state->root.label();
  cl::Event read = enqueueDenseReads(device, piece.end.replica->buffer, piece.copies, piece.bytes,
                                     into + piece.offset, waits.events, label, Flush::Later);
  trace::recordTransfer(trace::Transfer::DeviceToDevice, 0, device.index(), read(), label,
                        queue.track());
  noteEnd(piece.end, false, read, queue, queue.count());
  last[&queue] = std::move(read);
}

// One for all letters: the coherence lock is held while it is used.
HostScratch& hostScratch() {
  static auto& scratch = *new HostScratch;
  return scratch;
}

std::string labelsOf(std::span<const MailPiece> pieces) {
  std::string labels;
  for (const MailPiece& piece : pieces)
    labels += (labels.empty() ? "" : ", ") + piece.end.state->root.label();
  return labels;
}

// Enqueues one command that reads all pieces into the message, or writes them from there.
cl::Event enqueueTogether(const Queue& queue, const HostCommand& command, std::byte* message,
                          const Waits& waits, std::span<const MailPiece> pieces) {
  cl::Event event;
  const cl_int code =
      enqueueHostCommand(queue, command, message, waits.events, hostScratch(), event);
  if (code != CL_SUCCESS)
    runtime::throwDeviceError(code, "clEnqueueNativeKernel", &queue.device(),
                              runtime::Concern::array(labelsOf(pieces)));
  return event;
}

void noteTogether(std::span<const MailPiece> pieces, bool write, cl::Event event, Queue& queue,
                  LastCommands& last) {
  std::size_t bytes = 0;
  const Stamp number = queue.count();
  for (const MailPiece& piece : pieces) {
    noteEnd(piece.end, write, event, queue, number);
    if (write) bytes += piece.bytes;
  }
  trace::recordTransfer(trace::Transfer::DeviceToDevice, bytes, queue.device().index(), event(),
                        trace::enabled() ? labelsOf(pieces) : std::string(), queue.track());
  last[&queue] = std::move(event);
}

// Calls alone(piece) for each piece that has a command of its own, together(pieces, command) for
// those that share one.
template <class Alone, class Together>
void forEachBatch(const MailLetter& letter, const Alone& alone, const Together& together) {
  const std::span<const MailPiece> pieces = letter.pieces;
  if (letter.batches.empty())
    for (const MailPiece& piece : pieces) alone(piece);
  for (const MailBatch& batch : letter.batches) {
    const auto some = pieces.subspan(batch.first, batch.count);
    if (batch.command.empty()) {
      for (const MailPiece& piece : some) alone(piece);
    } else {
      together(some, batch.command);
    }
  }
}

// A letter with cells in place, and what ends when it has left.
struct Leaving {
  const MailLetter* letter;
  Gates gates;
};

// Behind all commands that read cells for other letters: those are not to wait for these.
void waitUntilLeft(const std::vector<Leaving>& leaving) {
  LastCommands last;
  for (const auto& [letter, gates] : leaving) waitInQueues(*letter, gates, false, last);
  flushAll(last);
}

void sendLetter(Lock& lock, ranks::World& world, const MailLetter& letter, LetterPaper empty,
                const BeforePiece& before, std::vector<Leaving>& leaving) {
  const bool mayBeInPlace = letter.peers.size() == 1 && !empty.path->hasPlaces();
  OutgoingLetter paper(world, letter.peers, std::move(empty));
  const trace::PhaseScope phase(paper.number(), trace::Phase::Reading);
  for (const std::size_t mark : letter.marks) paper.writeMark(mark);
  for (const RelayedPart& part : letter.relayed) paper.takeFromRank(part);
  if (mayBeInPlace && hasInPlace(letter)) {
    leaving.push_back({&letter, gatesFor(letter.pieces, isInPlace)});
    paper.takeInPlace(inPlaceOf(letter.pieces, false), eventsOf(leaving.back().gates));
  }
  LastCommands last;
  forEachBatch(
      letter,
      [&](const MailPiece& piece) {
        if (mayBeInPlace && isInPlace(piece)) return;
        if (before) before(piece);
        readPiece(lock, piece, paper.cells(), last);
      },
      [&](std::span<const MailPiece> pieces, const HostCommand& command) {
        Queue& queue = pieces.front().end.out();
        Waits waits;
        waitsOf(lock, pieces, false, queue, waits);
        noteTogether(pieces, false, enqueueTogether(queue, command, paper.cells(), waits, pieces),
                     queue, last);
      });
  flushAll(last);
  for (const auto& [queue, read] : last) paper.waitFor(read, queue->device());
  paper.seal();
}

// Gives the lock up. The operation holds its roots, and its replicas stay where they are.
void waitFor(Lock& lock, const IncomingLetter& letter) {
  lock.unlock();
  try {
    letter.wait();
  } catch (...) {
    lock.lock();
    throw;
  }
  lock.lock();
}

void writeToHost(Lock& lock, const MailPiece& piece, const IncomingLetter& letter) {
  RootState& state = *piece.end.state;
  waitOnHost(lock, state, piece.end.box, true);
  copyHost(letter.cells() + piece.offset, piece.end.box, piece.end.box, state.hostData,
           state.wholeBox(), piece.end.box, state.root.elementSize());
}

// A letter that has been asked for, and what waits for it.
struct Expected {
  const MailLetter* letter;
  Gates gates;
  bool arrivesInPlace;
  IncomingLetter paper;

  void addGate(const DeviceState& device, Waits& waits) const {
    addGates(gates, device, waits.events);
  }
};

Expected expect(ranks::World& world, const MailLetter& letter, std::vector<Delivery> deliveries) {
  Gates gates = gatesFor(letter.pieces, [](const MailPiece&) { return true; });
  const int peer = letter.peers.front();
  const LetterKind kind = kindOf(letter);
  InPlace inPlace;
  if (hasInPlace(letter) && mayBeInPlace(world, peer, kind))
    inPlace = inPlaceOf(letter.pieces, true);
  const bool arrivesInPlace = !inPlace.empty();
  IncomingLetter paper(world, peer, kind, eventsOf(gates), std::move(inPlace),
                       std::move(deliveries));
  return {&letter, std::move(gates), arrivesInPlace, std::move(paper)};
}

void writeToDevice(Lock& lock, const MailPiece& piece, const Expected& expected,
                   LastCommands& last) {
  Queue& queue = piece.end.in();
  DeviceState& device = queue.device();
  Waits waits;
  if (!device.honoursUserEvents()) waitFor(lock, expected.paper);
  waitsOf(lock, {&piece, 1}, true, queue, waits);
  expected.addGate(device, waits);
  const std::string& label = piece.end.state->root.label();
  const bool unpacks = trace::enabled() && shouldPack(device, piece.copies);
  const trace::PhaseScope phase(unpacks ? trace::Phase::Unpacking : trace::Phase::Writing);
  cl::Event written =
      enqueueDenseWrites(device, piece.end.replica->buffer, piece.copies, piece.bytes,
                         expected.paper.cells() + piece.offset, waits.events, label, Flush::Later);
  trace::recordTransfer(trace::Transfer::DeviceToDevice, piece.bytes, device.index(), written(),
                        label);
  noteEnd(piece.end, true, written, queue, queue.count());
  last[&queue] = std::move(written);
}

void writeTogether(Lock& lock, std::span<const MailPiece> pieces, const HostCommand& command,
                   const Expected& expected, LastCommands& last) {
  Queue& queue = pieces.front().end.in();
  Waits waits;
  if (!queue.device().honoursUserEvents()) waitFor(lock, expected.paper);
  waitsOf(lock, pieces, true, queue, waits);
  expected.addGate(queue.device(), waits);
  // The command reads the message only.
  auto* const message = const_cast<std::byte*>(expected.paper.cells());
  noteTogether(pieces, true, enqueueTogether(queue, command, message, waits, pieces), queue, last);
}

void writeLetter(Lock& lock, const Expected& expected, const BeforePiece& before) {
  const trace::PhaseScope phase(expected.paper.number(), trace::Phase::Writing);
  LastCommands last;
  if (expected.arrivesInPlace) waitInQueues(*expected.letter, expected.gates, true, last);
  forEachBatch(
      *expected.letter,
      [&](const MailPiece& piece) {
        if (piece.end.replica == nullptr) return;
        if (expected.arrivesInPlace && isInPlace(piece)) return;
        if (before) before(piece);
        writeToDevice(lock, piece, expected, last);
      },
      [&](std::span<const MailPiece> pieces, const HostCommand& command) {
        writeTogether(lock, pieces, command, expected, last);
      });
  flushAll(last);
  for (const auto& [queue, written] : last) expected.paper.keepFor(written, queue->device());
}

// Sorts the pieces by device, and lists those of each; those in place are by themselves.
void joinPieces(MailLetter& letter, Direction direction) {
  const auto deviceOf = [](const MailPiece& piece) {
    return piece.end.replica == nullptr || isInPlace(piece) ? -1
                                                            : piece.end.replica->device().index();
  };
  std::stable_sort(
      letter.pieces.begin(), letter.pieces.end(),
      [&](const MailPiece& a, const MailPiece& b) { return deviceOf(a) < deviceOf(b); });
  letter.batches.clear();
  const std::span<const MailPiece> pieces = letter.pieces;
  for (std::size_t first = 0; first < pieces.size();) {
    const auto rest = pieces.subspan(first);
    const auto end = std::find_if_not(rest.begin(), rest.end(), [&](const MailPiece& piece) {
      return deviceOf(piece) == deviceOf(rest.front());
    });
    MailBatch& batch = letter.batches.emplace_back();
    batch.first = first;
    batch.count = static_cast<std::size_t>(end - rest.begin());
    first += batch.count;
    HostCommandMaker maker;
    bool isReached = batch.count > 1 && deviceOf(rest.front()) >= 0;
    for (const MailPiece& piece : rest.first(isReached ? batch.count : 0)) {
      std::byte* const address = addressForHost(*piece.end.replica);
      isReached = isReached && address != nullptr;
      maker.use(piece.end.replica->buffer);
      if (direction == Direction::Out) {
        maker.add(piece.copies, address, nullptr, piece.offset);
      } else {
        maker.add(piece.copies, nullptr, address, piece.offset);
      }
    }
    if (isReached) batch.command = maker.made();
  }
}

}  // namespace

MailPiece pieceToRead(const End& end, std::size_t offset) {
  const std::size_t bytes =
      static_cast<std::size_t>(end.box.volume()) * end.state->root.elementSize();
  return pieceOf({}, {0, offset, bytes}, end, Direction::Out);
}

void readPieces(Lock& lock, std::span<const MailPiece> pieces, std::byte* into,
                const BeforePiece& before,
                const std::function<void(const cl::Event&, DeviceState&)>& begun) {
  LastCommands last;
  for (const MailPiece& piece : pieces) {
    if (before) before(piece);
    readPiece(lock, piece, into, last);
  }
  flushAll(last);
  for (const auto& [queue, read] : last) begun(read, queue->device());
}

void joinPieces(Mail& mail) {
  if (mail.empty()) return;
  findInPlace(mail);
  if (runtime::settings().pack == runtime::Pack::Off) return;
  for (MailLetter& letter : mail.outgoing) joinPieces(letter, Direction::Out);
  for (MailLetter& letter : mail.incoming) joinPieces(letter, Direction::In);
}

namespace {

// Where the parts of a message between nodes that are others' have to arrive.
std::vector<Delivery> deliveriesOf(ranks::World& world, const MailLetter& incoming) {
  std::vector<Delivery> deliveries;
  for (const RelayedPart& part : incoming.relayed) {
    const LetterKind kind{part.bytes - kLetterHead, Readers::OneRank, part.together, part.rank};
    deliveries.push_back({letterTo(world, {part.rank}, kind), part.offset});
  }
  return deliveries;
}

std::size_t mostBytesOf(const Mail& mail) {
  std::size_t most = 0;
  for (const MailLetter& letter : mail.outgoing) most = std::max(most, letter.bytes);
  for (const MailLetter& letter : mail.incoming) most = std::max(most, letter.bytes);
  return most;
}

}  // namespace

Deliveries postOutgoing(Lock& lock, const Mail& mail, const BeforePiece& before) {
  Deliveries deliveries;
  if (mail.empty()) return deliveries;
  ranks::World& world = *otherRanks();
  std::vector<LetterPaper> papers;
  lock.unlock();
  try {
    waitForRoom(world, mostBytesOf(mail));
    for (const MailLetter& letter : mail.outgoing)
      papers.push_back(letterTo(world, letter.peers, kindOf(letter)));
    for (const MailLetter& letter : mail.incoming)
      deliveries.push_back(deliveriesOf(world, letter));
  } catch (...) {
    lock.lock();
    throw;
  }
  lock.lock();
  std::vector<Leaving> leaving;
  try {
    for (std::size_t i = 0; i < papers.size(); ++i)
      sendLetter(lock, world, mail.outgoing[i], std::move(papers[i]), before, leaving);
  } catch (...) {
    waitUntilLeft(leaving);
    throw;
  }
  waitUntilLeft(leaving);
  return deliveries;
}

void postIncoming(Lock& lock, const Mail& mail, Deliveries deliveries, const BeforePiece& before) {
  if (mail.incoming.empty()) return;
  ranks::World& world = *otherRanks();
  std::vector<Expected> letters;
  letters.reserve(mail.incoming.size());
  for (std::size_t i = 0; i < mail.incoming.size(); ++i)
    letters.push_back(expect(world, mail.incoming[i], std::move(deliveries[i])));
  for (const Expected& expected : letters) writeLetter(lock, expected, before);
  for (const Expected& expected : letters) {
    bool isThere = false;
    for (const MailPiece& piece : expected.letter->pieces) {
      if (piece.end.replica != nullptr) continue;
      if (!std::exchange(isThere, true)) waitFor(lock, expected.paper);
      writeToHost(lock, piece, expected.paper);
    }
  }
}

}  // namespace hpl::memory::detail
