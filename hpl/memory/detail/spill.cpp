// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/spill.h"

#include <utility>
#include <vector>

#include "hpl/memory/detail/staging.h"
#include "hpl/runtime/events.h"

namespace hpl::memory::detail {

struct Spill {
  struct Piece {
    Box box;
    std::vector<std::byte> cells;
  };
  std::vector<Piece> pieces;
};

namespace {

// What of the cells the buffer shows is of any use.
Region shownBy(const Replica& replica) {
  const coherence::Copies copies = replica.root->state().copiesOf(replica.space());
  Region held = unionOf(differenceOf(copies.current, replica.arrayOnShelf),
                        differenceOf(copies.kept, replica.partOnShelf));
  return held.intersect(replica.box);
}

}  // namespace

void spill(Lock& lock, Replica& replica) {
  DeviceState& device = replica.device();
  const Pin pin(replica);
  auto spilled = std::make_shared<Spill>();
  const std::size_t size = replica.root->elementSize();
  const cl::Buffer buffer = replica.buffer;
  const std::string label = replica.root->label();
  const Region cells = shownBy(replica);
  lock.unlock();
  try {
    device.finish();
    for (const Box& box : cells) {
      Spill::Piece& piece = spilled->pieces.emplace_back();
      piece.box = box;
      piece.cells.resize(static_cast<std::size_t>(box.volume()) * size);
      const cl::Event read =
          enqueueReads(device, buffer, piece.cells.data(),
                       geometry::rectCopies(replica.box, box, box, box, size), {}, label);
      runtime::wait(read, &device, runtime::Concern::array(label));
    }
  } catch (...) {
    lock.lock();
    throw;
  }
  lock.lock();
  replica.spill = std::move(spilled);
  device.release(replica.bytes);
  replica.bytes = 0;
  replica.buffer = cl::Buffer();
  replica.own.transfers.clear();  // they concern the buffer
  replica.root->state().changeLayout();
}

void unspill(Replica& replica, const cl::Buffer& buffer, const Box& box) {
  DeviceState& device = replica.device();
  const std::string& label = replica.root->label();
  for (const Spill::Piece& piece : replica.spill->pieces) {
    const cl::Event written = enqueueWrites(
        device, buffer, piece.cells.data(),
        geometry::rectCopies(piece.box, piece.box, box, piece.box, replica.root->elementSize()), {},
        label);
    runtime::wait(written, &device, runtime::Concern::array(label));
  }
  replica.spill.reset();
}

}  // namespace hpl::memory::detail
