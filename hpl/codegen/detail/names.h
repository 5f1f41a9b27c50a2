// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

namespace hpl::codegen::detail {

/// Whether OpenCL C or its built-in library already uses the name (keywords, types, functions,
/// macros), or the name begins with `hpl_`, which the emitter's own helpers use.
bool isReserved(std::string_view name);

/// A valid C identifier that resembles `wanted`.
std::string toIdentifier(std::string_view wanted);

/// Hands out names that differ from each other, from reserved words and from an outer scope's.
class NameScope {
 public:
  explicit NameScope(const NameScope* outer = nullptr) : outer_(outer) {}

  /// `wanted` itself if it is free, else with '_' appended as often as needed.
  std::string claim(std::string_view wanted);
  /// Takes a name that may be reserved for users (the emitter's own).
  void claimExactly(std::string name) { used_.insert(std::move(name)); }
  bool isUsed(const std::string& name) const;

 private:
  const NameScope* outer_;
  std::unordered_set<std::string> used_;
};

}  // namespace hpl::codegen::detail
