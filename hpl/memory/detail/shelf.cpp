// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/shelf.h"

#include <algorithm>

#include "hpl/memory/detail/transfer.h"

namespace hpl::memory::detail {

namespace {

// The commands that a copy on the replica's compute queue has to wait for.
WaitList waitsFor(Lock& lock, Replica& replica, const Box& box, bool write) {
  RootState& state = replica.root->state();
  for (;;) {
    Waits waits;
    collectConflicts(state, replica.own, box, write, {&replica.memory->compute}, waits);
    if (!waits.mustBlock()) {
      waits.relayTo(replica.device());
      return waits.events;
    }
    blockOn(lock, waits.host, state.root);
  }
}

Region& shelvedOf(Replica& replica, Value value) {
  return value == Value::OfPart ? replica.partOnShelf : replica.arrayOnShelf;
}

Value otherThan(Value value) { return value == Value::OfPart ? Value::OfArray : Value::OfPart; }

// A place for the box, the last of the shelf. None of its cells has this value there.
const ShelfPiece& placeFor(Replica& replica, const Box& box, Value value) {
  auto& shelf = replica.shelf;
  // A program that repeats its steps shelves the same boxes.
  const auto same = std::find_if(shelf.begin(), shelf.end(), [&](const ShelfPiece& piece) {
    return piece.box == box && piece.value == value;
  });
  if (same != shelf.end()) {
    std::rotate(same, same + 1, shelf.end());
    return shelf.back();
  }
  std::erase_if(shelf, [&](const ShelfPiece& piece) {
    return !shelvedOf(replica, piece.value).intersects(piece.box);
  });
  const auto bytes = static_cast<std::size_t>(box.volume()) * replica.root->elementSize();
  cl_int code = CL_SUCCESS;
  const cl_mem buffer =
      clCreateBuffer(replica.device().context()(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes,
                     nullptr, &code);
  runtime::check(code, "clCreateBuffer", &replica.device(),
                 runtime::Concern::array(replica.root->label()));
  return shelf.emplace_back(ShelfPiece{box, value, cl::Buffer(buffer)});
}

void noteCopy(Replica& replica, const Box& box, bool write, cl::Event event) {
  slotFor(replica, box, write).stamp = replica.memory->compute.record(std::move(event));
  replica.root->state().changeLayout();
}

void putAside(Lock& lock, Replica& replica, const Region& cells, Value value) {
  for (const Box& box : cells) {
    const WaitList waits = waitsFor(lock, replica, box, false);
    const ShelfPiece& place = placeFor(replica, box, value);
    cl::Event event = enqueueDeviceCopy(replica.device(), replica.buffer, replica.box, box,
                                        place.buffer, box, box, *replica.root, waits);
    shelvedOf(replica, value).add(box);
    noteCopy(replica, box, false, std::move(event));
  }
}

// Newer pieces count: a cell may have been shelved several times.
void bringBack(Lock& lock, Replica& replica, Region wanted, Value value) {
  for (std::size_t i = replica.shelf.size(); i-- > 0 && !wanted.empty();) {
    if (replica.shelf[i].value != value) continue;
    const Region found = intersectionOf(wanted, Region(replica.shelf[i].box));
    for (const Box& box : found) {
      const WaitList waits = waitsFor(lock, replica, box, true);
      const ShelfPiece& piece = replica.shelf[i];
      cl::Event event = enqueueDeviceCopy(replica.device(), piece.buffer, piece.box, box,
                                          replica.buffer, replica.box, box, *replica.root, waits);
      shelvedOf(replica, value).subtract(box);
      noteCopy(replica, box, true, std::move(event));
    }
    wanted.subtract(found);
  }
}

}  // namespace

void show(Lock& lock, Replica& replica, const Box& box, Value value) {
  if (!shelvedOf(replica, value).intersects(box)) return;
  const Region wanted = intersectionOf(shelvedOf(replica, value), Region(box));
  const coherence::Copies copies = replica.root->state().copiesOf(replica.space());
  // Where the device has the other value, too, the buffer shows that now.
  const Value other = otherThan(value);
  Region shown = intersectionOf(wanted, other == Value::OfPart ? copies.kept : copies.current);
  putAside(lock, replica, shown.subtract(shelvedOf(replica, other)), other);
  bringBack(lock, replica, wanted, value);
}

void shelve(Lock& lock, Replica& replica, const Box& box) {
  const coherence::Copies copies = replica.root->state().copiesOf(replica.space());
  if (!copies.kept.intersects(box)) return;
  Region shown = intersectionOf(copies.kept, Region(box));
  putAside(lock, replica, shown.subtract(replica.partOnShelf), Value::OfPart);
}

void forgetShelved(Replica& replica, const Box& box) {
  if (!replica.partOnShelf.intersects(box) && !replica.arrayOnShelf.intersects(box)) return;
  replica.partOnShelf.subtract(box);
  replica.arrayOnShelf.subtract(box);
  replica.root->state().changeLayout();
}

}  // namespace hpl::memory::detail
