// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/detail/surplus_facts.h"

#include <algorithm>

#include "hpl/ir/detail/index_value.h"
#include "hpl/ir/walk.h"

namespace hpl::ir::detail {
namespace {

bool isShared(const Variable& variable) {
  return variable.space == Space::Global || variable.space == Space::Constant;
}

Deps idBit(const WorkItem& item) {
  if (item.dim > 2) return 0;
  switch (item.query) {
    case Query::GlobalId:
      return globalIdBit(item.dim);
    case Query::LocalId:
      return localIdBit(item.dim);
    case Query::GroupId:
      return groupIdBit(item.dim);
    default:
      return 0;
  }
}

/// Ids that reach the value by arithmetic alone.
Deps idsIn(const SurplusFacts& facts, const Expr& expr, std::unordered_set<const void*>& followed) {
  if (const auto* item = expr.as<WorkItem>()) return idBit(*item);
  if (expr.as<Access>() != nullptr || !followed.insert(&expr).second) return 0;
  Deps ids = 0;
  if (const auto* ref = expr.as<VarRef>()) {
    if (!followed.insert(ref->variable).second) return 0;
    for (const SurplusFacts::Value& value : facts.valuesOf(ref->variable))
      if (value.expr != nullptr) ids |= idsIn(facts, *value.expr, followed);
    return ids;
  }
  forEachOperand(expr, [&](const Expr& operand) { ids |= idsIn(facts, operand, followed); });
  return ids;
}

bool hasOwnId(const SurplusFacts& facts, const Expr& expr) {
  std::unordered_set<const void*> followed;
  return ownAxes(idsIn(facts, expr, followed)) != 0;
}

bool isZeroConstant(const Expr& expr) {
  const auto* cast = expr.as<Cast>();
  if (cast != nullptr) return isZeroConstant(*cast->operand);
  const auto* constant = expr.as<Constant>();
  return constant != nullptr && constant->bits == 0 && constant->real == 0;
}

bool comparisonBounds(const SurplusFacts& facts, const Binary& binary, bool negated) {
  const BinaryOp op = negated ? ir::negated(binary.op) : binary.op;
  switch (op) {
    case BinaryOp::Lt:
    case BinaryOp::Le:
      return hasOwnId(facts, *binary.left);
    case BinaryOp::Gt:
    case BinaryOp::Ge:
      return hasOwnId(facts, *binary.right);
    case BinaryOp::Eq:
      return hasOwnId(facts, *binary.left) || hasOwnId(facts, *binary.right);
    default:
      return false;
  }
}

}  // namespace

bool boundsIdAbove(const SurplusFacts& facts, const Expr& condition, bool negated) {
  if (const auto* cast = condition.as<Cast>()) return boundsIdAbove(facts, *cast->operand, negated);
  if (const auto* ref = condition.as<VarRef>()) {
    const Expr* value = facts.onlyValue(ref->variable);
    return value != nullptr && boundsIdAbove(facts, *value, negated);
  }
  const auto* unary = condition.as<Unary>();
  if (unary != nullptr && unary->op == UnaryOp::LogicalNot)
    return boundsIdAbove(facts, *unary->operand, !negated);
  const auto* binary = condition.as<Binary>();
  if (binary == nullptr) return false;
  const bool isAnd = binary->op == BinaryOp::LogicalAnd;
  if (isAnd || binary->op == BinaryOp::LogicalOr) {
    const bool left = boundsIdAbove(facts, *binary->left, negated);
    const bool right = boundsIdAbove(facts, *binary->right, negated);
    return isAnd != negated ? left || right : left && right;
  }
  // Truth values that are compared with 0.
  if (binary->op == BinaryOp::Ne && isZeroConstant(*binary->right) &&
      boundsIdAbove(facts, *binary->left, negated))
    return true;
  return comparisonBounds(facts, *binary, negated);
}

SurplusFacts::SurplusFacts(const Kernel& kernel) {
  nameArrays(kernel);
  const auto walkAll = [&] {
    for (const Function* function : kernel.functions) walk(*function);
    walk(*kernel.entry);
  };
  // Once for what depends on what, once more with the conditions, which depend on that.
  walkAll();
  while (spread()) known_.clear();
  settled_ = true;
  values_.clear();
  returns_.clear();
  stores_.clear();
  noted_.clear();
  walkAll();
}

const std::vector<SurplusFacts::Value>& SurplusFacts::valuesOf(const Variable* variable) const {
  static const std::vector<Value> kNone;
  const auto found = values_.find(variable);
  return found == values_.end() ? kNone : found->second;
}

const Expr* SurplusFacts::onlyValue(const Variable* variable) const {
  const std::vector<Value>& values = valuesOf(variable);
  return values.size() == 1 && variable->rank == 0 ? values.front().expr : nullptr;
}

Deps SurplusFacts::arraysBehind(const Variable* variable) const {
  const auto found = arrays_.find(variable);
  return found == arrays_.end() ? 0 : found->second;
}

Deps SurplusFacts::depsOf(const Expr& expr) const {
  if (const auto* item = expr.as<WorkItem>()) return idBit(*item);
  if (const auto* ref = expr.as<VarRef>()) {
    const Deps arrays = arraysBehind(ref->variable);
    const auto found = deps_.find(ref->variable);
    return (arrays != 0 ? arrays | kScan : 0) | (found == deps_.end() ? 0 : found->second);
  }
  const auto known = known_.find(&expr);
  if (known != known_.end()) return known->second;
  Deps deps = 0;
  forEachOperand(expr, [&](const Expr& operand) { deps |= depsOf(operand); });
  if (const auto* access = expr.as<Access>()) {
    const auto found = deps_.find(access->array);
    if (found != deps_.end()) deps |= found->second;
    if (const Deps arrays = arraysBehind(access->array))
      deps |= arrays | ((deps & (kAnyGlobalId | kAnyLocalId)) == 0 ? kScan : 0);
  }
  known_.emplace(&expr, deps);
  return deps;
}

void SurplusFacts::nameArrays(const Kernel& kernel) {
  int next = kFirstArrayBit;
  const auto add = [&](const Variable* variable) {
    if (variable->space != Space::Local || variable->role == Role::Alias) return;
    arrays_[variable] = Deps{1} << next;
    if (next < 63) ++next;  // beyond these, local arrays count as one
  };
  for (const Variable* param : kernel.entry->params) add(param);
  const auto declared = [&](const auto& self, const Block& block) -> void {
    for (const Stmt* stmt : block.stmts) {
      if (const auto* declare = stmt->as<Declare>()) add(declare->variable);
      forEachBlock(*stmt, [&](const Block& inner) { self(self, inner); });
    }
  };
  for (const Function* function : kernel.functions) declared(declared, *function->body);
  declared(declared, *kernel.entry->body);
}

bool SurplusFacts::addDeps(const Variable* variable, Deps deps) {
  Deps& known = deps_[variable];
  const Deps before = known;
  known |= deps;
  return known != before;
}

/// One more step from values to variables; false when nothing changes any more.
bool SurplusFacts::spread() {
  bool changed = false;
  for (const auto& [variable, values] : values_)
    for (const Value& value : values)
      if (value.expr != nullptr) changed |= addDeps(variable, depsOf(*value.expr));
  for (const auto& [name, list] : namesOf_) {
    for (const Variable* other : list) {
      Deps& arrays = arrays_[name];
      const Deps more = arraysBehind(other) & ~arrays;
      arrays |= more;
      const auto found = deps_.find(other);
      changed |= more != 0 || (found != deps_.end() && addDeps(name, found->second));
    }
  }
  return changed;
}

void SurplusFacts::addValue(const Variable* variable, const Expr* expr, bool isLeftOut) {
  if (variable == nullptr) return;
  Value value{expr, isLeftOut, guards_ > 0, 0};
  if (settled_)
    for (const Expr* condition : conditions_) value.conditions |= depsOf(*condition);
  values_[variable].push_back(value);
}

/// Remembers the loads in an expression.
void SurplusFacts::note(const Expr& expr) {
  if (isLeaf(expr) || !noted_.insert(&expr).second) return;
  const auto* access = expr.as<Access>();
  if (access != nullptr && isShared(*access->array) && access->array->role == Role::ArrayParam)
    loads_.insert(access);
  forEachOperand(expr, [this](const Expr& operand) { note(operand); });
}

void SurplusFacts::walk(const Function& function) {
  if (function.native != nullptr) return;
  function_ = &function;
  walk(function.body);
}

void SurplusFacts::walk(const Block* block) {
  if (block == nullptr) return;
  for (const Stmt* stmt : block->stmts) walk(*stmt);
}

void SurplusFacts::walk(const Stmt& stmt) {
  if (const auto* assign = stmt.as<Assign>()) return walkAssign(*assign, stmt.where);
  if (const auto* bind = stmt.as<Bind>()) {
    const auto& target = *bind->target->as<Access>();
    namesOf_[bind->alias].push_back(target.array);
    for (const Expr* index : target.indices) {
      note(*index);
      addValue(bind->alias, index);
    }
    return;
  }
  if (const auto* atomic = stmt.as<Atomic>()) {
    for (const Expr* operand : atomic->operands) note(*operand);
    forEachOperand(*atomic->target, [this](const Expr& operand) { note(operand); });
    if (atomic->result != nullptr) {
      addValue(atomic->result, nullptr, true);
      addDeps(atomic->result, kAnyGlobalId);  // one value per work-item
    }
    return;
  }
  forEachExpr(stmt, [this](const Expr& expr) { note(expr); });
  if (const auto* declare = stmt.as<Declare>()) {
    if (declare->init != nullptr) addValue(declare->variable, declare->init);
  } else if (const auto* branch = stmt.as<If>()) {
    walkBranch(*branch);
  } else if (const auto* call = stmt.as<Call>()) {
    walkCall(*call);
  } else if (const auto* leave = stmt.as<Return>()) {
    if (leave->value != nullptr) returns_[function_].push_back(leave->value);
  } else if (const auto* builtin = stmt.as<BuiltinCall>()) {
    for (const Variable* result : {builtin->result, builtin->out}) {
      addValue(result, nullptr);
      for (const Expr* arg : builtin->args)
        if (result != nullptr) addValue(result, arg);
    }
  } else if (stmt.as<Barrier>() != nullptr) {
    hasBarrier_ = true;
  } else {
    const auto* loop = stmt.as<Loop>();
    const auto* doLoop = stmt.as<DoLoop>();
    const Expr* condition = loop != nullptr     ? loop->condition
                            : doLoop != nullptr ? doLoop->condition
                                                : nullptr;
    if (condition != nullptr) conditions_.push_back(condition);
    forEachBlock(stmt, [this](const Block& block) { walk(&block); });
    if (condition != nullptr) conditions_.pop_back();
  }
}

void SurplusFacts::walkBranch(const If& branch) {
  conditions_.push_back(branch.condition);
  for (const bool isElse : {false, true}) {
    const bool guards = settled_ && boundsIdAbove(*this, *branch.condition, isElse);
    guards_ += guards ? 1 : 0;
    walk(isElse ? branch.otherwise : branch.then);
    guards_ -= guards ? 1 : 0;
  }
  conditions_.pop_back();
}

void SurplusFacts::walkAssign(const Assign& assign, const SourceLocation& where) {
  note(*assign.value);
  if (const Access* target = accessOf(*assign.target))
    for (const Expr* index : target->indices) note(*index);
  const Variable* root = rootOf(*assign.target);
  if (root == nullptr || isShared(*root)) return;
  if (arraysBehind(root) == 0) {
    if (root->role != Role::Alias) addValue(root, assign.value);
    return;
  }
  if (!settled_) return;
  Store store{root, {assign.value, false, guards_ > 0, 0}, where};
  for (const Expr* condition : conditions_) store.value.conditions |= depsOf(*condition);
  stores_.push_back(store);
}

void SurplusFacts::walkCall(const Call& call) {
  const Function& function = *call.function;
  for (std::size_t i = 0; i < call.args.size() && i < function.params.size(); ++i) {
    if (const auto* array = call.args[i]->as<ArrayRef>()) {
      namesOf_[function.params[i]].push_back(array->array);
    } else {
      addValue(function.params[i], call.args[i]);
    }
  }
  if (call.result == nullptr) return;
  if (function.native != nullptr) {
    addValue(call.result, nullptr, true);
    addDeps(call.result, kAnyGlobalId);  // surplus work-items do not call it
    return;
  }
  for (const Expr* value : returns_[&function]) addValue(call.result, value);
}

}  // namespace hpl::ir::detail
