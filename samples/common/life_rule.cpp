// SPDX-License-Identifier: Apache-2.0
#include "samples/common/life_rule.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <stdexcept>

namespace samples {
namespace {

char upper(char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); }

std::string withoutSpaces(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (!std::isspace(static_cast<unsigned char>(c))) result += upper(c);
  }
  return result;
}

unsigned neighbourCounts(std::string_view digits, std::string_view rule) {
  unsigned mask = 0;
  for (char c : digits) {
    if (c < '0' || c > '8') {
      throw std::invalid_argument(fmt::format(
          "'{}' in rule '{}' is no neighbour count: expected digits 0 to 8, as in B3/S23", c,
          rule));
    }
    mask |= 1u << (c - '0');
  }
  return mask;
}

int extent(std::string_view text, std::string_view rule) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    throw std::invalid_argument(fmt::format(
        "'{}' in rule '{}' is no board extent: expected a whole number, as in :T100,200", text,
        rule));
  }
  return value;
}

Board parseBoard(std::string_view text, std::string_view rule) {
  Board board;
  if (!text.empty() && text[0] == 'T') {
    board.kind = Board::Kind::Torus;
  } else if (!text.empty() && text[0] == 'P') {
    board.kind = Board::Kind::Plane;
  } else {
    throw std::invalid_argument(
        fmt::format("board ':{}' in rule '{}' is not supported: expected :T (torus) or :P (plane "
                    "with dead edges), as in :T100,200",
                    text, rule));
  }
  text.remove_prefix(1);
  const std::size_t comma = text.find(',');
  board.width = extent(text.substr(0, comma), rule);
  board.height =
      comma == std::string_view::npos ? board.width : extent(text.substr(comma + 1), rule);
  return board;
}

}  // namespace

LifeRule parseRule(std::string_view text) {
  const std::string compact = withoutSpaces(text);
  std::string_view rest = compact;
  LifeRule rule;
  if (const std::size_t colon = rest.find(':'); colon != std::string_view::npos) {
    rule.board = parseBoard(rest.substr(colon + 1), text);
    rest = rest.substr(0, colon);
  }
  if (rest == "LIFE") return rule;
  const std::size_t b = rest.find('B');
  const std::size_t s = rest.find('S');
  const std::size_t slash = rest.find('/');
  if (b != std::string_view::npos && s != std::string_view::npos && (b == 0 || s == 0)) {
    const std::size_t second = b == 0 ? s : b;
    std::string_view first = rest.substr(1, second - 1);
    if (!first.empty() && first.back() == '/') first.remove_suffix(1);
    const unsigned masks[] = {neighbourCounts(first, text),
                              neighbourCounts(rest.substr(second + 1), text)};
    rule.birth = masks[b == 0 ? 0 : 1];
    rule.survive = masks[b == 0 ? 1 : 0];
  } else if (slash != std::string_view::npos && b == s) {
    rule.survive = neighbourCounts(rest.substr(0, slash), text);
    rule.birth = neighbourCounts(rest.substr(slash + 1), text);
  } else {
    throw std::invalid_argument(fmt::format(
        "rule '{}' is not understood: expected birth and survival counts, as in B3/S23 or 23/3",
        text));
  }
  return rule;
}

std::string ruleText(const LifeRule& rule) {
  std::string text = "B";
  for (int n = 0; n <= 8; ++n) {
    if (rule.birth >> n & 1u) text += static_cast<char>('0' + n);
  }
  text += "/S";
  for (int n = 0; n <= 8; ++n) {
    if (rule.survive >> n & 1u) text += static_cast<char>('0' + n);
  }
  if (rule.board.kind != Board::Kind::Unspecified) {
    text += fmt::format(":{}{},{}", rule.board.kind == Board::Kind::Torus ? 'T' : 'P',
                        rule.board.width, rule.board.height);
  }
  return text;
}

}  // namespace samples
