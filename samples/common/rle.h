// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "samples/common/grid.h"
#include "samples/common/life_rule.h"

namespace samples {

/// A pattern of the Game of Life (or of a rule like it), as the run length encoded (RLE) files of
/// the Life community hold it.
struct Pattern {
  /// Neighbouring living cells of one row; positions count from the pattern's upper left corner.
  struct Run {
    int row;
    int column;
    int length;
    bool operator==(const Run&) const = default;
  };

  std::string name;                   ///< `#N` line
  std::string author;                 ///< `#O` line
  std::vector<std::string> comments;  ///< `#C` lines
  int width = 0;
  int height = 0;
  LifeRule rule;
  std::vector<Run> runs;  ///< in row-major order, neither touching nor overlapping

  /// Number of living cells.
  std::size_t population() const;
};

/// A pattern file that is missing or malformed. The message starts with `file:line:column:` (or
/// `file:` when the file cannot be read at all) and says what was expected.
class PatternError : public std::runtime_error {
 public:
  PatternError(const std::string& message, std::string file, int line, int column)
      : std::runtime_error(message), file_(std::move(file)), line_(line), column_(column) {}
  const std::string& file() const noexcept { return file_; }
  /// Line and column count from 1; both are 0 when the file cannot be read at all.
  int line() const noexcept { return line_; }
  int column() const noexcept { return column_; }

 private:
  std::string file_;
  int line_;
  int column_;
};

/// Parses the text of an RLE file; `fileName` appears in errors. Without a rule in the header (or
/// in an `#r` line) the rule is B3/S23. Throws PatternError.
Pattern parseRle(std::string_view text, const std::string& fileName);

/// Reads an RLE file. Throws PatternError.
Pattern readRle(const std::string& fileName);

/// The pattern as the text of an RLE file, no line of runs longer than 70 characters.
std::string toRle(const Pattern& pattern);

/// The living cells of a grid, cut to their bounding box (one dead cell if none is alive).
Pattern toPattern(GridView grid, const LifeRule& rule = {});

/// Sets the pattern's living cells in `grid`, its upper left corner at (row, column). Throws
/// std::out_of_range naming both extents, and leaves the grid as it was, if it does not fit.
void placePattern(Grid& grid, const Pattern& pattern, int row, int column);

/// The same in the middle of the grid.
void placePattern(Grid& grid, const Pattern& pattern);

}  // namespace samples
