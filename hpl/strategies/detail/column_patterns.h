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

/// Kinds with their coefficients, in ascending order. Numbers are integers that wrap around
/// (std::int64_t) or real ones (double).
template <class Number>
using PatternOf = std::vector<std::pair<int, Number>>;
using Pattern = PatternOf<std::int64_t>;

template <class Number>
struct TermOf {
  int kind = 0;
  std::int64_t shift = 0;
  Number times = 0;
};
using Term = TermOf<std::int64_t>;

/// A pattern (a single term: null) at a shift, `times` times.
template <class Number>
struct ColumnOf {
  const PatternOf<Number>* pattern = nullptr;
  TermOf<Number> term;
};
using Column = ColumnOf<std::int64_t>;

/// How a sum is made of columns.
template <class Number>
struct SumPlanOf {
  std::vector<ColumnOf<Number>> columns;
  /// Something has been grouped.
  bool groups = false;
};
using SumPlan = SumPlanOf<std::int64_t>;

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

/// Sums of real numbers whose weights are the product of a column and a row, as those of a Gauss
/// mask are: a sum of 11 x 11 terms is one of 11 columns of 11 terms.
class SeparablePatterns {
 public:
  /// All terms as columns, or nothing that is grouped: where they are too few, or where a weight
  /// differs from the product by more than `tolerance` times itself. The terms differ in kind or
  /// shift.
  SumPlanOf<double> plan(const std::vector<TermOf<double>>& terms, double tolerance);

  /// Those of all plans, which point to them.
  const std::set<PatternOf<double>>& patterns() const { return patterns_; }

 private:
  std::set<PatternOf<double>> patterns_;
};

/// A sum or difference of two symbols: kinds, or pairs of them (numbered from kPairs on).
struct SymbolPair {
  int first = 0;
  int second = 0;
  bool subtracts = false;
  auto operator<=>(const SymbolPair&) const = default;
};
inline constexpr int kPairs = 1 << 24;

/// Finds common pairs of patterns: replaces pairs in them by symbols, those first that are in most
/// patterns, and those with equal coefficients. Returns the pairs.
std::vector<SymbolPair> pairUp(std::vector<Pattern>& patterns);

}  // namespace hpl::strategies::detail
