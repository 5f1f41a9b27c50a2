// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/mail_in_place.h"

#include "hpl/memory/detail/in_place.h"
#include "hpl/memory/detail/session.h"
#include "hpl/trace/timeline.h"

namespace hpl::memory::detail {

void flushAll(const LastCommands& last) {
  for (const auto& [queue, event] : last)
    runtime::check(runtime::flushed(queue->commands()), "clFlush", &queue->device());
}

LetterKind kindOf(const MailLetter& letter) {
  const auto isForHosts = [](const MailPiece& piece) { return piece.what.to == kHosts; };
  const bool isForAll = std::any_of(letter.pieces.begin(), letter.pieces.end(), isForHosts);
  return {letter.bytes, isForAll ? Readers::AllHosts : Readers::OneRank, letter.together,
          letter.via};
}

Gates gatesFor(std::span<const MailPiece> pieces, bool (*isMeant)(const MailPiece& piece)) {
  Gates gates;
  for (const MailPiece& piece : pieces) {
    if (piece.end.replica == nullptr || !isMeant(piece)) continue;
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

std::vector<cl::Event> eventsOf(const Gates& gates) {
  std::vector<cl::Event> events;
  events.reserve(gates.size());
  for (const auto& [device, event] : gates) events.push_back(event);
  return events;
}

void addGates(const Gates& gates, const DeviceState& device, WaitList& waits) {
  for (const auto& [of, gate] : gates)
    if (of->sharesContextWith(device)) waits.push_back(gate);
}

InPlace inPlaceOf(std::span<const MailPiece> pieces, bool write) {
  InPlace all;
  Waits waits;
  for (const MailPiece& piece : pieces) {
    if (!isInPlace(piece)) continue;
    all.rows.insert(all.rows.end(), piece.inPlace.begin(), piece.inPlace.end());
    all.buffers.push_back(piece.end.replica->buffer);
    collectConflicts(*piece.end.state, piece.end.storage(), piece.end.box, write, Waiter::theHost(),
                     waits);
  }
  std::sort(all.rows.begin(), all.rows.end(),
            [](const auto& a, const auto& b) { return a.offset < b.offset; });
  for (auto& [event, of] : waits.host) {
    const auto isKnown = [&](const auto& other) { return other.first() == event(); };
    if (std::none_of(all.after.begin(), all.after.end(), isKnown))
      all.after.emplace_back(std::move(event), of);
  }
  return all;
}

void waitInQueues(const MailLetter& letter, const Gates& gates, bool write, LastCommands& last) {
  LastCommands markers;
  for (const MailPiece& piece : letter.pieces) {
    if (!isInPlace(piece)) continue;
    Queue& queue = write ? piece.end.in() : piece.end.out();
    cl::Event& marker = markers[&queue];
    if (marker() == nullptr) {
      WaitList waits;
      addGates(gates, queue.device(), waits);
      cl_event made = nullptr;
      runtime::check(
          clEnqueueMarkerWithWaitList(queue.commands()(), static_cast<cl_uint>(waits.size()),
                                      reinterpret_cast<const cl_event*>(waits.data()), &made),
          "clEnqueueMarkerWithWaitList", &queue.device());
      marker = cl::Event(made);
      queue.count();
    }
    if (write)
      trace::recordTransfer(trace::Transfer::DeviceToDevice, piece.bytes, queue.device().index(),
                            marker(), piece.end.state->root.label(), queue.track());
    noteEnd(piece.end, write, marker, queue, queue.last());
    last[&queue] = marker;
  }
}

namespace {

// An operation must not write cells that leave from where they are before other ranks have done
// something for it: they might wait for the same.
bool isOverwritten(const MailPiece& piece, const std::vector<MailLetter>& incoming) {
  return std::any_of(incoming.begin(), incoming.end(), [&](const MailLetter& letter) {
    return std::any_of(letter.pieces.begin(), letter.pieces.end(), [&](const MailPiece& other) {
      return &other.end.storage() == &piece.end.storage() &&
             other.end.box.intersects(piece.end.box);
    });
  });
}

}  // namespace

void findInPlace(Mail& mail) {
  ranks::World& world = *otherRanks();
  const auto mayBe = [&](const MailLetter& letter) {
    return letter.peers.size() == 1 && mayBeInPlace(world, letter.peers.front(), kindOf(letter));
  };
  const auto find = [](MailPiece& piece, Side side) {
    if (piece.end.replica != nullptr && piece.what.why != coherence::Why::Assign)
      piece.inPlace = rowsInPlace(*piece.end.replica, piece.copies, side, piece.offset);
  };
  for (MailLetter& letter : mail.outgoing)
    if (mayBe(letter))
      for (MailPiece& piece : letter.pieces)
        if (!isOverwritten(piece, mail.incoming)) find(piece, Side::Source);
  for (MailLetter& letter : mail.incoming)
    if (mayBe(letter))
      for (MailPiece& piece : letter.pieces) find(piece, Side::Target);
}

}  // namespace hpl::memory::detail
