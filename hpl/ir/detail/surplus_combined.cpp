// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/detail/surplus_combined.h"

#include <algorithm>

#include "hpl/ir/walk.h"

namespace hpl::ir::detail {
namespace {

using Visited = std::unordered_set<const Expr*>;

/// Whether the expression mentions the variable, also through variables with one value.
bool mentions(const SurplusFacts& facts, const Expr& expr, const Variable* variable,
              Visited& visited) {
  if (const auto* ref = expr.as<VarRef>()) {
    if (ref->variable == variable) return true;
    const Expr* value = facts.onlyValue(ref->variable);
    return value != nullptr && mentions(facts, *value, variable, visited);
  }
  if (isLeaf(expr) || !visited.insert(&expr).second) return false;
  bool found = false;
  forEachOperand(expr, [&](const Expr& operand) {
    found = found || mentions(facts, operand, variable, visited);
  });
  return found;
}

bool mentions(const SurplusFacts& facts, const Expr& expr, const Variable* variable) {
  Visited visited;
  return mentions(facts, expr, variable, visited);
}

/// A weighted sum of cells of `arrays`: cells that hold 0 add nothing.
class SumTest {
 public:
  SumTest(const SurplusFacts& facts, Deps arrays) : facts_(facts), arrays_(arrays) {}

  bool isSum(const Expr& expr) {
    if (!touches(expr)) return true;
    if (const auto* ref = expr.as<VarRef>()) return isSumOf(ref->variable);
    if (expr.as<Access>() != nullptr || !visited_.insert(&expr).second) return true;
    if (const auto* cast = expr.as<Cast>()) return isSum(*cast->operand);
    if (const auto* part = expr.as<Component>()) return isSum(*part->base);
    if (const auto* part = expr.as<Member>()) return isSum(*part->base);
    if (const auto* unary = expr.as<Unary>())
      return unary->op == UnaryOp::Plus || unary->op == UnaryOp::Negate ? isSum(*unary->operand)
                                                                        : false;
    if (const auto* select = expr.as<Select>())
      return !touches(*select->condition) && isSum(*select->yes) && isSum(*select->no);
    if (const auto* construct = expr.as<Construct>())
      return std::all_of(construct->args.begin(), construct->args.end(),
                         [this](const Expr* arg) { return isSum(*arg); });
    const auto* binary = expr.as<Binary>();
    return binary != nullptr && isSum(*binary);
  }

 private:
  bool touches(const Expr& expr) const { return (facts_.depsOf(expr) & arrays_) != 0; }

  bool isSum(const Binary& binary) {
    switch (binary.op) {
      case BinaryOp::Add:
      case BinaryOp::Sub:
      case BinaryOp::BitOr:
      case BinaryOp::BitXor:
      case BinaryOp::LogicalOr:
        return isSum(*binary.left) && isSum(*binary.right);
      case BinaryOp::Mul:
        return !(touches(*binary.left) && touches(*binary.right)) && isSum(*binary.left) &&
               isSum(*binary.right);
      case BinaryOp::Div:
        return !touches(*binary.right) && isSum(*binary.left);
      default:
        return false;
    }
  }

  bool isSumOf(const Variable* variable) {
    if (!followed_.insert(variable).second) return true;
    const auto& values = facts_.valuesOf(variable);
    return std::all_of(values.begin(), values.end(), [this](const SurplusFacts::Value& value) {
      return value.expr != nullptr && isSum(*value.expr);
    });
  }

