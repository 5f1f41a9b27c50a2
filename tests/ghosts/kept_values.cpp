// SPDX-License-Identifier: Apache-2.0
#include "kept_values.h"

#include <cstring>
#include <vector>

#include "hpl/memory/detail/coherence.h"
#include "hpl/memory/detail/spill.h"

namespace ghosts_tests {

namespace {

using namespace hpl;
using memory::detail::Replica;

std::vector<int> contentsOf(const Replica& replica, const cl::Buffer& buffer,
                            const geometry::Box& box) {
  std::vector<int> values(static_cast<std::size_t>(box.volume()));
  replica.device().computeQueue().enqueueReadBuffer(buffer, CL_TRUE, 0, values.size() * sizeof(int),
                                                    values.data());
  return values;
}

// Each cell of `region` with its value in memory that holds `box`.
void collectFrom(std::map<std::pair<int, int>, int>& values, const std::vector<int>& contents,
                 const geometry::Box& box, const geometry::Region& region) {
  const int x = box.rank() - 1;
  for (const geometry::Box& piece : region) {
    const geometry::Index y0 = x == 0 ? 0 : piece.lo(0);
    const geometry::Index y1 = x == 0 ? 1 : piece.hi(0);
    for (geometry::Index row = y0; row < y1; ++row) {
      for (geometry::Index column = piece.lo(x); column < piece.hi(x); ++column) {
        const geometry::Index line = x == 0 ? 0 : (row - box.lo(0)) * box.extents()[1];
        const auto at = static_cast<std::size_t>(line + column - box.lo(x));
        values[{static_cast<int>(row), static_cast<int>(column)}] = contents[at];
      }
    }
  }
}

// The same in a buffer.
void collect(std::map<std::pair<int, int>, int>& values, const Replica& replica,
             const cl::Buffer& buffer, const geometry::Box& box, const geometry::Region& region) {
  if (!region.empty()) collectFrom(values, contentsOf(replica, buffer, box), box, region);
}

// The same for cells that wait for room on the device.
void collectWaiting(std::map<std::pair<int, int>, int>& values, const Replica& replica,
                    const geometry::Region& region) {
  if (replica.spill == nullptr) return;
  for (const auto& piece : replica.spill->pieces) {
    std::vector<int> contents(static_cast<std::size_t>(piece.box.volume()));
    std::memcpy(contents.data(), piece.cells.get(), contents.size() * sizeof(int));
    collectFrom(values, contents, piece.box, intersectionOf(region, geometry::Region(piece.box)));
  }
}

}  // namespace

std::map<std::pair<int, int>, int> keptValuesOn(memory::Root& root, runtime::DeviceState& device) {
  const memory::detail::Lock lock(memory::detail::coherenceMutex());
  std::map<std::pair<int, int>, int> values;
  const Replica* replica = root.state().find(device, false);
  if (replica == nullptr) return values;
  const geometry::Region kept = root.state().copiesOf(replica->space()).kept;
  // Kernels may wait for transfers, which some drivers begin when their own queue is flushed.
  device.flush();
  device.computeQueue().finish();
  device.transferQueue().finish();
  const geometry::Region& shelved = replica->partOnShelf;
  if (replica->buffer() != nullptr)
    collect(values, *replica, replica->buffer, replica->box,
            intersectionOf(differenceOf(kept, shelved), geometry::Region(replica->box)));
  collectWaiting(values, *replica, differenceOf(kept, shelved));
  // The newest piece that holds a cell has its value.
  for (const auto& piece : replica->shelf) {
    if (piece.value != coherence::Value::OfPart) continue;
    collect(values, *replica, piece.buffer, piece.box,
            intersectionOf(shelved, geometry::Region(piece.box)));
  }
  return values;
}

}  // namespace ghosts_tests
