// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

/// Sums over a neighbourhood as sums of columns. A term is a kind of value (a row of the
/// neighbourhood) at a shift along the row; what several shifts have in common is a pattern, which
/// is summed once and handed on. `u(x - 1) + u(x) + u(x + 1)`, with u the sum of a column, is the
/// sum of a box.
namespace hpl::strategies::detail {

/// Kinds with their coefficients, in ascending order.
using Pattern = std::vector<std::pair<int, std::int64_t>>;

struct Term {
  int kind = 0;
  std::int64_t shift = 0;
  std::int64_t times = 0;
};

/// A pattern (a single term: null) at a shift, so many times.
struct Column {
  const Pattern* pattern = nullptr;
  Term term;
};

/// How a sum is made of columns.
struct SumPlan {
  std::vector<Column> columns;
  /// Something has been grouped.
  bool groups = false;
};

class ColumnPatterns {
 public:
  /// `exists`: whether a kind's value at a shift can be had.
  using Exists = std::function<bool(int kind, std::int64_t shift)>;
  ColumnPatterns(int lanes, Exists exists) : lanes_(lanes), exists_(std::move(exists)) {}

  /// The terms differ in kind or shift.
  SumPlan plan(const std::vector<Term>& terms);

  /// Those of all plans, which point to them.
  const std::set<Pattern>& patterns() const { return patterns_; }

 private:
  using Columns = std::map<std::int64_t, Pattern>;
  std::vector<const Pattern*> repeated(const Columns& columns);
  bool joins(const std::vector<const Pattern*>& groups, std::int64_t shift, const Pattern& column,
             SumPlan& plan) const;

  int lanes_;
  Exists exists_;
  std::set<Pattern> patterns_;
};

/// A sum or difference of two symbols: kinds, or pairs of them (numbered from kPairs on).
struct SymbolPair {
  int first = 0;
  int second = 0;
  bool subtracts = false;
  auto operator<=>(const SymbolPair&) const = default;
};
inline constexpr int kPairs = 1 << 24;

/// What patterns have in common, pair by pair: replaces pairs in them by symbols, those first that
/// are in most patterns, and those with equal coefficients. Returns the pairs.
std::vector<SymbolPair> pairUp(std::vector<Pattern>& patterns);

}  // namespace hpl::strategies::detail
