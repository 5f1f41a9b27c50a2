// SPDX-License-Identifier: Apache-2.0
#include "samples/common/rle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>

#include "samples/common/files.h"

namespace samples {
namespace {

bool isSpace(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && isSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && isSpace(text.back())) text.remove_suffix(1);
  return text;
}

/// Reads one file from front to back. Keeps the line and column of the next character.
class Reader {
 public:
  Reader(std::string_view text, const std::string& fileName) : text_(text), fileName_(fileName) {
    constexpr std::string_view byteOrderMark = "\xEF\xBB\xBF";
    if (text_.starts_with(byteOrderMark)) text_.remove_prefix(byteOrderMark.size());
  }

  Pattern read() {
    readComments();
    readHeader();
    readCells();
    return std::move(pattern_);
  }

 private:
  struct Place {
    int line;
    int column;
  };

  static constexpr char kEnd = '\0';

  char peek() const { return next_ < text_.size() ? text_[next_] : kEnd; }
  bool atEnd() const { return next_ >= text_.size(); }

  void skip() {
    if (peek() == '\n') {
      ++place_.line;
      place_.column = 1;
    } else {
      ++place_.column;
    }
    ++next_;
  }

  void skipSpaces() {
    while (!atEnd() && isSpace(peek())) skip();
  }

  void skipSpacesOfLine() {
    while (!atEnd() && peek() != '\n' && isSpace(peek())) skip();
  }

  [[noreturn]] void fail(Place place, const std::string& what) const {
    throw PatternError(fmt::format("{}:{}:{}: {}", fileName_, place.line, place.column, what),
                       fileName_, place.line, place.column);
  }

  /// How the next character looks in an error message.
  std::string found() const {
    if (atEnd()) return "the end of the file";
    const char c = peek();
    if (c == '\n') return "the end of the line";
    if (std::isprint(static_cast<unsigned char>(c))) return fmt::format("'{}'", c);
    return fmt::format("byte 0x{:02x}", static_cast<unsigned char>(c));
  }

  std::string_view takeLine() {
    const std::size_t start = next_;
    while (!atEnd() && peek() != '\n') skip();
    const std::string_view line = text_.substr(start, next_ - start);
    if (!atEnd()) skip();
    return trim(line);
  }

  void readComments() {
    for (skipSpaces(); peek() == '#'; skipSpaces()) {
      const Place start = place_;
      const std::string_view line = takeLine();
      const char kind = line.size() > 1 ? line[1] : ' ';
      const std::string_view rest = trim(line.substr(std::min<std::size_t>(2, line.size())));
      if (kind == 'N') pattern_.name = rest;
      if (kind == 'O') pattern_.author = rest;
      if (kind == 'C' || kind == 'c') pattern_.comments.emplace_back(rest);
      if (kind == 'r') setRule(rest, start);
      // #R and #P give a position on an unlimited plane; the caller places the pattern instead.
    }
  }

  void setRule(std::string_view text, Place place) {
    try {
      pattern_.rule = parseRule(text);
    } catch (const std::invalid_argument& error) {
      fail(place, error.what());
    }
  }

  /// A whole number of at least 1 that fits an int.
  int readNumber(const char* what) {
    const Place start = place_;
    if (!isDigit(peek())) {
      fail(place_, fmt::format("expected {}, found {}", what, found()));
    }
    std::int64_t value = 0;
    while (isDigit(peek())) {
      value = value * 10 + (peek() - '0');
      if (value > std::numeric_limits<int>::max()) {
        fail(start, fmt::format("{} is too large: expected at most {}", what,
                                std::numeric_limits<int>::max()));
      }
      skip();
    }
    if (value == 0) fail(start, fmt::format("{} is 0: expected at least 1", what));
    return static_cast<int>(value);
  }

