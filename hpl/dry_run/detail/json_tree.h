// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hpl::dry_run::detail {

/// A JSON value that knows the line on which it ends: messages about a file name its lines.
struct JsonTree {
  enum class Kind { Null, Boolean, Number, Text, List, Object };
  struct Member;

  Kind kind = Kind::Null;
  int line = 0;
  bool boolean = false;
  double number = 0;
  bool isWhole = false;  ///< a number without point and exponent
  std::string text;
  std::vector<JsonTree> items;
  std::vector<Member> members;  ///< in the order of the file

  /// "a number", "an object", ...
  const char* describe() const noexcept;
};

struct JsonTree::Member {
  std::string key;
  int line = 0;
  JsonTree value;
};

/// Parses a text. Throws SettingsError "<name>, line <n>: ..." when it is no JSON, or an object has
/// a key twice.
JsonTree parseJson(std::string_view text, const std::string& name);

/// Throws SettingsError "<name>, line <n>: <problem>".
[[noreturn]] void failAt(const std::string& name, int line, const std::string& problem);

}  // namespace hpl::dry_run::detail
