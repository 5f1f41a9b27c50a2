// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/carry.h"

#include <algorithm>

#include "hpl/ir/rewrite.h"
#include "hpl/ir/walk.h"
#include "hpl/strategies/detail/carrier.h"
#include "hpl/strategies/detail/column_sums.h"

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Stmt;
using ir::Variable;

namespace {

bool isStore(const Stmt& stmt) {
  const auto* assign = stmt.as<ir::Assign>();
  return assign != nullptr && assign->target->as<ir::Access>() != nullptr;
}

}  // namespace

/// The vector that begins `distance` lanes after `low`, of which `high` is the continuation.
const Expr* Carrier::between(const Variable* low, const Variable* high, int distance) {
  const Expr* first = builder_.ref(low);
  const Expr* second = builder_.ref(high);
  ir::Construct lanes;
  for (int lane = distance; lane < distance + lanes_; ++lane) {
    const auto from = static_cast<std::uint8_t>(lane % lanes_);
    lanes.args.push_back(
        builder_.make(low->type.element(), ir::Component{lane < lanes_ ? first : second, {from}}));
  }
  return builder_.make(low->type, std::move(lanes));
}

/// Lane `distance` of the vector first.
const Expr* Carrier::turned(const Expr* vector, int distance) {
  ir::Construct lanes;
  for (int lane = 0; lane < lanes_; ++lane) {
    const auto from = static_cast<std::uint8_t>((lane + distance) % lanes_);
    lanes.args.push_back(builder_.make(vector->type.element(), ir::Component{vector, {from}}));
  }
  return builder_.make(vector->type, std::move(lanes));
}

void Carrier::emitOperands(const Expr& expr) {
  if (const auto* ref = expr.as<ir::VarRef>()) emit(ref->variable);
  ir::forEachOperand(expr, [&](const Expr& operand) { emitOperands(operand); });
}

void Carrier::emit(const Variable* variable) {
  if (!forms_.isConstant(variable) || !done_.insert(variable).second) return;
  const Form form = formOf(variable);
  const bool known = form.kind >= 0 && !form.uniform && !isCopy(variable);
  auto* target = const_cast<Variable*>(variable);
  if (known) {
    const auto [same, isNew] = emitted_.emplace(std::pair(form.kind, form.shift), variable);
    if (!isNew && same->second->type == variable->type && done_.contains(same->second))
      return builder_.declare(*out_, target, builder_.ref(same->second));
  }
  const auto leader = known ? leaders_.find(form.kind) : leaders_.end();
  if (leader != leaders_.end() && ahead_.contains(leader->second))
    return emitAhead(variable, leader->second, form.shift);
  const auto distance =
      leader == leaders_.end() ? 0 : static_cast<int>(reachOf(leader->second) - form.shift);
  if (distance == 0) {
    emitOperands(valueOf(variable));
    out_->stmts.push_back(forms_.declarationOf(variable));
    return;
  }
  emit(leader->second);
  hasBefore(leader->second, variable, distance);
  builder_.declare(*out_, target,
                   between(keepers_[leader->second].before, leader->second, lanes_ - distance));
}

/// The variable is made from what the step before has kept, and lies so far back.
void Carrier::hasBefore(const Variable* leader, const Variable* variable, int distance) {
  Keeper& keeper = keepers_[leader];
  if (keeper.before == nullptr) {
    keeper.before = builder_.variable("before", leader->type);
    result_.handed.insert(keeper.before);
    ++result_.kept;
  }
  if (distance <= keeper.distance) return;
  keeper.furthest = variable;
  keeper.distance = distance;
}

/// A load at the id plus `shift`, from the vectors around it.
void Carrier::emitAhead(const Variable* variable, const Variable* leader, std::int64_t shift) {
  Keeper& keeper = keepers_[leader];
  if (keeper.here == nullptr) {
    keeper.here = builder_.variable("here", leader->type);
    keeper.next = builder_.variable("next", leader->type);
    ++result_.kept;
  }
  const auto distance = static_cast<int>(shift);
  const Expr* value = builder_.ref(keeper.here);
  if (distance > 0) value = between(keeper.here, keeper.next, distance);
  if (distance < 0) {
    hasBefore(leader, variable, -distance);
    value = between(keepers_[leader].before, keeper.here, lanes_ + distance);
  }
  builder_.declare(*out_, const_cast<Variable*>(variable), value);
}

/// A copy for ids that are `further_` on, in which constants are those of `again`.
const Expr* Carrier::again(const Expr& expr) {
  if (const auto* ref = expr.as<ir::VarRef>()) {
    if (ref->variable == x_) return builder_.add(&expr, further_);
    const Variable* copy = again(ref->variable);
    return copy == ref->variable ? &expr : builder_.ref(copy);
  }
  if (const Expr* sum = againSum(expr)) return sum;
  return ir::withOperands(builder_.arena(), &expr,
                          [this](const Expr* operand) { return again(*operand); });
}