  /// Reads `key =` and leaves the reader at the value.
  void readKey(std::string_view key) {
    skipSpacesOfLine();
    for (char expected : key) {
      if (std::tolower(static_cast<unsigned char>(peek())) != expected) {
        fail(place_, fmt::format("expected '{} =' in the header 'x = WIDTH, y = HEIGHT, rule = "
                                 "B3/S23', found {}",
                                 key, found()));
      }
      skip();
    }
    skipSpacesOfLine();
    if (peek() != '=') {
      fail(place_, fmt::format("expected '=' after '{}' in the header, found {}", key, found()));
    }
    skip();
    skipSpacesOfLine();
  }

  void readComma(const char* after) {
    skipSpacesOfLine();
    if (peek() != ',') {
      fail(place_,
           fmt::format("expected ',' after the {} in the header, found {}", after, found()));
    }
    skip();
  }

  void readHeader() {
    readKey("x");
    pattern_.width = readNumber("the width of the pattern");
    readComma("width");
    readKey("y");
    pattern_.height = readNumber("the height of the pattern");
    skipSpacesOfLine();
    if (atEnd() || peek() == '\n') return;
    readComma("height");
    readKey("rule");
    const Place start = place_;
    setRule(takeLine(), start);
  }

  void addRun(int length, Place place) {
    const std::int64_t end = column_ + length;
    if (row_ >= pattern_.height || end > pattern_.width) {
      fail(place,
           fmt::format("living cells in row {}, columns {} to {}, lie outside the pattern of "
                       "x = {}, y = {} that the header announces",
                       row_ + 1, column_ + 1, end, pattern_.width, pattern_.height));
    }
    auto& runs = pattern_.runs;
    if (!runs.empty() && runs.back().row == row_ &&
        runs.back().column + runs.back().length == column_) {
      runs.back().length += length;
    } else {
      runs.push_back({static_cast<int>(row_), static_cast<int>(column_), length});
    }
  }

  /// Reads `[count]tag` items up to '!'. Spaces, line ends and comment lines may stand between any
  /// two of them, and between a count and its tag.
  void readCells() {
    for (;;) {
      skipSpaces();
      if (peek() == '#' && place_.column == 1) {
        readComments();
        continue;
      }
      const Place start = place_;
      const bool counted = isDigit(peek());
      const int count = counted ? readNumber("the run count") : 1;
      skipSpaces();
      if (peek() == '!' && !counted) return;
      readTag(count, counted, start);
    }
  }

  void readTag(int count, bool counted, Place start) {
    switch (peek()) {
      case 'b':
      case '.':
        column_ += count;
        break;
      case 'o':
      case 'A':
        addRun(count, start);
        column_ += count;
        break;
      case '$':
        row_ += count;
        column_ = 0;
        break;
      default:
        fail(place_, fmt::format("expected {}'b' (dead), 'o' (alive), '$' (next row){}, found {}",
                                 counted ? "" : "a run count, ",
                                 counted ? " after the run count" : " or '!' (end of the pattern)",
                                 found()));
    }
    skip();
  }

  std::string_view text_;
  const std::string& fileName_;
  std::size_t next_ = 0;
  Place place_ = {1, 1};
  std::int64_t row_ = 0;
  std::int64_t column_ = 0;
  Pattern pattern_;
};

/// Appends `[count]tag` items and breaks lines before they grow too long.
class RunWriter {
 public:
  explicit RunWriter(std::string& text) : text_(text) {}

  void add(std::int64_t count, char tag) {
    if (count == 0) return;
    const std::string item = count == 1 ? std::string(1, tag) : fmt::format("{}{}", count, tag);
    if (lineLength_ + item.size() > 70) {
      text_ += '\n';
      lineLength_ = 0;
    }
    text_ += item;
    lineLength_ += item.size();
  }

 private:
  std::string& text_;
  std::size_t lineLength_ = 0;
};

}  // namespace

