// SPDX-License-Identifier: Apache-2.0
#include "hpl/io/detail/file_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "hpl/io/detail/cells.h"

namespace hpl::io::detail {
namespace {

constexpr char kNative = std::endian::native == std::endian::little ? '<' : '>';

char kindOf(const ir::Type& type) {
  if (type.complex) return 'c';
  if (type.scalar == ir::Scalar::Bool) return 'b';
  if (type.isFloating()) return 'f';
  return type.isSigned() ? 'i' : 'u';
}

/// Types whose size is that of a scalar of the library, so that arrays may hold them.
bool isKnown(char kind, std::int64_t size) {
  const auto isOneOf = [size](auto... sizes) { return ((size == sizes) || ...); };
  switch (kind) {
    case 'b':
      return size == 1;
    case 'i':
    case 'u':
      return isOneOf(1, 2, 4, 8);
    case 'f':
      return isOneOf(2, 4, 8);
    case 'c':
      return isOneOf(8, 16);
    default:
      return false;
  }
}

/// `'<f4'`, with `type.shape` as a tuple behind it when it is a field.
std::string scalarText(const FileType& type) {
  if (!type.fields.empty()) return descrText(type);
  const bool hasOrder = type.kind != 'V' && type.kind != 'b' && type.size > 1;
  const char order = !hasOrder ? '|' : type.swapped ? (kNative == '<' ? '>' : '<') : kNative;
  return fmt::format("'{}{}{}'", order, type.kind, type.size);
}

std::string fieldText(const std::string& name, const FileType& type) {
  const std::string shape = type.shape.empty() ? "" : ", " + shapeText(type.shape);
  return fmt::format("('{}', {}{})", name, scalarText(type), shape);
}

}  // namespace

std::int64_t FileType::bytes() const {
  std::int64_t all = size;
  for (const std::int64_t extent : shape) all *= extent;
  return all;
}

FileType fileTypeOf(const ir::Type& type) {
  FileType result;
  if (type.isStruct()) {
    result.size = static_cast<std::int64_t>(type.structure->size);
    for (const ir::Field& field : type.structure->fields) {
      result.fields.push_back(
          {field.name, static_cast<std::int64_t>(field.offset), fileTypeOf(field.type)});
    }
    return result;
  }
  result.kind = kindOf(type);
  result.size = static_cast<std::int64_t>(ir::sizeOf(type.scalar)) * (type.complex ? 2 : 1);
  if (type.isVector()) result.shape = {type.lanes};
  return result;
}

std::string descrText(const FileType& type) {
  if (type.fields.empty()) return scalarText(type);
  std::string text = "[";
  std::int64_t at = 0;
  const auto addGap = [&](std::int64_t to) {
    if (to > at) text += fmt::format("('', '|V{}'), ", to - at);
  };
  for (const FileField& field : type.fields) {
    addGap(field.offset);
    text += fieldText(field.name, field.type) + ", ";
    at = field.offset + field.type.bytes();
  }
  addGap(type.size);
  text.resize(text.size() - 2);
  return text + "]";
}

namespace {

/// Extents that a file may claim for an array within an element.
constexpr std::int64_t kMostLanes = 1 << 20;

FileType parseScalar(const std::string& text, const SourceFile& file) {
  FileType type;
  std::size_t at = 0;
  if (!text.empty() && std::string("<>|=").find(text[0]) != std::string::npos) ++at;
  const char order = at > 0 ? text[0] : '=';
  type.swapped = (order == '<' || order == '>') && order != kNative;
  std::int64_t size = 0;
  const bool digits = text.size() > at + 1 && text.size() < at + 10 &&
                      std::all_of(text.begin() + static_cast<std::ptrdiff_t>(at) + 1, text.end(),
                                  [](char c) { return c >= '0' && c <= '9'; });
  if (digits) size = std::stol(text.substr(at + 1));
  type.kind = text.size() > at ? text[at] : '?';
  type.size = size;
  if (type.kind == 'V' && size > 0) return type;
  if (!isKnown(type.kind, size)) {
    const char* hint = type.kind == 'O' ? " (Python objects)"
                       : type.kind == 'S' || type.kind == 'U' || type.kind == 'a' ? " (texts)"
                                                                                  : "";
    file.fail(fmt::format(
        "its elements are of type '{}'{}, which no Array holds; convert them with NumPy's astype, "
        "for instance to float32, and save them again",
        text, hint));
  }
  return type;
}

void addShape(const Literal& shape, FileType& type, const SourceFile& file) {
  std::vector<Literal> extents = shape.items;
  if (shape.kind == Literal::Kind::Integer) extents = {shape};
  std::int64_t lanes = type.size > 0 ? type.bytes() / type.size : 1;
  for (const Literal& extent : extents) {
    const bool isExtent = extent.kind == Literal::Kind::Integer && extent.integer >= 1 &&
                          extent.integer <= kMostLanes / lanes;
    if (!isExtent) file.fail("its header gives an element extents that are no small numbers");
    lanes *= extent.integer;
    type.shape.push_back(extent.integer);
  }
}

FileType parseStruct(const Literal& list, const SourceFile& file) {
  FileType type;
  for (const Literal& entry : list.items) {
    const bool isField = entry.isSequence() && (entry.items.size() == 2 || entry.items.size() == 3);
    if (!isField) file.fail("its header describes a field that is not (name, type)");
    // A title beside the name: ('title', 'name').
    const Literal& named = entry.items[0];
    const Literal& name =
        named.kind == Literal::Kind::Tuple && named.items.size() == 2 ? named.items[1] : named;
    if (name.kind != Literal::Kind::Text) file.fail("its header describes a field without a name");
    FileField field{name.text, type.size, parseDescr(entry.items[1], file)};
    if (entry.items.size() == 3) addShape(entry.items[2], field.type, file);
    type.size += field.type.bytes();
    if (type.size > kMostLanes) file.fail("its header describes an element of a million bytes");
    if (!name.text.empty()) type.fields.push_back(std::move(field));
  }
  if (type.fields.empty()) file.fail("its header describes a struct without fields");
  return type;
}

}  // namespace

FileType parseDescr(const Literal& descr, const SourceFile& file) {
  if (descr.kind == Literal::Kind::Text) return parseScalar(descr.text, file);
  if (descr.kind == Literal::Kind::List) return parseStruct(descr, file);
  if (descr.kind == Literal::Kind::Tuple && descr.items.size() == 2) {
    FileType type = parseDescr(descr.items[0], file);
    addShape(descr.items[1], type, file);
    return type;
  }
  file.fail("its header's 'descr' is no type of NumPy");
}

namespace {

bool addPieces(const ir::Type& type, const FileType& file, std::size_t memory, std::size_t at,
               std::vector<Piece>& pieces) {
  if (type.isStruct()) {
    const std::vector<ir::Field>& fields = type.structure->fields;
    if (!file.shape.empty() || fields.size() != file.fields.size()) return false;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const FileField& field = file.fields[i];
      if (field.name != fields[i].name ||
          !addPieces(fields[i].type, field.type, memory + fields[i].offset,
                     at + static_cast<std::size_t>(field.offset), pieces))
        return false;
    }
    return true;
  }
  const FileType own = fileTypeOf(type);
  if (!file.fields.empty() || own.kind != file.kind || own.size != file.size ||
      own.shape != file.shape)
    return false;
  Piece piece{memory, at, ir::sizeOf(type.scalar), 1, file.swapped, file.kind == 'b'};
  piece.count = static_cast<std::size_t>(own.bytes()) / piece.size;
  pieces.push_back(piece);
  return true;
}

template <class Act>
void forEachScalar(const Piece& piece, Act act) {
  for (std::size_t i = 0; i < piece.count; ++i)
    act(piece.memory + i * piece.size, piece.file + i * piece.size);
}

void copyScalar(const std::byte* from, std::byte* to, const Piece& piece) {
  if (piece.swapped) {
    std::reverse_copy(from, from + piece.size, to);
  } else {
    std::copy_n(from, piece.size, to);
  }
  if (piece.isBool) *to = *to != std::byte{0} ? std::byte{1} : std::byte{0};
}

}  // namespace

