// SPDX-License-Identifier: Apache-2.0
#include "hpl/codegen/detail/text.h"

#include <climits>

namespace hpl::codegen::detail {
namespace {

constexpr std::size_t kLineLength = 100;

// A backslash at the end of a line comment would swallow the next line.
void appendFileName(std::string& out, std::string_view path) {
  const std::size_t slash = path.find_last_of("/\\");
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  for (const char c : path) out += c < ' ' || c == 127 ? '_' : c;
}

bool endsOperand(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == ')' || c == ']' || c == '}';
}

// How much a line break hurts at a space, -1 where there must be none. A line may break after a
// comma, a semicolon or a binary operator (which has a space on both sides, unlike the star of a
// pointer); sums are torn apart before products, and comparisons last.
int breakCost(const std::string& text, std::size_t space) {
  const char last = text[space - 1];
  if (last == ',' || last == ';') return 0;
  if (endsOperand(last)) return -1;
  std::size_t i = space - 1;
  while (i > 0 && text[i] != ' ' && !endsOperand(text[i])) --i;
  if (text[i] != ' ') return -1;
  const std::string_view op(text.data() + i + 1, space - 1 - i);
  if (op == "&&" || op == "||" || op == "=" || op == "?" || op == ":") return 0;
  if (op == "+" || op == "-") return 1;
  return op == "*" || op == "/" || op == "%" ? 2 : 3;
}

}  // namespace

std::string& Text::beginLine() {
  lineBegin_ = out_.size();
  out_.append(static_cast<std::size_t>(depth_) * 2, ' ');
  return out_;
}

void Text::endLine() {
  if (out_.size() - lineBegin_ > kLineLength) breakLongLine();
  out_ += '\n';
  lineBegin_ = out_.size();
}

void Text::endLine(const ir::SourceLocation& where) {
  if (out_.size() - lineBegin_ > kLineLength) breakLongLine();
  if (where.file != nullptr && (where.file != last_.file || where.line != last_.line)) {
    last_ = where;
    out_ += "  // ";
    appendFileName(out_, where.file);
    out_ += ':';
    out_ += std::to_string(where.line);
  }
  out_ += '\n';
  lineBegin_ = out_.size();
}

void Text::line(std::string_view text) {
  beginLine() += text;
  endLine();
}

// Breaks after an operator or comma, as far outside of parentheses as possible. Every space of an
// expression may be a line break in C, and the emitter writes no strings.
void Text::breakLongLine() {
  const std::size_t indent = static_cast<std::size_t>(depth_) * 2 + 4;
  std::size_t begin = lineBegin_;
  while (out_.size() - begin > kLineLength) {
    std::size_t best = 0;
    int bestCost = INT_MAX;
    int depth = 0;
    for (std::size_t i = begin + indent; i < begin + kLineLength; ++i) {
      const char c = out_[i];
      if (c == '(' || c == '[') ++depth;
      if (c == ')' || c == ']') --depth;
      const int own = c == ' ' && i > begin + indent ? breakCost(out_, i) : -1;
      if (own < 0) continue;
      // A break near the beginning would leave the next line as long as before.
      const bool early = i < begin + kLineLength / 2;
      const int cost = early ? INT_MAX - 1 : depth * 4 + own;
      if (cost > bestCost) continue;
      best = i;
      bestCost = cost;
    }
    if (best == 0) return;
    out_.replace(best, 1, "\n" + std::string(indent, ' '));
    begin = best + 1;
  }
}

}  // namespace hpl::codegen::detail
