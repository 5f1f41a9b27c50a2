// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <regex>
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

/// What a compiler says about one place in the source.
struct Remark {
  std::size_t column = 0;
  std::string text;
};

/// The remarks of a log by line number. The compilers in use follow clang ("file:3:5: error: ...",
/// some with the word in front: "error: file:3:5: ...") or write `line 3: error: ...`.
std::multimap<std::size_t, Remark> remarksByLine(std::string_view log) {
  static const std::regex clangStyle(R"(:(\d{1,7}):(\d{1,7}):\s*(.*)$)");
  static const std::regex wordStyle(R"(\bline (\d{1,7})\b:?\s*(.*)$)");
  std::multimap<std::size_t, Remark> remarks;
  for (const std::string& line : splitLines(log)) {
    std::smatch match;
    if (std::regex_search(line, match, clangStyle)) {
      remarks.emplace(std::stoul(match[1]), Remark{std::stoul(match[2]), match[3]});
    } else if (std::regex_search(line, match, wordStyle)) {
      remarks.emplace(std::stoul(match[1]), Remark{0, match[2]});
    }
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
