// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/column_patterns.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>

namespace hpl::strategies::detail {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 31;

bool multiplies(std::int64_t times) { return times != 1 && times != -1; }

/// Divides the coefficients by what they have in common, and returns that.
std::int64_t reduce(Pattern& pattern) {
  std::int64_t common = 0;
  for (const auto& [kind, times] : pattern) common = std::gcd(common, times);
  if (pattern.front().second < 0) common = -common;
  for (auto& [kind, times] : pattern) times /= common;
  return common;
}

/// The column less `times` times the pattern.
Pattern without(const Pattern& column, const Pattern& pattern, std::int64_t times) {
  std::map<int, std::int64_t> rest(column.begin(), column.end());
  for (const auto& [kind, own] : pattern) rest[kind] -= times * own;
  std::erase_if(rest, [](const auto& term) { return term.second == 0; });
  return {rest.begin(), rest.end()};
}

std::int64_t timesOf(const Pattern& pattern, int kind) {
  for (const auto& [own, times] : pattern)
    if (own == kind) return times;
  return 0;
}

}  // namespace

/// The patterns that several columns of a sum are multiples of.
std::vector<const Pattern*> ColumnPatterns::repeated(const Columns& columns) {
  struct Where {
    std::size_t count = 0;
    std::int64_t first = 0;
    std::int64_t last = 0;
  };
  std::map<Pattern, Where> found;
  for (const auto& [shift, column] : columns) {
    if (column.size() < 2) continue;
    Pattern pattern = column;
    reduce(pattern);
    Where& where = found[pattern];
    if (where.count++ == 0) where.first = shift;
    where.last = shift;
  }
  std::vector<const Pattern*> groups;
  for (const auto& [pattern, where] : found)
    if (where.count > 1 && where.last - where.first < lanes_)
      groups.push_back(&*patterns_.insert(pattern).first);
  return groups;
}

/// Adds the column as a multiple of one of the patterns, plus or minus a few terms; false where
/// that would be no gain.
bool ColumnPatterns::joins(const std::vector<const Pattern*>& groups, std::int64_t shift,
                           const Pattern& column, SumPlan& plan) const {
  std::size_t least = column.size() + 1;
  Column best;
  Pattern rest;
  for (const Pattern* group : groups) {
    if (!std::all_of(group->begin(), group->end(),
                     [&](const auto& term) { return exists_(term.first, shift); }))
      continue;
    for (const auto& [kind, own] : *group) {
      const std::int64_t have = timesOf(column, kind);
      if (have == 0 || have % own != 0) continue;
      const std::int64_t times = have / own;
      const Pattern left = without(column, *group, times);
      if (1 + left.size() >= least) continue;
      least = 1 + left.size();
      best = {group, {0, shift, times}};
      rest = left;
    }
  }
  if (best.pattern == nullptr) return false;
  plan.columns.push_back(best);
  for (const auto& [kind, times] : rest) plan.columns.push_back({nullptr, {kind, shift, times}});
  return true;
}

SumPlan ColumnPatterns::plan(const std::vector<Term>& terms) {
  Columns columns;
  bool isSmall = true;
  for (const Term& term : terms) {
    columns[term.shift].emplace_back(term.kind, term.times);
    isSmall = isSmall && std::abs(term.times / 2) < kLargest;
  }
  for (auto& [shift, column] : columns) std::sort(column.begin(), column.end());
  const std::vector<const Pattern*> groups =
      isSmall ? repeated(columns) : std::vector<const Pattern*>{};
  SumPlan plan;
  plan.groups = !groups.empty();
  for (const auto& [shift, column] : columns) {
    if (joins(groups, shift, column, plan)) continue;
    for (const auto& [kind, times] : column)
      plan.columns.push_back({nullptr, {kind, shift, times}});
  }
  // Those that begin with a difference last.
  std::stable_partition(plan.columns.begin(), plan.columns.end(),
                        [](const Column& column) { return column.term.times > 0; });
  return plan;
}

