// SPDX-License-Identifier: Apache-2.0
#include "hpl/io/detail/literal.h"

#include <fmt/format.h>

#include <charconv>

namespace hpl::io::detail {
namespace {

/// Deeper nesting than any element type has; it bounds the recursion over a hostile header.
constexpr int kMostNesting = 32;

bool isBlank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
bool isWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

class Parser {
 public:
  Parser(std::string_view text, const SourceFile& file, std::int64_t offset)
      : text_(text), file_(file), offset_(offset) {}

  Literal whole() {
    Literal value = parse(0);
    skipBlanks();
    if (at_ < text_.size() && text_[at_] != '\0') fail("the end of the header");
    return value;
  }

 private:
  Literal parse(int depth) {
    if (depth > kMostNesting) fail(fmt::format("at most {} nested brackets", kMostNesting));
    skipBlanks();
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (c == '\'' || c == '"') return quoted();
    if (c == '(') return sequence(Literal::Kind::Tuple, ')', depth);
    if (c == '[') return sequence(Literal::Kind::List, ']', depth);
    if (c == '{') return sequence(Literal::Kind::Dictionary, '}', depth);
    return word();
  }

  Literal quoted() {
    const char mark = text_[at_++];
    Literal value{Literal::Kind::Text, 0, {}, {}};
    for (; at_ < text_.size() && text_[at_] != mark; ++at_) {
      if (text_[at_] == '\\') fail("a text without escapes");
      value.text += text_[at_];
    }
    if (at_ == text_.size()) fail("the end of a text");
    ++at_;
    return value;
  }

  Literal sequence(Literal::Kind kind, char end, int depth) {
    ++at_;
    Literal value{kind, 0, {}, {}};
    bool comma = true;
    for (;;) {
      skipBlanks();
      if (at_ == text_.size()) fail(fmt::format("'{}'", end));
      if (text_[at_] == end) break;
      if (!comma) fail("','");
      value.items.push_back(parse(depth + 1));
      if (kind == Literal::Kind::Dictionary) {
        skipBlanks();
        if (at_ == text_.size() || text_[at_] != ':') fail("':'");
        ++at_;
        value.items.push_back(parse(depth + 1));
      }
      skipBlanks();
      comma = at_ < text_.size() && text_[at_] == ',';
      if (comma) ++at_;
    }
    ++at_;
    // (8) is the number 8 in Python, (8,) the tuple.
    if (kind == Literal::Kind::Tuple && value.items.size() == 1 && !comma)
      return Literal(value.items.front());
    return value;
  }

  Literal word() {
    const std::size_t begin = at_;
    if (at_ < text_.size() && text_[at_] == '-') ++at_;
    while (at_ < text_.size() && isWord(text_[at_])) ++at_;
    std::string_view word = text_.substr(begin, at_ - begin);
    if (word == "True") return {Literal::Kind::Bool, 1, {}, {}};
    if (word == "False") return {Literal::Kind::Bool, 0, {}, {}};
    if (word == "None") return {};
    Literal value{Literal::Kind::Integer, 0, {}, {}};
    // Python 2 wrote long integers as 8L.
    if (word.ends_with('L')) word.remove_suffix(1);
    const char* end = word.data() + word.size();
    const auto [stop, problem] = std::from_chars(word.data(), end, value.integer);
    if (problem == std::errc() && stop == end) return value;
    at_ = begin;
    fail(problem == std::errc::result_out_of_range ? "a number below 2^63"
                                                   : "a text, a number, True, False, None, '(', "
                                                     "'[' or '{'");
  }

  void skipBlanks() {
    while (at_ < text_.size() && isBlank(text_[at_])) ++at_;
  }

  [[noreturn]] void fail(const std::string& expected) const {
    file_.fail(fmt::format("its header is damaged at byte {}: expected {}",
                           offset_ + static_cast<std::int64_t>(at_), expected),
               offset_ + static_cast<std::int64_t>(at_));
  }

  std::string_view text_;
  const SourceFile& file_;
  std::int64_t offset_;
  std::size_t at_ = 0;
};

}  // namespace

const Literal* Literal::find(std::string_view key) const {
  for (std::size_t i = 0; i + 1 < items.size(); i += 2)
    if (items[i].kind == Kind::Text && items[i].text == key) return &items[i + 1];
  return nullptr;
}

Literal parseLiteral(std::string_view text, const SourceFile& file, std::int64_t offset) {
  return Parser(text, file, offset).whole();
}

}  // namespace hpl::io::detail
