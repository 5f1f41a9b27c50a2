// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hpl/runtime/programs.h"

namespace hpl::runtime {
namespace {

std::vector<std::string> splitLines(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.emplace_back(text.substr(begin, end - begin));
    if (!lines.back().empty() && lines.back().back() == '\r') lines.back().pop_back();
    begin = end + 1;
  }
  return lines;
}

/// A compiler's message about one place in the source.
struct Remark {
  std::size_t line = 0;
  /// From 1; 0 when the compiler does not say.
  std::size_t column = 0;
  std::string text;
};

/// Takes a number off the front of `text`, if there is one of a sensible size.
std::optional<std::size_t> takeNumber(std::string_view& text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value > 9999999) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool take(std::string_view& text, std::string_view front) {
  if (!text.starts_with(front)) return false;
  text.remove_prefix(front.size());
  return true;
}

std::string trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  return std::string(text);
}

/// The remark in a line of a log. The compilers in use follow clang ("file:3:5: error: ...", some
/// with the word in front: "error: file:3:5: ...") or write `line 3: error: ...`.
std::optional<Remark> remarkIn(std::string_view line) {
  for (std::size_t at = 0; (at = line.find(':', at)) != std::string_view::npos; ++at) {
    std::string_view rest = line.substr(at + 1);
    const auto number = takeNumber(rest);
    if (!number || !take(rest, ":")) continue;
    const auto column = takeNumber(rest);
    if (column && take(rest, ":")) return Remark{*number, *column, trimmed(rest)};
  }
  if (const std::size_t at = line.find("line "); at != std::string_view::npos) {
    std::string_view rest = line.substr(at + 5);
    if (const auto number = takeNumber(rest)) {
      take(rest, ":");
      return Remark{*number, 0, trimmed(rest)};
    }
  }
  return std::nullopt;
}

/// The remarks of a log by line number, in the order of the log within a line.
std::multimap<std::size_t, Remark> remarksByLine(std::string_view log) {
  std::multimap<std::size_t, Remark> remarks;
  for (const std::string& line : splitLines(log)) {
    if (auto remark = remarkIn(line)) remarks.emplace(remark->line, std::move(*remark));
  }
  return remarks;
}

}  // namespace

std::string annotateBuildLog(std::string_view source, std::string_view log) {
  const auto remarks = remarksByLine(log);
  const std::vector<std::string> lines = splitLines(source);
  const auto width = fmt::formatted_size("{}", lines.size());
  std::string text;
  for (std::size_t number = 1; number <= lines.size(); ++number) {
    const auto [first, last] = remarks.equal_range(number);
    text += fmt::format("{} {:>{}} | {}\n", first == last ? ' ' : '>', number, width,
                        lines[number - 1]);
    for (auto it = first; it != last; ++it) {
      const std::size_t indent = it->second.column > 0 ? it->second.column - 1 : 0;
      text += fmt::format("  {:>{}} | {:>{}}^ {}\n", "", width, "", indent, it->second.text);
    }
  }
  return text;
}

}  // namespace hpl::runtime
