// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/mail.h"

#include <algorithm>
#include <map>
#include <utility>

#include "hpl/error.h"
#include "hpl/geometry/rect_copy.h"
#include "hpl/memory/detail/letters.h"
#include "hpl/memory/detail/session.h"
#include "hpl/runtime/settings.h"
#include "hpl/trace/timeline.h"

namespace hpl::memory::detail {

using coherence::Parcel;
using coherence::Piece;
using coherence::Transfer;
using geometry::rectCopies;

namespace {

enum class Direction { Out, In };

MailPiece pieceOf(const Transfer& what, const Piece& piece, End end, Direction direction) {
  MailPiece made{what, std::move(end), piece.offset, piece.bytes};
  if (made.end.replica == nullptr) return made;
  const Box& cells = made.end.box;
  const Box& enclosing = made.end.replica->box;
  const std::size_t size = made.end.state->root.elementSize();
  made.copies = direction == Direction::Out ? rectCopies(enclosing, cells, cells, cells, size)
                                            : rectCopies(cells, cells, enclosing, cells, size);
  return made;
}

std::vector<MailLetter> lettersOf(const coherence::Step& step, const std::vector<Parcel>& parcels,
                                  const EndOfTransfer& endOf, Direction direction) {
  std::vector<MailLetter> letters;
  const std::vector<Piece>* last = nullptr;
  for (const Parcel& parcel : parcels) {
    // What the hosts get is the same for all ranks, and is read once.
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
  const coherence::Parcels parcels = coherence::parcelsOf(step, which, planner().machine(),
                                                          world->size(), world->rank(), together());
  return {lettersOf(step, parcels.outgoing, sourceOf, Direction::Out),
          lettersOf(step, parcels.incoming, targetOf, Direction::In)};
}

namespace {

// What the queue has to wait for before it reads or writes the piece.
void waitsOf(Lock& lock, const MailPiece& piece, bool write, Queue& queue, Waits& waits) {
  RootState& state = *piece.end.state;
  for (;;) {
    waits.clear();
    collectConflicts(state, piece.end.storage(), piece.end.box, write, {&queue}, waits,
                     Forget::IfMany);
    if (!waits.mustBlock()) break;
    blockOn(lock, waits.host, state.root);
  }
  waits.relayTo(queue.device());
}

LetterKind kindOf(const MailLetter& letter) {
  const auto isForHosts = [](const MailPiece& piece) { return piece.what.to == kHosts; };
  const bool isForAll = std::any_of(letter.pieces.begin(), letter.pieces.end(), isForHosts);
  return {letter.bytes, isForAll ? Readers::AllHosts : Readers::OneRank, letter.together};
}

struct ById {
  bool operator()(const Queue* a, const Queue* b) const noexcept { return a->id() < b->id(); }
};
// The last command of each queue for a letter.
using LastCommands = std::map<const Queue*, cl::Event, ById>;

void flushAll(const LastCommands& last) {
  for (const auto& [queue, event] : last)
    runtime::check(runtime::flushed(queue->commands()), "clFlush", &queue->device());
}

void sendLetter(Lock& lock, ranks::World& world, const MailLetter& letter, LetterPaper empty,
                const BeforePiece& before) {
  OutgoingLetter paper(world, letter.peers, std::move(empty));
  readPieces(lock, letter.pieces, paper.cells(), before,
             [&](const cl::Event& read, DeviceState& device) { paper.waitFor(read, device); });
  paper.seal();
}

// One user event for each context that has devices which can wait for the letter by themselves.
std::vector<std::pair<DeviceState*, cl::Event>> gatesOf(const MailLetter& letter) {
  std::vector<std::pair<DeviceState*, cl::Event>> gates;
  for (const MailPiece& piece : letter.pieces) {
    if (piece.end.replica == nullptr) continue;
    DeviceState& device = piece.end.replica->device();
    const auto isThere = [&](const auto& gate) { return gate.first->sharesContextWith(device); };
    if (!device.honoursUserEvents() || std::any_of(gates.begin(), gates.end(), isThere)) continue;
    cl_int code = CL_SUCCESS;
    const cl_event event = clCreateUserEvent(device.context()(), &code);
    runtime::check(code, "clCreateUserEvent", &device);
    gates.emplace_back(&device, cl::Event(event));
  }
  return gates;
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
  std::vector<std::pair<DeviceState*, cl::Event>> gates;
  IncomingLetter paper;
};

Expected expect(ranks::World& world, const MailLetter& letter) {
  auto gates = gatesOf(letter);
  std::vector<cl::Event> events;
  events.reserve(gates.size());
  for (const auto& [device, event] : gates) events.push_back(event);
  IncomingLetter paper(world, letter.peers.front(), kindOf(letter), std::move(events));
  return {&letter, std::move(gates), std::move(paper)};
}

void writeToDevice(Lock& lock, const MailPiece& piece, const Expected& expected,
                   LastCommands& last) {
  Queue& queue = piece.end.in();
  DeviceState& device = queue.device();
  Waits waits;
  if (!device.honoursUserEvents()) waitFor(lock, expected.paper);
  waitsOf(lock, piece, true, queue, waits);
  for (const auto& [of, gate] : expected.gates)
    if (of->sharesContextWith(device)) waits.events.push_back(gate);
  const std::string& label = piece.end.state->root.label();
  cl::Event written =
      enqueueDenseWrites(device, piece.end.replica->buffer, piece.copies, piece.bytes,
                         expected.paper.cells() + piece.offset, waits.events, label, Flush::Later);
  trace::recordTransfer(trace::Transfer::DeviceToDevice, piece.bytes, device.index(), written(),
                        label);
  noteEnd(piece.end, true, written, queue, queue.count());
  last[&queue] = std::move(written);
}

void writeLetter(Lock& lock, const Expected& expected, const BeforePiece& before) {
  LastCommands last;
  for (const MailPiece& piece : expected.letter->pieces) {
    if (piece.end.replica == nullptr) continue;
    if (before) before(piece);
    writeToDevice(lock, piece, expected, last);
  }
  flushAll(last);
  for (const auto& [queue, written] : last) expected.paper.keepFor(written, queue->device());
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
  Waits waits;
  for (const MailPiece& piece : pieces) {
    if (before) before(piece);
    Queue& queue = piece.end.out();
    DeviceState& device = queue.device();
    waitsOf(lock, piece, false, queue, waits);
    cl::Event read = enqueueDenseReads(device, piece.end.replica->buffer, piece.copies, piece.bytes,
                                       into + piece.offset, waits.events,
                                       piece.end.state->root.label(), Flush::Later);
    trace::recordTransfer(trace::Transfer::DeviceToDevice, 0, device.index(), read(),
                          piece.end.state->root.label(), queue.track());
    noteEnd(piece.end, false, read, queue, queue.count());
    last[&queue] = std::move(read);
  }
  flushAll(last);
  for (const auto& [queue, read] : last) begun(read, queue->device());
}

void postOutgoing(Lock& lock, const Mail& mail, const BeforePiece& before) {
  if (mail.empty()) return;
  ranks::World& world = *otherRanks();
  std::vector<LetterPaper> papers;
  lock.unlock();
  try {
    waitForRoom(world);
    for (const MailLetter& letter : mail.outgoing)
      papers.push_back(letterTo(world, letter.peers, kindOf(letter)));
  } catch (...) {
    lock.lock();
    throw;
  }
  lock.lock();
  for (std::size_t i = 0; i < papers.size(); ++i)
    sendLetter(lock, world, mail.outgoing[i], std::move(papers[i]), before);
}

void postIncoming(Lock& lock, const Mail& mail, const BeforePiece& before) {
  if (mail.incoming.empty()) return;
  ranks::World& world = *otherRanks();
  std::vector<Expected> letters;
  letters.reserve(mail.incoming.size());
  for (const MailLetter& letter : mail.incoming) letters.push_back(expect(world, letter));
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