/// Sums with numbers, which are joined with how much further on the copy is; null: another one.
const Expr* Carrier::againSum(const Expr& expr) {
  const auto* sum = expr.as<ir::Binary>();
  std::int64_t value = 0;
  if (sum == nullptr || expr.type.isVector() || !isNumber(*sum->right, value)) return nullptr;
  if (sum->op == BinaryOp::Add) return builder_.add(again(*sum->left), value);
  if (sum->op == BinaryOp::Sub) return builder_.add(again(*sum->left), -value);
  return nullptr;
}

/// A constant's copy, computed as written; other variables are themselves.
const Variable* Carrier::again(const Variable* variable) {
  if (!forms_.isConstant(variable)) return variable;
  const Form form = formOf(variable);
  const std::pair key(form.kind, form.uniform ? 0 : form.shift + further_);
  const auto known = copies_.find(key);
  if (known != copies_.end() && known->second->type == variable->type) return known->second;
  Variable* fresh = builder_.variable("first", variable->type);
  builder_.declare(*out_, fresh, again(valueOf(variable)));
  copies_[key] = fresh;
  return fresh;
}

/// Copies go to a block of their own from here on.
void Carrier::beginAgain() {
  out_ = builder_.block();
  copies_.clear();
}

/// Computes the values that the step before would have kept. Only the last lanes of the vector
/// before are used, as many as the furthest variable lies back: they are its first ones.
Block* Carrier::starts() {
  beginAgain();
  for (const Variable* leader : forms_.constants()) {
    const auto found = keepers_.find(leader);
    if (found == keepers_.end()) continue;
    const Keeper& keeper = found->second;
    if (keeper.here != nullptr) {
      further_ = -reachOf(leader);
      builder_.declare(*out_, keeper.here, again(valueOf(leader)));
      further_ = 0;
    }
    if (keeper.before == nullptr) continue;
    const Expr* furthest = builder_.ref(again(keeper.furthest));
    builder_.declare(*out_, keeper.before, turned(furthest, keeper.distance));
  }
  return out_;
}

/// The vectors after the present ones, and how much room they need: elements first, of which sums
/// are made.
Block* Carrier::loadAhead() {
  beginAgain();
  const auto declareNext = [&](const Variable* leader) {
    further_ = lanes_ - reachOf(leader);
    Variable* next = keepers_.at(leader).next;
    builder_.declare(*out_, next, again(valueOf(leader)));
    copies_[std::pair(formOf(leader).kind, std::int64_t{lanes_})] = next;
    // The body reads as far beyond its ids as the leader does.
    if (!centres_.contains(leader)) result_.room = std::max(result_.room, lanes_ + further_);
  };
  for (const bool loads : {true, false})
    for (const Variable* leader : forms_.constants())
      if (keepers_.contains(leader) && ahead_.contains(leader) && isLoad(leader) == loads)
        declareNext(leader);
  further_ = 0;
  return out_;
}

Carried Carrier::run() {
  if (!forms_.collect(body_)) return {};
  chooseLeaders();
  if (leaders_.empty()) return {};
  out_ = builder_.block();
  const auto operands = [&](const Stmt& stmt) {
    ir::forEachExpr(stmt, [&](const Expr& expr) { emitOperands(expr); });
  };
  for (auto it = body_.stmts.begin(); it != body_.stmts.end(); ++it) {
    const auto* declare = (*it)->as<ir::Declare>();
    if (declare != nullptr && forms_.isConstant(declare->variable)) {
      // Constants wait until they are needed, unless they are made from what changes.
      if (formOf(declare->variable).kind < 0) emit(declare->variable);
      continue;
    }
    // Stores in a row come after all that they need.
    for (auto next = it; next != body_.stmts.end() && isStore(**next); ++next) operands(**next);
    operands(**it);
    out_->stmts.push_back(*it);
  }
  if (result_.kept == 0) return {};
  for (const Variable* variable : forms_.constants()) {
    const auto found = keepers_.find(variable);
    if (found == keepers_.end()) continue;
    const Keeper& keeper = found->second;
    const Variable* present = keeper.here != nullptr ? keeper.here : variable;
    if (keeper.before != nullptr)
      builder_.assign(*out_, builder_.ref(keeper.before), builder_.ref(present));
    if (keeper.here != nullptr)
      builder_.assign(*out_, builder_.ref(keeper.here), builder_.ref(keeper.next));
  }
  const Block* main = out_;
  result_.starts = starts();
  result_.room = lanes_;
  result_.body = loadAhead();
  result_.body->stmts.insert(result_.body->stmts.end(), main->stmts.begin(), main->stmts.end());
  return result_;
}

Carried carry(const Source& source, Builder& builder, const Block& body,
              const Neighbours& neighbours, bool exact) {
  if (neighbours.lanes < 2) return {};
  const ColumnSums sums = columnSums(source, builder, body, neighbours, exact);
  if (sums.body != nullptr) {
    const Carried carried = Carrier(source, builder, *sums.body, neighbours, sums.columns).run();
    if (carried.kept > 0) return carried;
  }
  return Carrier(source, builder, body, neighbours, sums.columns).run();
}

}  // namespace hpl::strategies::detail