std::size_t Pattern::population() const {
  std::size_t sum = 0;
  for (const Run& run : runs) sum += static_cast<std::size_t>(run.length);
  return sum;
}

Pattern parseRle(std::string_view text, const std::string& fileName) {
  return Reader(text, fileName).read();
}

Pattern readRle(const std::string& fileName) {
  if (const std::string objection = objectionToReading(fileName); !objection.empty())
    throw PatternError(fmt::format("{}: cannot read the pattern file: {}", fileName, objection),
                       fileName, 0, 0);
  errno = 0;
  std::ifstream file(fileName, std::ios::binary);
  std::string text;
  std::array<char, 65536> buffer;
  while (file.read(buffer.data(), buffer.size()) || file.gcount() > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(file.gcount()));
  }
  // A folder opens well and fails at the first byte, with the bad bit.
  if (!file.is_open() || file.bad()) {
    throw PatternError(fmt::format("{}: cannot read the pattern file: {}", fileName,
                                   errno != 0 ? std::strerror(errno) : "unknown error"),
                       fileName, 0, 0);
  }
  return parseRle(text, fileName);
}

std::string toRle(const Pattern& pattern) {
  std::string text;
  if (!pattern.name.empty()) text += fmt::format("#N {}\n", pattern.name);
  if (!pattern.author.empty()) text += fmt::format("#O {}\n", pattern.author);
  for (const std::string& comment : pattern.comments) text += fmt::format("#C {}\n", comment);
  text += fmt::format("x = {}, y = {}, rule = {}\n", pattern.width, pattern.height,
                      ruleText(pattern.rule));
  RunWriter writer(text);
  int row = 0;
  int column = 0;
  for (const Pattern::Run& run : pattern.runs) {
    if (run.row != row) {
      writer.add(run.row - row, '$');
      row = run.row;
      column = 0;
    }
    writer.add(run.column - column, 'b');
    writer.add(run.length, 'o');
    column = run.column + run.length;
  }
  writer.add(1, '!');
  return text + '\n';
}

Pattern toPattern(GridView grid, const LifeRule& rule) {
  Pattern pattern;
  pattern.rule = rule;
  int left = grid.width;
  int right = 0;
  for (int row = 0; row < grid.height; ++row) {
    for (int column = 0; column < grid.width; ++column) {
      if (!grid.alive(row, column)) continue;
      const int start = column;
      while (column < grid.width && grid.alive(row, column)) ++column;
      pattern.runs.push_back({row, start, column - start});
      left = std::min(left, start);
      right = std::max(right, column);
    }
  }
  if (pattern.runs.empty()) {
    pattern.width = pattern.height = 1;
    return pattern;
  }
  const int top = pattern.runs.front().row;
  pattern.height = pattern.runs.back().row - top + 1;
  pattern.width = right - left;
  for (Pattern::Run& run : pattern.runs) {
    run.row -= top;
    run.column -= left;
  }
  return pattern;
}

void placePattern(Grid& grid, const Pattern& pattern, int row, int column) {
  if (row < 0 || column < 0 || pattern.height > grid.height() - row ||
      pattern.width > grid.width() - column) {
    throw std::out_of_range(fmt::format(
        "the pattern of {} x {} cells (width x height) does not fit a grid of {} x {} at row {}, "
        "column {}: choose a larger grid",
        pattern.width, pattern.height, grid.width(), grid.height(), row, column));
  }
  for (const Pattern::Run& run : pattern.runs) {
    unsigned char* first = &grid.at(row + run.row, column + run.column);
    std::fill(first, first + run.length, static_cast<unsigned char>(1));
  }
}

void placePattern(Grid& grid, const Pattern& pattern) {
  // A pattern larger than the grid gets a position of 0 so that the message names a sensible place.
  placePattern(grid, pattern, std::max(0, (grid.height() - pattern.height) / 2),
               std::max(0, (grid.width() - pattern.width) / 2));
}

}  // namespace samples
