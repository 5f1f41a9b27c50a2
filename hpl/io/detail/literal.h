// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hpl/io/detail/source_file.h"

namespace hpl::io::detail {

/// A value as Python writes it, of the kinds that headers of NPY files have.
struct Literal {
  enum class Kind { None, Bool, Integer, Text, Tuple, List, Dictionary };
  Kind kind = Kind::None;
  std::int64_t integer = 0;  ///< 0 or 1 for Bool
  std::string text;
  std::vector<Literal> items;  ///< of a Dictionary: key, value, key, value, ...

  bool isSequence() const { return kind == Kind::Tuple || kind == Kind::List; }
  /// The value of a key of a Dictionary; null if there is none.
  const Literal* find(std::string_view key) const;
};

/// Parses `text`, which stands at byte `offset` of `file`; blanks may follow the value. Throws
/// FileError with the place and what was expected there.
Literal parseLiteral(std::string_view text, const SourceFile& file, std::int64_t offset);

}  // namespace hpl::io::detail