std::optional<ElementCodec> codecFor(const ir::Type& type, const FileType& file) {
  ElementCodec codec{ir::sizeOf(type), static_cast<std::size_t>(file.bytes()), {}};
  if (!addPieces(type, file, 0, 0, codec.pieces)) return {};
  return codec;
}

bool ElementCodec::hasBool() const {
  return std::any_of(pieces.begin(), pieces.end(), [](const Piece& p) { return p.isBool; });
}

bool ElementCodec::isCopy() const {
  const Piece& first = pieces.front();
  return pieces.size() == 1 && memoryBytes == fileBytes && first.count * first.size == fileBytes &&
         (!first.swapped || first.size == 1);
}

void ElementCodec::encode(const std::byte* memory, std::int64_t step, std::size_t count,
                          std::byte* file) const {
  if (step == 1 && isCopy()) {
    std::copy_n(memory, count * fileBytes, file);
    return;
  }
  std::fill_n(file, count * fileBytes, std::byte{0});
  for (std::size_t i = 0; i < count; ++i) {
    for (const Piece& piece : pieces) {
      forEachScalar(piece, [&](std::size_t inMemory, std::size_t inFile) {
        copyScalar(memory + inMemory, file + inFile, piece);
      });
    }
    memory += step * static_cast<std::int64_t>(memoryBytes);
    file += fileBytes;
  }
}

void ElementCodec::decode(const std::byte* file, std::size_t count, std::byte* memory,
                          std::int64_t step) const {
  if (step == 1 && isCopy() && !hasBool()) {
    std::copy_n(file, count * fileBytes, memory);
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    for (const Piece& piece : pieces) {
      forEachScalar(piece, [&](std::size_t inMemory, std::size_t inFile) {
        copyScalar(file + inFile, memory + inMemory, piece);
      });
    }
    memory += step * static_cast<std::int64_t>(memoryBytes);
    file += fileBytes;
  }
}

}  // namespace hpl::io::detail
