// SPDX-License-Identifier: Apache-2.0
#include "hpl/io/raw.h"

#include <fmt/format.h>

#include <utility>

#include "hpl/io/detail/cell_stream.h"

namespace hpl::io::detail {
namespace {

FileType inOrder(FileType type, bool swapped) {
  type.swapped = swapped;
  for (FileField& field : type.fields) field.type = inOrder(std::move(field.type), swapped);
  return type;
}

FileType rawType(const ir::Type& type, bool swapped) { return inOrder(fileTypeOf(type), swapped); }

}  // namespace

void writeRaw(const std::string& file, const Cells& cells) {
  NewFile out(file, "the array");
  writeCells(out, cells, *codecFor(cells.layout.type, rawType(cells.layout.type, false)));
  out.finish();
}

RawSource::RawSource(const std::string& file, const ir::Type& type, std::vector<std::int64_t> shape,
                     const RawFormat& format)
    : file_(file), format_(format) {
  for (const std::int64_t extent : shape) {
    if (extent < 1)
      throw ArgumentError(
          fmt::format("{}: a raw file cannot be read as shape {}: extents are at least 1", file,
                      shapeText(shape)));
  }
  if (format.offset < 0) {
    throw ArgumentError(
        fmt::format("{}: a raw file cannot be read from byte {} on: the offset is at least 0", file,
                    format.offset));
  }
  const SourceFile source(file, "the array");
  const std::int64_t bytes = bytesOf(shape, rawType(type, false).bytes());
  const std::int64_t rest = source.size() - format.offset;
  if (bytes >= 0 && (bytes == rest || (bytes < rest && format.moreFollows))) return;
  source.fail(
      fmt::format("{} of shape {} takes {} bytes from byte {} on, and the file has {} there{}",
                  describeArray(type, static_cast<int>(shape.size())), shapeText(shape),
                  bytes < 0 ? std::string("more than 2^63") : std::to_string(bytes), format.offset,
                  rest < 0 ? 0 : rest,
                  bytes >= 0 && bytes < rest
                      ? ": give another shape, or RawFormat::moreFollows if more is in the file"
                      : ": give another shape or offset, or write the file again"),
      format.offset);
}

void RawSource::readInto(const CellLayout& layout, void* first) const {
  SourceFile source(file_, "the array");
  source.seek(format_.offset);
  readCells(source, layout, first,
            *codecFor(layout.type, rawType(layout.type, format_.otherByteOrder)));
}

}  // namespace hpl::io::detail
