// SPDX-License-Identifier: Apache-2.0
#include "hpl/array/local_part.h"

#include <string>

#include "hpl/error.h"
#include "hpl/lang/capture.h"
#include "hpl/memory/root.h"

namespace hpl::detail {

std::vector<LocalCells> localCells(memory::View& view, bool forWriting) {
  refuseInKernel("local()");
  std::vector<LocalCells> parts;
  for (const memory::OwnedCells& owned : memory::openLocally(view, forWriting)) {
    LocalCells part{view.host, Device(*owned.device), {}, {}, {}, {}};
    for (int d = 0; d < view.rank(); ++d) {
      const geometry::Index lo = owned.cells.lo(d) - view.box().lo(d);
      part.first += static_cast<std::size_t>(lo * view.strides[d]) * view.root().elementSize();
      part.lo.push_back(static_cast<std::size_t>(lo));
      part.extents.push_back(static_cast<std::size_t>(owned.cells.extent(d)));
      part.whole.push_back(static_cast<std::size_t>(view.extents[d]));
      part.strides.push_back(static_cast<std::size_t>(view.strides[d]));
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

void throwNotInPart(const std::size_t* indices, const std::size_t* first,
                    const std::size_t* extents, std::size_t rank) {
  std::string at, cells;
  for (std::size_t d = 0; d < rank; ++d) {
    at += (d > 0 ? ", " : "") + std::to_string(indices[d]);
    cells += (d > 0 ? ", " : "") + std::to_string(first[d]) + " to " +
             std::to_string(first[d] + extents[d] - 1);
  }
  throw ShapeError("index (" + at + ") is outside of this part of the array, which has (" + cells +
                   "): indices count from the array's first cell, and other cells are in other "
                   "parts");
}

void throwNoPartDimension(int dimension, std::size_t rank) {
  throw ShapeError("dimension " + std::to_string(dimension) +
                   " of a part: it has dimensions 0 to " + std::to_string(rank - 1));
}

}  // namespace hpl::detail