SumPlanOf<double> SeparablePatterns::plan(const std::vector<TermOf<double>>& terms,
                                          double tolerance) {
  // Fewer are as soon added as shuffled.
  constexpr std::size_t kFewest = 25, kShortest = 3;
  std::set<int> kinds;
  std::map<std::int64_t, std::map<int, double>> columns;
  const TermOf<double>* greatest = nullptr;
  for (const TermOf<double>& term : terms) {
    kinds.insert(term.kind);
    columns[term.shift][term.kind] = term.times;
    if (greatest == nullptr || std::abs(term.times) > std::abs(greatest->times)) greatest = &term;
  }
  if (terms.size() < kFewest || kinds.size() < kShortest || columns.size() < kShortest ||
      kinds.size() * columns.size() != terms.size())
    return {};
  const std::map<int, double>& model = columns.at(greatest->shift);
  SumPlanOf<double> plan;
  for (const auto& [shift, column] : columns) {
    const double times = column.at(greatest->kind) / greatest->times;
    for (const auto& [kind, weight] : column)
      if (!(std::abs(weight - times * model.at(kind)) <= tolerance * std::abs(weight))) return {};
    plan.columns.push_back({nullptr, {0, shift, times}});
  }
  const auto* pattern = &*patterns_.insert({model.begin(), model.end()}).first;
  for (ColumnOf<double>& column : plan.columns) column.pattern = pattern;
  plan.groups = true;
  return plan;
}

namespace {

/// The pair of two terms, if one coefficient is the other one or its negative.
bool pairOf(const std::pair<int, std::int64_t>& a, const std::pair<int, std::int64_t>& b,
            SymbolPair& pair) {
  pair = {a.first, b.first, a.second != b.second};
  return a.second == b.second || a.second == -b.second;
}

/// Each pair, with whether it is worth a symbol: it is in several patterns, or saves a product.
struct Candidate {
  int count = 0;
  bool multiplies = false;
};

std::map<SymbolPair, Candidate> candidates(const std::vector<Pattern>& patterns) {
  std::map<SymbolPair, Candidate> found;
  for (const Pattern& pattern : patterns) {
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      for (std::size_t j = i + 1; j < pattern.size(); ++j) {
        SymbolPair pair;
        if (!pairOf(pattern[i], pattern[j], pair)) continue;
        Candidate& candidate = found[pair];
        ++candidate.count;
        candidate.multiplies = candidate.multiplies || multiplies(pattern[i].second);
      }
    }
  }
  return found;
}

void replace(Pattern& pattern, const SymbolPair& wanted, int symbol) {
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    for (std::size_t j = i + 1; j < pattern.size(); ++j) {
      SymbolPair pair;
      if (!pairOf(pattern[i], pattern[j], pair) || pair != wanted) continue;
      const std::int64_t times = pattern[i].second;
      pattern.erase(pattern.begin() + static_cast<std::ptrdiff_t>(j));
      pattern.erase(pattern.begin() + static_cast<std::ptrdiff_t>(i));
      pattern.emplace_back(symbol, times);
      return;
    }
  }
}

}  // namespace

std::vector<SymbolPair> pairUp(std::vector<Pattern>& patterns) {
  std::vector<SymbolPair> pairs;
  for (;;) {
    const auto found = candidates(patterns);
    const auto best =
        std::max_element(found.begin(), found.end(), [](const auto& a, const auto& b) {
          const auto rank = [](const Candidate& c) { return 2 * c.count + (c.multiplies ? 1 : 0); };
          return rank(a.second) < rank(b.second);
        });
    if (best == found.end() || (best->second.count < 2 && !best->second.multiplies)) return pairs;
    const int symbol = kPairs + static_cast<int>(pairs.size());
    pairs.push_back(best->first);
    for (Pattern& pattern : patterns) replace(pattern, best->first, symbol);
  }
}

}  // namespace hpl::strategies::detail
