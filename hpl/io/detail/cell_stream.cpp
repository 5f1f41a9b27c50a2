// SPDX-License-Identifier: Apache-2.0
#include "hpl/io/detail/cell_stream.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace hpl::io::detail {
namespace {

/// Elements are converted in pieces of this size, which stay in a cache.
constexpr std::size_t kPieceBytes = std::size_t{1} << 16;

/// Calls `act(first element, step, count)` for pieces of rows of at most `most` elements.
template <class Act>
void forEachPiece(const CellLayout& layout, std::size_t most, Act act) {
  const CellLayout rows = joined(layout);
  const std::int64_t step = rows.strides[static_cast<std::size_t>(rows.rank - 1)];
  forEachRow(rows, [&](std::int64_t offset, std::int64_t length) {
    for (std::int64_t at = 0; at < length; at += static_cast<std::int64_t>(most)) {
      const std::int64_t count = std::min(length - at, static_cast<std::int64_t>(most));
      act(offset + at * step, step, static_cast<std::size_t>(count));
    }
  });
}

}  // namespace

void writeCells(NewFile& file, const Cells& cells, const ElementCodec& codec) {
  const auto* first = static_cast<const std::byte*>(cells.first);
  const std::size_t most = std::max<std::size_t>(1, kPieceBytes / codec.fileBytes);
  std::vector<std::byte> piece(most * codec.fileBytes);
  forEachPiece(cells.layout, most, [&](std::int64_t offset, std::int64_t step, std::size_t count) {
    const std::byte* from = first + offset * static_cast<std::int64_t>(codec.memoryBytes);
    if (step == 1 && codec.isCopy()) return file.write(from, count * codec.fileBytes);
    codec.encode(from, step, count, piece.data());
    file.write(piece.data(), count * codec.fileBytes);
  });
}

void readCells(SourceFile& file, const CellLayout& layout, void* first, const ElementCodec& codec) {
  const std::size_t most = std::max<std::size_t>(1, kPieceBytes / codec.fileBytes);
  std::vector<std::byte> piece(most * codec.fileBytes);
  forEachPiece(layout, most, [&](std::int64_t offset, std::int64_t step, std::size_t count) {
    std::byte* to =
        static_cast<std::byte*>(first) + offset * static_cast<std::int64_t>(codec.memoryBytes);
    if (step == 1 && codec.isCopy() && !codec.hasBool())
      return file.read(to, count * codec.fileBytes);
    file.read(piece.data(), count * codec.fileBytes);
    codec.decode(piece.data(), count, to, step);
  });
}

std::int64_t bytesOf(const std::vector<std::int64_t>& shape, std::int64_t elementBytes) {
  std::int64_t bytes = elementBytes;
  for (const std::int64_t extent : shape)
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return -1;
  return bytes;
}

}  // namespace hpl::io::detail