  const SurplusFacts& facts_;
  Deps arrays_;
  Visited visited_;
  std::unordered_set<const Variable*> followed_;
};

/// Whether the value is what the variable was, when cells of `arrays` hold 0.
bool keeps(const SurplusFacts& facts, const Expr& expr, const Variable* variable, ZeroTest& zero) {
  if (const auto* ref = expr.as<VarRef>()) {
    if (ref->variable == variable) return true;
    const Expr* value = facts.onlyValue(ref->variable);
    return value != nullptr && keeps(facts, *value, variable, zero);
  }
  if (const auto* cast = expr.as<Cast>()) return keeps(facts, *cast->operand, variable, zero);
  if (const auto* call = expr.as<BuiltinExpr>()) {
    if (call->builtin != Builtin::fma_ && call->builtin != Builtin::mad_) return false;
    return (zero.isZero(*call->args[0]) || zero.isZero(*call->args[1])) &&
           keeps(facts, *call->args[2], variable, zero);
  }
  const auto* binary = expr.as<Binary>();
  if (binary == nullptr) return false;
  const bool adds = binary->op == BinaryOp::Add || binary->op == BinaryOp::BitOr ||
                    binary->op == BinaryOp::BitXor || binary->op == BinaryOp::LogicalOr;
  if (!adds && binary->op != BinaryOp::Sub) return false;
  if (zero.isZero(*binary->right) && keeps(facts, *binary->left, variable, zero)) return true;
  return adds && zero.isZero(*binary->left) && keeps(facts, *binary->right, variable, zero);
}

}  // namespace

Combined findCombined(const SurplusFacts& facts) {
  Combined combined;
  for (const SurplusFacts::Store& store : facts.stores()) {
    const Deps arrays = facts.arraysBehind(store.array);
    const Deps own = facts.depsOf(*store.value.expr) & arrays;
    const Deps chosen = store.value.conditions & arrays;
    if (own == 0) continue;
    combined.trees |= own;
    if (chosen != 0 || !SumTest(facts, own).isSum(*store.value.expr)) combined.notSums |= own;
  }
  static const std::unordered_map<const Access*, std::uint8_t> kNone;
  for (const auto& [variable, values] : facts.assigned()) {
    for (const SurplusFacts::Value& value : values) {
      if (value.expr == nullptr || variable->rank > 0) continue;
      const Deps deps = facts.depsOf(*value.expr);
      const Deps arrays = deps & kArrays;
      if ((deps & kScan) == 0 || arrays == 0) continue;
      // `if_(tile[k] > most) { most = tile[k]; }`
      const Deps chosen = value.conditions & arrays;
      const bool isOwn = mentions(facts, *value.expr, variable);
      if (!isOwn && chosen == 0) continue;
      combined.scans |= arrays;
      ZeroTest zero(facts, kNone, arrays);
      if (chosen != 0 || !keeps(facts, *value.expr, variable, zero)) combined.notSums |= arrays;
    }
  }
  return combined;
}

bool ZeroTest::isZero(const Expr& expr) {
  const auto known = known_.find(&expr);
  if (known != known_.end()) return known->second;
  const bool zero = isZeroHere(expr);
  known_[&expr] = zero;
  return zero;
}

bool ZeroTest::isZeroHere(const Expr& expr) {
  if (const auto* constant = expr.as<Constant>()) return constant->bits == 0 && constant->real == 0;
  if (const auto* access = expr.as<Access>()) {
    if (const Deps arrays = facts_.arraysBehind(access->array)) return (arrays & zeroArrays_) != 0;
    if (access->array->space == Space::Private) return areZero(access->array);
    return unmasked_.find(access) == unmasked_.end() || unmasked_.at(access) != 0;
  }
  if (const auto* ref = expr.as<VarRef>()) {
    if (const Deps arrays = facts_.arraysBehind(ref->variable)) return (arrays & zeroArrays_) != 0;
    return areZero(ref->variable);
  }
  if (const auto* cast = expr.as<Cast>()) return isZero(*cast->operand);
  if (const auto* part = expr.as<Component>()) return isZero(*part->base);
  if (const auto* part = expr.as<Member>()) return isZero(*part->base);
  if (const auto* construct = expr.as<Construct>())
    return std::all_of(construct->args.begin(), construct->args.end(),
                       [this](const Expr* arg) { return isZero(*arg); });
  if (const auto* unary = expr.as<Unary>())
    return (unary->op == UnaryOp::Plus || unary->op == UnaryOp::Negate) && isZero(*unary->operand);
  if (const auto* select = expr.as<Select>()) {
    if (boundsIdAbove(facts_, *select->condition)) return isZero(*select->no);
    if (boundsIdAbove(facts_, *select->condition, true)) return isZero(*select->yes);
    return isZero(*select->yes) && isZero(*select->no);
  }
  if (const auto* binary = expr.as<Binary>()) return isZeroBinary(*binary);
  const auto* call = expr.as<BuiltinExpr>();
  return call != nullptr && isZeroBuiltin(*call);
}

bool ZeroTest::isZeroBinary(const Binary& binary) {
  switch (binary.op) {
    case BinaryOp::Add:
    case BinaryOp::Sub:
    case BinaryOp::BitOr:
    case BinaryOp::BitXor:
    case BinaryOp::LogicalOr:
      return isZero(*binary.left) && isZero(*binary.right);
    case BinaryOp::Mul:
    case BinaryOp::BitAnd:
    case BinaryOp::LogicalAnd:
      return isZero(*binary.left) || isZero(*binary.right);
    case BinaryOp::Div:
    case BinaryOp::Rem:
    case BinaryOp::Shl:
    case BinaryOp::Shr:
      return isZero(*binary.left);
    default:
      return false;
  }
}

bool ZeroTest::isZeroBuiltin(const BuiltinExpr& call) {
  const auto& args = call.args;
  switch (call.builtin) {
    case Builtin::fabs_:
    case Builtin::abs_:
    case Builtin::sqrt_:
    case Builtin::cbrt_:
    case Builtin::sin_:
    case Builtin::tan_:
    case Builtin::asin_:
    case Builtin::atan_:
    case Builtin::sinh_:
    case Builtin::tanh_:
    case Builtin::floor_:
    case Builtin::ceil_:
    case Builtin::round_:
    case Builtin::rint_:
    case Builtin::trunc_:
    case Builtin::length_:
      return isZero(*args[0]);
    case Builtin::dot_:
      return isZero(*args[0]) || isZero(*args[1]);
    case Builtin::fma_:
    case Builtin::mad_:
      return (isZero(*args[0]) || isZero(*args[1])) && isZero(*args[2]);
    case Builtin::min_:
    case Builtin::max_:
    case Builtin::fmin_:
    case Builtin::fmax_:
    case Builtin::hypot_:
      return isZero(*args[0]) && isZero(*args[1]);
    default:
      return false;
  }
}

/// All values that the variable gets where surplus work-items come by; while that is being found
/// out it counts as 0, so that a sum that begins with 0 is one if what is added is.
bool ZeroTest::areZero(const Variable* variable) {
  const auto [entry, isNew] = variables_.try_emplace(variable, true);
  if (!isNew) return entry->second;
  const auto& values = facts_.valuesOf(variable);
  const bool zero =
      !values.empty() &&
      std::all_of(values.begin(), values.end(), [this](const SurplusFacts::Value& value) {
        return value.guarded || value.isLeftOut || (value.expr != nullptr && isZero(*value.expr));
      });
  if (zero) return true;
  // Facts that rest on its being 0 have to be found again.
  known_.clear();
  std::erase_if(variables_, [](const auto& other) { return other.second; });
  variables_[variable] = false;
  return false;
}

}  // namespace hpl::ir::detail
