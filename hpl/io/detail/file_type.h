// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hpl/io/detail/literal.h"
#include "hpl/ir/type.h"

namespace hpl::io::detail {

struct FileField;

/// The type of an element as it lies in a file, after NumPy's dtype.
struct FileType {
  /// 'b' bool, 'i' signed, 'u' unsigned, 'f' floating point, 'c' complex, 'V' anything else: a
  /// struct when there are fields.
  char kind = 'V';
  /// Bytes of one element, without `shape`.
  std::int64_t size = 0;
  /// Whether the file has the other byte order than this machine.
  bool swapped = false;
  /// Extents of an array within the element: the lanes of a vector.
  std::vector<std::int64_t> shape;
  std::vector<FileField> fields;

  /// Bytes with `shape`.
  std::int64_t bytes() const;
};

struct FileField {
  std::string name;
  std::int64_t offset = 0;
  FileType type;
};

/// The type as which elements are written: vectors of 3 lanes without the fourth, structs with the
/// gaps between their fields.
FileType fileTypeOf(const ir::Type& type);

/// NumPy's spelling, as in the header of an NPY file: `'<f4'`, `[('x', '<f4'), ('', '|V4')]`.
std::string descrText(const FileType& type);

/// The type of a header's 'descr'. Throws FileError for what it cannot read.
FileType parseDescr(const Literal& descr, const SourceFile& file);

/// One run of scalars that lies elsewhere in memory than in the file.
struct Piece {
  std::size_t memory = 0;
  std::size_t file = 0;
  std::size_t size = 0;   ///< bytes of a scalar
  std::size_t count = 0;  ///< scalars in a row
  bool swapped = false;
  bool isBool = false;  ///< any byte but 0 means true
};

/// How elements of an array become elements of a file and back.
struct ElementCodec {
  std::size_t memoryBytes = 0;
  std::size_t fileBytes = 0;
  std::vector<Piece> pieces;

  /// Writes `count` elements that are `step` elements apart in memory. Gaps become zeros.
  void encode(const std::byte* memory, std::int64_t step, std::size_t count, std::byte* file) const;
  /// The opposite; gaps in memory keep what they held.
  void decode(const std::byte* file, std::size_t count, std::byte* memory, std::int64_t step) const;
  /// Whether elements are the same bytes in memory and in the file.
  bool isCopy() const;
  /// Whether any byte is a truth value: then bytes of a file have to be checked.
  bool hasBool() const;
};

/// The codec for elements of `type` in memory and `file` in the file: the same scalars, the same
/// names of fields at any offsets. Nothing if they differ.
std::optional<ElementCodec> codecFor(const ir::Type& type, const FileType& file);

}  // namespace hpl::io::detail
