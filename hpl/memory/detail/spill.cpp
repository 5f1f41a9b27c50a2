// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/spill.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "hpl/error.h"
#include "hpl/memory/detail/staging.h"
#include "hpl/runtime/events.h"
#include "hpl/runtime/log.h"
#include "hpl/trace/timeline.h"

namespace hpl::memory::detail {

namespace {

// Cells of which the buffer shows the part's own value, or would if there was one.
Region ofPart(const Replica& replica) {
  return differenceOf(replica.root->state().copiesOf(replica.space()).kept, replica.partOnShelf);
}

// The same for the array's value.
Region ofArray(const Replica& replica) {
  const coherence::Copies copies = replica.root->state().copiesOf(replica.space());
  return differenceOf(differenceOf(copies.current, replica.arrayOnShelf), ofPart(replica));
}

// Cells that the buffer shows and the hosts have for good: no transfer is on its way there, which
// might fail.
Region inHostsOf(const Replica& replica) {
  const RootState& state = replica.root->state();
  Region cells = ofArray(replica);
  cells.intersect(replica.box).intersect(state.copiesOf(kHosts).current);
  for (const PendingTransfer& transfer : state.host.transfers)
    if (transfer.write) cells.subtract(transfer.box);
  return cells;
}

std::unique_ptr<std::byte[]> memoryFor(const Replica& replica, const Box& box) {
  const std::size_t bytes = static_cast<std::size_t>(box.volume()) * replica.root->elementSize();
  try {
    return std::make_unique_for_overwrite<std::byte[]>(bytes);
  } catch (const std::bad_alloc&) {
    throw AllocationError(
        fmt::format(
            "device \"{}\" is short of memory, and the host has no {} bytes for cells {} of "
            "{} to wait in; use smaller arrays, or distribute them over several devices",
            replica.device().name(), bytes, box.toString(), replica.root->describe()),
        CL_OUT_OF_HOST_MEMORY, {});
  }
}

// Waits for commands without the lock. The caller holds the root; the replica stays where it is.
void waitUnlocked(Lock& lock, Replica& replica, const std::vector<cl::Event>& events) {
  const Pin pin(replica);
  DeviceState& device = replica.device();
  const std::string label = replica.root->label();
  lock.unlock();
  try {
    for (const cl::Event& event : events)
      runtime::wait(event, &device, runtime::Concern::array(label));
  } catch (...) {
    // No command outlives the memory that it uses.
    for (const cl::Event& event : events) runtime::endOf(event());
    lock.lock();
    throw;
  }
  lock.lock();
}

// Collects the commands that a command of `queue` that uses cells of a storage has to wait for.
void collectWaits(Lock& lock, RootState& state, Storage& storage, const Box& box, bool write,
                  Queue& queue, Waits& waits) {
  for (;;) {
    waits.clear();
    collectConflicts(state, storage, box, write, {&queue}, waits);
    if (!waits.mustBlock()) break;
    blockOn(lock, waits.host, state.root);
  }
  waits.relayTo(queue.device());
}

// The pieces' cells in a box, which they need not fill, to memory that holds `enclosing`.
void copyPieces(const Spill& spill, const Box& box, std::byte* to, const Box& enclosing,
                std::size_t size) {
  for (const Spill::Piece& piece : spill.pieces) {
    const Box common = intersect(piece.box, box);
    if (!common.empty())
      copyHost(piece.cells.get(), piece.box, common, to, enclosing, common, size);
  }
}

}  // namespace

Region neededOf(const Replica& replica) {
  Region shown = unionOf(ofArray(replica), ofPart(replica));
  return shown.intersect(replica.box).subtract(inHostsOf(replica));
}

void spill(Lock& lock, Replica& replica) {
  RootState& state = replica.root->state();
  const std::size_t size = replica.root->elementSize();
  std::vector<Spill::Piece> pieces;
  std::vector<cl::Event> reads;
  Waits waits;
  try {
    for (const Box& box : neededOf(replica)) {
      Spill::Piece& piece = pieces.emplace_back(Spill::Piece{box, memoryFor(replica, box)});
      Queue& out = replica.memory->out();
      collectWaits(lock, state, replica.own, box, false, out, waits);
      reads.push_back(enqueueReads(out.device(), replica.buffer, piece.cells.get(),
                                   geometry::rectCopies(replica.box, box, box, box, size),
                                   waits.events, replica.root->label()));
    }
  } catch (...) {
    for (const cl::Event& read : reads) runtime::endOf(read());
    throw;
  }
  if (!reads.empty()) {
    // Launches that would repeat without asking see that something happens, and wait for the root.
    state.bumpEpoch();
    waitUnlocked(lock, replica, reads);
  }
  if (replica.spill == nullptr) replica.spill = std::make_shared<Spill>();
  replica.spill->inHosts.add(inHostsOf(replica));
  std::move(pieces.begin(), pieces.end(), std::back_inserter(replica.spill->pieces));
  runtime::log::debug(fmt::format("device {} is short of memory: {} bytes of {} make room",
                                  replica.device().name(), replica.bytes,
                                  replica.root->describe()));
  replica.device().release(replica.bytes);
  replica.bytes = 0;
  replica.buffer = cl::Buffer();
  replica.box = Box();
  replica.own.transfers.clear();  // they concern the buffer
  state.changeLayout();
}

namespace {

// Takes the box out of the pieces.
void forgetPieces(Spill& spill, const Box& box, std::size_t size) {
  std::vector<Spill::Piece> left;
  for (Spill::Piece& piece : spill.pieces) {
    if (!piece.box.intersects(box)) {
      left.push_back(std::move(piece));
      continue;
    }
    for (const Box& rest : differenceOf(Region(piece.box), box)) {
      const auto bytes = static_cast<std::size_t>(rest.volume()) * size;
      left.push_back({rest, std::make_unique_for_overwrite<std::byte[]>(bytes)});
      copyHost(piece.cells.get(), piece.box, rest, left.back().cells.get(), rest, rest, size);
    }
  }
  spill.pieces = std::move(left);
}

}  // namespace

void unspill(Lock& lock, Replica& replica, const cl::Buffer& buffer, const Box& box) {
  Spill& spill = *replica.spill;
  RootState& state = replica.root->state();
  const std::size_t size = replica.root->elementSize();
  Queue& in = replica.memory->in;
  const Region held = unionOf(ofArray(replica), ofPart(replica));
  std::vector<cl::Event> writes;
  Waits waits;
  const auto write = [&](const std::byte* from, const Box& enclosing, const Box& cells) {
    writes.push_back(enqueueWrites(in.device(), buffer, from,
                                   geometry::rectCopies(enclosing, cells, box, cells, size),
                                   waits.events, replica.root->label()));
  };
  try {
    const Region fromHosts = intersectionOf(intersectionOf(spill.inHosts, Region(box)), held);
    for (const Box& cells : fromHosts) {
      if (!in.device().readsHostLate()) waitOnHost(lock, state, cells, false);
      collectWaits(lock, state, state.host, cells, false, in, waits);
      write(state.hostData, state.wholeBox(), cells);
      state.host.note({cells, false, writes.back(), &in, in.count()});
    }
    waits.clear();
    for (const Spill::Piece& piece : spill.pieces)
      for (const Box& cells : intersectionOf(Region(intersect(piece.box, box)), held))
        write(piece.cells.get(), piece.box, cells);
  } catch (...) {
    for (const cl::Event& event : writes) runtime::endOf(event());
    throw;
  }
  waitUnlocked(lock, replica, writes);
  spill.inHosts.subtract(box);
  forgetPieces(spill, box, size);
  if (spill.inHosts.empty() && spill.pieces.empty()) replica.spill.reset();
}

bool isWaiting(const Replica& replica, const Box& cells, Value value) {
  if (replica.spill == nullptr || replica.zeroCopy) return false;
  if (!isSpilled(replica) && replica.box.intersects(cells)) return false;
  const Region& shelved = value == Value::OfPart ? replica.partOnShelf : replica.arrayOnShelf;
  if (shelved.intersects(cells)) return false;
  Region left = differenceOf(Region(cells), replica.spill->inHosts);
  for (const Spill::Piece& piece : replica.spill->pieces) left.subtract(piece.box);
  return left.empty();
}

void moveWaiting(Lock& lock, const End& src, const End& dst) {
  const Replica& replica = *src.replica;
  const std::size_t size = src.state->root.elementSize();
  const std::unique_ptr<std::byte[]> cells = memoryFor(replica, src.box);
  copyPieces(*replica.spill, src.box, cells.get(), src.box, size);
  for (const Box& box : intersectionOf(replica.spill->inHosts, Region(src.box))) {
    waitOnHost(lock, *src.state, box, false);
    copyHost(src.state->hostData, src.state->wholeBox(), box, cells.get(), src.box, box, size);
  }
  const std::size_t bytes = static_cast<std::size_t>(src.box.volume()) * size;
  if (dst.onHost()) {
    waitOnHost(lock, *dst.state, dst.box, true);
    copyHost(cells.get(), src.box, src.box, dst.state->hostData, dst.state->wholeBox(), dst.box,
             size);
    trace::recordTransfer(trace::Transfer::DeviceToHost, bytes, replica.device().index(), nullptr,
                          src.state->root.label());
    return;
  }
  Waits waits;
  collectWaits(lock, *dst.state, dst.storage(), dst.box, true, dst.in(), waits);
  const cl::Event written =
      enqueueWrites(dst.replica->device(), dst.replica->buffer, cells.get(),
                    geometry::rectCopies(src.box, src.box, dst.replica->box, dst.box, size),
                    waits.events, dst.state->root.label());
  trace::recordTransfer(trace::Transfer::DeviceToDevice, bytes, dst.replica->device().index(),
                        written(), dst.state->root.label());
  waitUnlocked(lock, *dst.replica, {written});
  dst.state->bumpEpoch();
}

void keepOwn(Lock& lock, Replica& replica, const Region& cells) {
  if (replica.spill == nullptr || !replica.spill->inHosts.intersects(cells)) return;
  RootState& state = replica.root->state();
  const Region own = intersectionOf(replica.spill->inHosts, cells);
  for (const Box& box : own) {
    Spill::Piece piece{box, memoryFor(replica, box)};
    waitOnHost(lock, state, box, false);
    copyHost(state.hostData, state.wholeBox(), box, piece.cells.get(), box, box,
             state.root.elementSize());
    replica.spill->pieces.push_back(std::move(piece));
    replica.spill->inHosts.subtract(box);
  }
  state.changeLayout();
}

}  // namespace hpl::memory::detail
