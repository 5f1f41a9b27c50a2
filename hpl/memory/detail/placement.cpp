// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/placement.h"

#include <cstdint>

#include "hpl/memory/detail/shelf.h"
#include "hpl/memory/detail/spill.h"
#include "hpl/memory/detail/transfer.h"

namespace hpl::memory::detail {

bool canShareHostMemory(const RootState& state, const DeviceMemory& memory) {
  return memory.sharesHostMemory && state.hostsMayBeShared();
}

namespace {

Replica* enlist(RootState& state, DeviceMemory& memory, std::unique_ptr<Replica> replica) {
  replica->root = &state.root;
  replica->memory = &memory;
  replica->position = memory.replicas.size();
  memory.replicas.push_back(replica.get());
  state.changeLayout();
  return state.replicas.emplace_back(std::move(replica)).get();
}

std::unique_ptr<Replica> overHostMemory(const RootState& state, const DeviceMemory& memory) {
  cl_int code = CL_SUCCESS;
  const cl_mem object =
      clCreateBuffer(memory.device.context()(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                     state.root.bytes(), state.hostData, &code);
  runtime::check(code, "clCreateBuffer", &memory.device,
                 runtime::Concern::array(state.root.label()));
  auto replica = std::make_unique<Replica>();
  replica->buffer = cl::Buffer(object);
  replica->box = state.wholeBox();
  return replica;
}

Replica& makeZeroCopy(RootState& state, DeviceMemory& memory) {
  state.materialiseHost();
  std::unique_ptr<Replica> replica = overHostMemory(state, memory);
  replica->zeroCopy = true;
  return *enlist(state, memory, std::move(replica));
}

// Ranks plan as if no device worked in the host's memory. In a common block it does all the same,
// and stays there.
Replica& placeInCommonBlock(RootState& state, DeviceMemory& memory) {
  if (Replica* known = state.findIn(memory.space)) return *known;
  std::unique_ptr<Replica> replica = overHostMemory(state, memory);
  replica->pins = 1;
  return *enlist(state, memory, std::move(replica));
}

// Moves what is current in the old buffer to the new one. On the compute queue, where it is ordered
// with the kernels before and after it.
bool moveContents(Lock& lock, RootState& state, Replica& replica, const cl::Buffer& buffer,
                  const Box& box) {
  if (isSpilled(replica)) return true;
  Waits waits;
  const Waiter waiter{&replica.memory->compute};
  collectConflicts(state, replica.own, replica.box, true, waiter, waits);
  if (waits.mustBlock()) {
    blockOn(lock, waits.host, state.root);
    return false;
  }
  const coherence::Copies copies = state.copiesOf(replica.space());
  Region held = unionOf(differenceOf(copies.current, replica.arrayOnShelf),
                        differenceOf(copies.kept, replica.partOnShelf));
  held.intersect(box).intersect(replica.box);
  for (const Box& piece : held) {
    cl::Event event = enqueueDeviceCopy(replica.device(), replica.buffer, replica.box, piece,
                                        buffer, box, piece, state.root, waits.events);
    slotFor(replica, piece, true).stamp = replica.memory->compute.record(std::move(event));
  }
  return true;
}

bool rebuild(Lock& lock, RootState& state, Replica& replica, const Box& box, std::size_t bytes) {
  cl::Buffer buffer;
  DeviceMemory& memory = *replica.memory;
  if (!allocate(lock, memory, state.root, bytes, &replica, buffer)) return false;
  try {
    if (!moveContents(lock, state, replica, buffer, box)) {
      memory.device.release(bytes);
      return false;
    }
    if (replica.spill != nullptr) unspill(lock, replica, buffer, box);
  } catch (...) {
    memory.device.release(bytes);
    throw;
  }
  memory.device.release(replica.bytes);
  replica.buffer = std::move(buffer);
  replica.box = box;
  replica.bytes = bytes;
  replica.own.transfers.clear();  // they concern the old buffer; the copies waited for the writes
  state.changeLayout();
  return true;
}

// Periodic ghosts beyond the ends give way, of which only what a part keeps is of any use
// (Planner::leaveEnds). That waits on the shelf.
void leaveEnds(Lock& lock, RootState& state, Replica& replica) {
  for (const Box& box : differenceOf(Region(replica.box), state.wholeBox()))
    shelve(lock, replica, box);
}

// The box that the replica's buffer should hold when `need` is used: what it holds if that will do.
Box boxFor(Replica& replica, const Box& need, Fit fit) {
  if (isSpilled(replica)) return need;
  if (replica.box == need || fit == Fit::Whole) {
    replica.mayShrink = false;
    return need;
  }
  if (fit == Fit::Part && replica.mayShrink) {
    const coherence::Copies copies = replica.root->state().copiesOf(replica.space());
    if (need.contains(copies.current.boundingBox()) && need.contains(copies.kept.boundingBox()))
      return need;
  }
  if (replica.box.contains(need)) return replica.box;
  if (fit == Fit::Loose) replica.mayShrink = false;
  return hull(replica.box, need);
}

}  // namespace

Replica* placeOwn(Lock& lock, RootState& state, DeviceMemory& memory, const Box& need, Fit fit) {
  if (state.root.commonBlock() != nullptr && memory.sharesHostMemory)
    return &placeInCommonBlock(state, memory);
  Replica* replica = state.findIn(memory.space);
  const Box box = replica != nullptr ? boxFor(*replica, need, fit) : need;
  const bool hasBuffer = replica != nullptr && !isSpilled(*replica);
  if (hasBuffer && replica->box == box) return replica;
  if (hasBuffer && fit == Fit::Whole && !box.contains(replica->box))
    leaveEnds(lock, state, *replica);
  const auto bytesOf = [&](const Box& cells) {
    return static_cast<std::size_t>(cells.volume()) * state.root.elementSize();
  };
  const std::size_t bytes = bytesOf(box);
  // The new cells fit, but not together with the cells of before.
  const std::size_t most = memory.device.maxAllocation();
  if (hasBuffer && replica->pins == 0 && bytes > most && bytesOf(need) <= most) {
    spill(lock, *replica);
    return nullptr;
  }
  if (replica != nullptr) return rebuild(lock, state, *replica, box, bytes) ? replica : nullptr;
  auto fresh = std::make_unique<Replica>();
  if (!allocate(lock, memory, state.root, bytes, nullptr, fresh->buffer)) return nullptr;
  fresh->box = box;
  fresh->bytes = bytes;
  return enlist(state, memory, std::move(fresh));
}

Replica& placeShared(RootState& state, DeviceMemory& memory) {
  Replica* replica = state.find(memory.device, true);
  return replica != nullptr ? *replica : makeZeroCopy(state, memory);
}

}  // namespace hpl::memory::detail
