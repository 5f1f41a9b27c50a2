// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "hpl/ir/detail/access_state.h"

namespace hpl::ir::detail {
namespace {

/// Bounds beyond this are left Unknown, which keeps all sums below free of overflow.
constexpr std::int64_t kMaxBound = std::int64_t{1} << 40;

bool isSane(const Interval& range) { return contains({-kMaxBound, kMaxBound}, range); }

const Expr* skipCasts(const Expr* expr, std::vector<Type>& through) {
  through.push_back(expr->type);
  while (const auto* conversion = expr->as<Cast>()) {
    expr = conversion->operand;
    through.push_back(expr->type);
  }
  return expr;
}

bool isReference(const Expr* expr, const Variable* variable) {
  const auto* ref = expr->as<VarRef>();
  return ref != nullptr && ref->variable == variable;
}

/// `i = i + stride` at the top of the step.
struct Step {
  std::int64_t stride = 0;
  /// Types that the sum passes through: all of them must represent every value.
  std::vector<Type> types;
};

std::optional<Step> matchStep(const Assign& assign, const Variable* variable, const State& head,
                              Budget& budget) {
  Step step;
  const auto* sum = skipCasts(assign.value, step.types)->as<Binary>();
  if (sum == nullptr || (sum->op != BinaryOp::Add && sum->op != BinaryOp::Sub)) return {};
  const Expr* left = sum->left;
  const Expr* right = sum->right;
  std::vector<Type> operandTypes;
  if (!isReference(skipCasts(left, operandTypes), variable)) {
    if (sum->op == BinaryOp::Sub) return {};
    std::swap(left, right);
    operandTypes.clear();
    if (!isReference(skipCasts(left, operandTypes), variable)) return {};
  }
  const auto stride = valueOf(right, head.values, budget).number();
  if (!stride || *stride == 0 || !isSane({*stride, *stride})) return {};
  step.stride = sum->op == BinaryOp::Add ? *stride : -*stride;
  step.types.insert(step.types.end(), operandTypes.begin(), operandTypes.end());
  return step;
}

const Assign* findAssignment(const Block* block, const Variable* variable) {
  if (block == nullptr) return nullptr;
  for (const Stmt* stmt : block->stmts) {
    if (const auto* inner = stmt->as<Block>()) {
      if (const Assign* found = findAssignment(inner, variable)) return found;
    }
    const auto* assign = stmt->as<Assign>();
    if (assign != nullptr && isReference(assign->target, variable)) return assign;
  }
  return nullptr;
}

/// The last value (largest for positive strides, smallest for negative ones) that passes `i op
/// bound`.
std::optional<std::int64_t> lastValue(BinaryOp op, const Interval& bound, const Interval& start,
                                      std::int64_t stride) {
  if (op == BinaryOp::Ne && bound.lo == bound.hi) {
    if (stride == 1 && start.hi <= bound.lo) return bound.lo - 1;
    if (stride == -1 && start.lo >= bound.lo) return bound.lo + 1;
    return {};
  }
  if (stride > 0) {
    if (op == BinaryOp::Lt) return bound.hi - 1;
    if (op == BinaryOp::Le) return bound.hi;
  } else {
    if (op == BinaryOp::Gt) return bound.lo + 1;
    if (op == BinaryOp::Ge) return bound.lo;
  }
  return {};
}

/// Values of the variable, given where it starts and the last value that enters the body.
Induction ranges(const Variable* variable, const Interval& start, std::int64_t stride,
                 std::int64_t last) {
  Induction found{variable, start, start};
  if (stride > 0) {
    if (start.lo == start.hi && last >= start.lo) last -= (last - start.lo) % stride;
    found.inBody = {start.lo, std::max(start.lo, last)};
    found.atCondition = {start.lo, std::max(start.hi, last + stride)};
  } else {
    if (start.lo == start.hi && last <= start.hi) last += (start.hi - last) % -stride;
    found.inBody = {std::min(start.hi, last), start.hi};
    found.atCondition = {std::min(start.lo, last + stride), start.hi};
  }
  return found;
}

/// One comparison of the condition as a bound of one variable.
Induction matchComparison(const Loop& loop, const Binary& comparison, bool mirror,
                          const Effects& effects, const State& before, const State& head,
                          Budget& budget) {
  std::vector<Type> types;
  const Expr* side = skipCasts(mirror ? comparison.right : comparison.left, types);
  const auto* ref = side->as<VarRef>();
  if (ref == nullptr || !isTracked(ref->variable) || effects.count(ref->variable) != 1) return {};
  const Variable* variable = ref->variable;
  const Assign* assign = findAssignment(loop.step, variable);
  if (assign == nullptr) return {};
  const auto step = matchStep(*assign, variable, head, budget);
  const Value bound = valueOf(mirror ? comparison.left : comparison.right, head.values, budget);
  const auto start = before.values.find(variable);
  if (!step || !bound.exact || start == before.values.end() || !start->second.exact) return {};
  const Interval from = start->second.form.range;
  if (!isSane(bound.form.range) || !isSane(from)) return {};
  const auto last = lastValue(mirror ? mirrored(comparison.op) : comparison.op, bound.form.range,
                              from, step->stride);
  if (!last) return {};
  const Induction found = ranges(variable, from, step->stride, *last);
  types.insert(types.end(), step->types.begin(), step->types.end());
  // Without wrapping anywhere the variable moves monotonically, which all of this rests on.
  const auto represents = [&](const Type& type) {
    return type.isScalar() && type.isInteger() && type.scalar != Scalar::Bool &&
           contains(rangeOf(type), found.atCondition);
  };
  return std::all_of(types.begin(), types.end(), represents) ? found : Induction{};
}

Induction matchCondition(const Loop& loop, const Expr* condition, const Effects& effects,
                         const State& before, const State& head, Budget& budget) {
  budget.spend();
  if (const auto* conversion = condition->as<Cast>()) condition = conversion->operand;
  const auto* binary = condition->as<Binary>();
  if (binary == nullptr) return {};
  if (binary->op == BinaryOp::LogicalAnd) {
    const Induction left = matchCondition(loop, binary->left, effects, before, head, budget);
    if (left.variable != nullptr) return left;
    return matchCondition(loop, binary->right, effects, before, head, budget);
  }
  for (const bool mirror : {false, true}) {
    const Induction found = matchComparison(loop, *binary, mirror, effects, before, head, budget);
    if (found.variable != nullptr) return found;
  }
  return {};
}

}  // namespace

Induction findInduction(const Loop& loop, const Effects& effects, const State& before,
                        const State& head, Budget& budget) {
  if (loop.condition == nullptr) return {};
  return matchCondition(loop, loop.condition, effects, before, head, budget);
}

}  // namespace hpl::ir::detail
