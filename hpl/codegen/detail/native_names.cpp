// SPDX-License-Identifier: Apache-2.0
#include "hpl/codegen/detail/native_names.h"

#include <algorithm>
#include <cctype>

namespace hpl::codegen::detail {
namespace {

bool isLetter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Walks over the tokens outside of bodies.
class Scanner {
 public:
  explicit Scanner(std::string_view source) : source_(source) {}

  NativeNames scan() {
    while (at_ < source_.size()) step();
    return std::move(names_);
  }

 private:
  bool startsWith(std::string_view what) const { return source_.substr(at_, what.size()) == what; }

  void step() {
    const char c = source_[at_];
    if (skipComment() || skipQuoted()) return;
    if (c == '#' && atLineStart_) return directive();
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      atLineStart_ = atLineStart_ || c == '\n';
      ++at_;
      return;
    }
    atLineStart_ = false;
    if (isLetter(c)) return word();
    ++at_;
    punctuation(c);
  }

  bool skipComment() {
    if (startsWith("//")) {
      at_ = std::min(source_.find('\n', at_), source_.size());
    } else if (startsWith("/*")) {
      const std::size_t end = source_.find("*/", at_ + 2);
      at_ = end == std::string_view::npos ? source_.size() : end + 2;
    } else {
      return false;
    }
    return true;
  }

  bool skipQuoted() {
    const char quote = source_[at_];
    if (quote != '"' && quote != '\'') return false;
    for (++at_; at_ < source_.size() && source_[at_] != quote; ++at_)
      if (source_[at_] == '\\') ++at_;
    at_ = std::min(at_ + 1, source_.size());
    return true;
  }

  void directive() {
    const std::size_t begin = at_;
    for (; at_ < source_.size() && source_[at_] != '\n'; ++at_)
      if (source_[at_] == '\\') ++at_;
    at_ = std::min(at_, source_.size());
    std::string_view line = source_.substr(begin + 1, at_ - begin - 1);
    const std::string keyword = takeWord(line);
    const std::string name = takeWord(line);
    auto& macros = names_.macros;
    if (keyword == "undef")
      macros.erase(std::remove(macros.begin(), macros.end(), name), macros.end());
    if (keyword == "define" && std::find(macros.begin(), macros.end(), name) == macros.end())
      macros.push_back(name);
  }

  static std::string takeWord(std::string_view& text) {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0)
      text.remove_prefix(1);
    const auto end = std::find_if_not(text.begin(), text.end(), isLetter);
    std::string word(text.begin(), end);
    text.remove_prefix(word.size());
    return word;
  }

  void word() {
    const std::size_t begin = at_;
    while (at_ < source_.size() && isLetter(source_[at_])) ++at_;
    if (braces_ == 0 && parentheses_ == 0) last_ = source_.substr(begin, at_ - begin);
  }

  void punctuation(char c) {
    if (c == '{') {
      if (braces_++ == 0 && !candidate_.empty()) addFunction();
    } else if (c == '}') {
      --braces_;
    }
    if (braces_ > 0) return;
    if (c == '(') {
      // Attributes stand before the name or behind the parameters.
      if (parentheses_++ == 0 && last_ != "__attribute__" && candidate_.empty()) candidate_ = last_;
    } else if (c == ')') {
      --parentheses_;
    } else if (parentheses_ == 0) {
      candidate_ = {};
      last_ = {};
    }
  }

  void addFunction() {
    names_.functions.emplace_back(candidate_);
    candidate_ = {};
  }

  std::string_view source_;
  std::size_t at_ = 0;
  bool atLineStart_ = true;
  int braces_ = 0;
  int parentheses_ = 0;
  std::string_view last_;
  /// The word before the first parenthesis of a declaration.
  std::string_view candidate_;
  NativeNames names_;
};

}  // namespace

NativeNames namesIn(std::string_view source) { return Scanner(source).scan(); }

}  // namespace hpl::codegen::detail
