// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/shelf.h"

#include <algorithm>

#include "hpl/memory/detail/transfer.h"

namespace hpl::memory::detail {

namespace {

// What a copy on the replica's compute queue has to wait for; false: the lock was given up.
bool collect(Lock& lock, Replica& replica, const Box& box, bool write, Waits& waits) {
  RootState& state = replica.root->state();
  collectConflicts(state, replica.own, box, write, {&replica.device(), true}, waits);
  if (waits.mustBlock()) {
    blockOn(lock, waits.host, state.root);
    return false;
  }
  waits.relayTo(replica.device());
  return true;
}

// A place for the box, the last of the shelf. None of its cells is shelved.
const ShelfPiece& placeFor(Replica& replica, const Box& box) {
  auto& shelf = replica.shelf;
  // A program that repeats its steps shelves the same boxes.
  const auto same = std::find_if(shelf.begin(), shelf.end(),
                                 [&](const ShelfPiece& piece) { return piece.box == box; });
  if (same != shelf.end()) {
    std::rotate(same, same + 1, shelf.end());
    return shelf.back();
  }
  std::erase_if(
      shelf, [&](const ShelfPiece& piece) { return !replica.own.shelved.intersects(piece.box); });
  const auto bytes = static_cast<std::size_t>(box.volume()) * replica.root->elementSize();
  cl_int code = CL_SUCCESS;
  const cl_mem buffer =
      clCreateBuffer(replica.device().context()(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes,
                     nullptr, &code);
  runtime::check(code, "clCreateBuffer", &replica.device(),
                 runtime::Concern::array(replica.root->label()));
  return shelf.emplace_back(ShelfPiece{box, cl::Buffer(buffer)});
}

void noteCopy(Replica& replica, const Box& box, bool write, cl::Event event) {
  slotFor(replica, box, write).stamp = replica.memory->clock.record(std::move(event));
}

// Newer pieces count: a cell may have been shelved several times.
bool bringBack(Lock& lock, Replica& replica, Region wanted) {
  Root& root = *replica.root;
  for (auto piece = replica.shelf.rbegin(); piece != replica.shelf.rend(); ++piece) {
    const Region found = intersectionOf(wanted, Region(piece->box));
    for (const Box& box : found) {
      Waits waits;
      if (!collect(lock, replica, box, true, waits)) return false;
      cl::Event event = enqueueDeviceCopy(replica.device(), piece->buffer, piece->box, box,
                                          replica.buffer, replica.box, box, root, waits.events);
      noteCopy(replica, box, true, std::move(event));
      replica.own.shelved.subtract(box);
      replica.own.current.subtract(box);
      root.state().bumpEpoch();
    }
    wanted.subtract(found);
  }
  return true;
}

}  // namespace

bool shelve(Lock& lock, Replica& replica, const Box& box) {
  Root& root = *replica.root;
  const Region unsaved =
      intersectionOf(differenceOf(replica.own.kept, replica.own.shelved), Region(box));
  for (const Box& piece : unsaved) {
    Waits waits;
    if (!collect(lock, replica, piece, false, waits)) return false;
    const ShelfPiece& place = placeFor(replica, piece);
    cl::Event event = enqueueDeviceCopy(replica.device(), replica.buffer, replica.box, piece,
                                        place.buffer, piece, piece, root, waits.events);
    noteCopy(replica, piece, false, std::move(event));
    replica.own.shelved.add(piece);
    root.state().bumpEpoch();
  }
  return true;
}

bool unshelve(Lock& lock, Replica& replica, const Box& box) {
  if (!replica.own.shelved.intersects(box)) return true;
  RootState& state = replica.root->state();
  const Region wanted = intersectionOf(replica.own.shelved, Region(box));
  const Region lost = intersectionOf(state.onlyIn(replica.own), wanted);
  if (!lost.empty()) state.materialiseHost();
  for (const Box& piece : lost) {
    if (!fetch(lock, state, nullptr, piece)) return false;
  }
  return bringBack(lock, replica, wanted);
}

void evict(Replica& replica) {
  RootState& state = replica.root->state();
  if (replica.own.shelved.empty()) return state.removeReplica(replica);
  replica.device().release(replica.bytes);
  replica.bytes = 0;
  replica.buffer = cl::Buffer();
  replica.box = Box();
  replica.own.current.clear();
  replica.own.transfers.clear();  // they concern the buffer
  state.changeLayout();
}

}  // namespace hpl::memory::detail
