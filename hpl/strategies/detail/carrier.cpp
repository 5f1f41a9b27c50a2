// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/carrier.h"

#include <algorithm>

#include "hpl/ir/walk.h"

namespace hpl::strategies::detail {

using ir::Expr;
using ir::Stmt;
using ir::Variable;

namespace {

/// Loads alone are kept when they are few, so that registers hold them, and when each of them has
/// to read two lines of the cache.
constexpr std::size_t kMostLoads = 12;
/// At most this many are loaded a vector ahead, which takes up to three registers each.
constexpr std::size_t kMostAhead = 8;
constexpr std::size_t kLine = 64;
/// Registers that hand on columns and elements.
constexpr std::size_t kMostCentres = 20;

}  // namespace

/// How far apart the values of each kind lie, and which of them is the furthest on (the leader).
Carrier::Spans Carrier::spansOf(const std::unordered_set<const Variable*>* wanted) {
  Spans spans;
  leaders_.clear();
  for (const Variable* variable : forms_.constants()) {
    if (wanted != nullptr && !wanted->contains(variable)) continue;
    const Form form = formOf(variable);
    if (form.kind < 0 || form.uniform || !form.byLane || isCopy(variable)) continue;
    const auto [found, isNew] = spans.emplace(form.kind, Span{form.shift, form.shift});
    Span& span = found->second;
    if (isNew || form.shift > span.last) leaders_[form.kind] = variable;
    span.first = std::min(span.first, form.shift);
    span.last = std::max(span.last, form.shift);
  }
  for (const auto& [kind, span] : spans)
    if (span.first == span.last || span.last - span.first >= lanes_) leaders_.erase(kind);
  return spans;
}

/// The variables that the body computes where it needs them, rather than ahead or not at all.
std::unordered_set<const Variable*> Carrier::wanted() {
  std::unordered_set<const Variable*> found;
  const auto visit = [&](const auto& self, const Expr& expr) -> void {
    ir::forEachOperand(expr, [&](const Expr& operand) { self(self, operand); });
    const auto* ref = expr.as<ir::VarRef>();
    if (ref == nullptr || !forms_.isConstant(ref->variable)) return;
    if (!found.insert(ref->variable).second || ahead_.contains(ref->variable)) return;
    const auto leader = leaders_.find(formOf(ref->variable).kind);
    if (leader == leaders_.end()) return self(self, valueOf(ref->variable));
    if (ahead_.contains(leader->second)) return;
    found.insert(leader->second);
    self(self, valueOf(leader->second));
  };
  for (const Stmt* stmt : body_.stmts) {
    const auto* declare = stmt->as<ir::Declare>();
    if (declare != nullptr && forms_.isConstant(declare->variable) &&
        formOf(declare->variable).kind >= 0)
      continue;
    ir::forEachExpr(*stmt, [&](const Expr& expr) { visit(visit, expr); });
  }
  return found;
}

/// Chooses the values that are loaded, or summed up, a vector ahead.
void Carrier::chooseAhead(const Spans& spans) {
  ahead_.clear();
  for (const auto& [kind, leader] : leaders_) {
    const Span& span = spans.at(kind);
    // A span that begins at the id itself is aligned already; and the vector there must be one of
    // those that the body may read.
    if ((isLoad(leader) || columns_.contains(leader)) && span.first <= 0 && span.last > 0)
      ahead_.insert(leader);
  }
}

void Carrier::chooseLeaders() {
  Spans spans = spansOf(nullptr);
  if (!columns_.empty()) {
    // Where columns are summed up ahead, what they are made of is not needed elsewhere.
    std::erase_if(leaders_, [&](const auto& leader) { return !columns_.contains(leader.second); });
    chooseAhead(spans);
    const auto needed = wanted();
    spans = spansOf(&needed);
  }
  const auto isKeptLoad = [this](const auto& leader) { return isLoad(leader.second); };
  const auto loads =
      static_cast<std::size_t>(std::count_if(leaders_.begin(), leaders_.end(), isKeptLoad));
  std::erase_if(leaders_, [&](const auto& leader) {
    return isLoad(leader.second) && (loads > kMostLoads || ir::sizeOf(leader.second->type) < kLine);
  });
  chooseAhead(spans);
  if (loads > kMostAhead)
    std::erase_if(ahead_, [&](const Variable* leader) { return isLoad(leader); });
  if (!columns_.empty()) keepCentres();
}

/// Elements at the id itself that columns have loaded a vector ahead are kept: rows may lie such
/// that the cache has lost them by then.
void Carrier::keepCentres() {
  std::unordered_set<int> loaded;
  const auto visit = [&](const auto& self, const Expr& expr) -> void {
    ir::forEachOperand(expr, [&](const Expr& operand) { self(self, operand); });
    const auto* ref = expr.as<ir::VarRef>();
    if (ref == nullptr || !forms_.isConstant(ref->variable)) return;
    if (isLoad(ref->variable)) loaded.insert(formOf(ref->variable).kind);
    self(self, valueOf(ref->variable));
  };
  for (const Variable* leader : ahead_)
    if (columns_.contains(leader)) visit(visit, valueOf(leader));
  if (loaded.size() + 2 * ahead_.size() > kMostCentres) return;
  const auto needed = wanted();
  for (const Variable* variable : forms_.constants()) {
    const Form form = formOf(variable);
    if (form.shift != 0 || !loaded.contains(form.kind) || !needed.contains(variable) ||
        isCopy(variable) || !leaders_.emplace(form.kind, variable).second)
      continue;
    ahead_.insert(variable);
    centres_.insert(variable);
  }
}

}  // namespace hpl::strategies::detail
