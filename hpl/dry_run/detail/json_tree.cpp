// SPDX-License-Identifier: Apache-2.0
#include "hpl/dry_run/detail/json_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "hpl/error.h"

namespace hpl::dry_run::detail {

void failAt(const std::string& name, int line, const std::string& problem) {
  throw SettingsError(fmt::format("{}, line {}: {}", name, line, problem));
}

const char* JsonTree::describe() const noexcept {
  switch (kind) {
    case Kind::Null:
      return "null";
    case Kind::Boolean:
      return "true or false";
    case Kind::Number:
      return "a number";
    case Kind::Text:
      return "a text";
    case Kind::List:
      return "a list";
    case Kind::Object:
      break;
  }
  return "an object";
}

namespace {

// The line of the last character that was read; a line's end belongs to the line.
struct Position {
  int line = 1;
  bool isAtEnd = false;

  void read(char c) {
    if (isAtEnd) ++line;
    isAtEnd = c == '\n';
  }
};

// Characters of a text that are counted as the parser reads them.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, Position* position) : at_(at), position_(position) {}
  const char& operator*() const { return *at_; }
  CountingIterator& operator++() {
    position_->read(*at_++);
    return *this;
  }
  CountingIterator operator++(int) {
    const CountingIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) {
    return a.at_ == b.at_;
  }
  friend bool operator!=(const CountingIterator& a, const CountingIterator& b) { return !(a == b); }

 private:
  const char* at_;
  Position* position_;
};

// Builds the tree from the parser's events.
class Builder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Builder(const Position& position, const std::string& name) : position_(position), name_(name) {
    open_.push_back(&root_);
  }
  JsonTree take() { return std::move(root_); }

  bool null() override { return put({}); }
  bool boolean(bool value) override {
    JsonTree tree;
    tree.kind = JsonTree::Kind::Boolean;
    tree.boolean = value;
    return put(std::move(tree));
  }
  bool number_integer(number_integer_t value) override {
    return putNumber(static_cast<double>(value), true);
  }
  bool number_unsigned(number_unsigned_t value) override {
    return putNumber(static_cast<double>(value), true);
  }
  bool number_float(number_float_t value, const string_t&) override {
    return putNumber(value, false);
  }
  bool string(string_t& value) override {
    JsonTree tree;
    tree.kind = JsonTree::Kind::Text;
    tree.text = value;
    return put(std::move(tree));
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return begin(JsonTree::Kind::Object); }
  bool start_array(std::size_t) override { return begin(JsonTree::Kind::List); }
  bool end_object() override { return open_.pop_back(), true; }
  bool end_array() override { return open_.pop_back(), true; }
  bool key(string_t& value) override {
    std::vector<JsonTree::Member>& members = open_.back()->members;
    for (const JsonTree::Member& member : members)
      if (member.key == value)
        failAt(name_, position_.line,
               fmt::format("\"{}\" stands here for the second time; it is on line {}, too", value,
                           member.line));
    members.push_back({value, position_.line, {}});
    return true;
  }
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::json::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 3, column 1: syntax error while ..."
    std::string what = error.what();
    if (const std::size_t at = what.find("] "); at != std::string::npos) what.erase(0, at + 2);
    failAt(name_, position_.line, "this is no JSON: " + what);
  }

 private:
  bool putNumber(double value, bool isWhole) {
    JsonTree tree;
    tree.kind = JsonTree::Kind::Number;
    tree.number = value;
    tree.isWhole = isWhole;
    return put(std::move(tree));
  }
  JsonTree& add(JsonTree tree) {
    tree.line = position_.line;
    JsonTree& parent = *open_.back();
    if (parent.kind == JsonTree::Kind::List) return parent.items.emplace_back(std::move(tree));
    JsonTree& place = parent.kind == JsonTree::Kind::Object ? parent.members.back().value : root_;
    place = std::move(tree);
    return place;
  }
  bool put(JsonTree tree) { return add(std::move(tree)), true; }
  bool begin(JsonTree::Kind kind) {
    JsonTree tree;
    tree.kind = kind;
    open_.push_back(&add(std::move(tree)));
    return true;
  }

  const Position& position_;
  const std::string& name_;
  JsonTree root_;
  std::vector<JsonTree*> open_;
};

}  // namespace

JsonTree parseJson(std::string_view text, const std::string& name) {
  Position position;
  Builder builder(position, name);
  nlohmann::json::sax_parse(CountingIterator(text.data(), &position),
                            CountingIterator(text.data() + text.size(), &position), &builder,
                            nlohmann::json::input_format_t::json, true, true);
  return builder.take();
}

}  // namespace hpl::dry_run::detail
