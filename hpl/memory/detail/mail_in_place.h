// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "hpl/memory/detail/letters.h"
#include "hpl/memory/detail/mail.h"

/// The part of mail that devices do not copy, and how their queues wait for messages.
namespace hpl::memory::detail {

struct ById {
  bool operator()(const Queue* a, const Queue* b) const noexcept { return a->id() < b->id(); }
};
/// The last command of each queue for a letter.
using LastCommands = std::map<const Queue*, cl::Event, ById>;
void flushAll(const LastCommands& last);

/// One user event for each context that has devices which can wait for it.
using Gates = std::vector<std::pair<DeviceState*, cl::Event>>;
/// For the devices of the pieces that are meant.
Gates gatesFor(std::span<const MailPiece> pieces, bool (*isMeant)(const MailPiece& piece));
std::vector<cl::Event> eventsOf(const Gates& gates);
void addGates(const Gates& gates, const DeviceState& device, WaitList& waits);

inline bool isInPlace(const MailPiece& piece) { return !piece.inPlace.empty(); }
inline bool hasInPlace(const MailLetter& letter) {
  return std::any_of(letter.pieces.begin(), letter.pieces.end(), isInPlace);
}
/// Facts that both ends of a letter know.
LetterKind kindOf(const MailLetter& letter);

/// The pieces that need no command of a device: finds those whose cells may leave from where they
/// are, or arrive there.
void findInPlace(Mail& mail);
/// The pieces of a letter that are in place, and what has to end before they are read or written.
InPlace inPlaceOf(std::span<const MailPiece> pieces, bool write);
/// A command of the pieces' queues that ends with the gates: commands that overwrite the cells, or
/// read them, wait for it. Counts the bytes that have arrived.
void waitInQueues(const MailLetter& letter, const Gates& gates, bool write, LastCommands& last);

}  // namespace hpl::memory::detail
