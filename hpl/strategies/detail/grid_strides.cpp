// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/grid_strides.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "hpl/ir/walk.h"

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Stmt;
using ir::Variable;

namespace {

bool isNamed(const Expr& expr, const Variable* variable) {
  const auto* ref = peeled(expr).as<ir::VarRef>();
  return ref != nullptr && ref->variable == variable;
}

bool isGridSize(const Source& source, const Expr& expr, int axis) {
  const Expr& inner = peeled(expr);
  if (const auto* item = inner.as<ir::WorkItem>())
    return item->query == ir::Query::GlobalSize && item->dim == axis;
  const auto* ref = inner.as<ir::VarRef>();
  const Expr* value = ref != nullptr ? source.constantValue(ref->variable) : nullptr;
  return value != nullptr && isGridSize(source, *value, axis);
}

/// The value that a kernel assigns to a variable, and how often.
struct Assigned {
  const Expr* init = nullptr;
  const Expr* value = nullptr;
  const Block* in = nullptr;
  int count = 0;
};
using AllAssigned = std::unordered_map<const Variable*, Assigned>;

void collect(const Block& block, AllAssigned& all) {
  for (const Stmt* stmt : block.stmts) {
    if (const auto* declare = stmt->as<ir::Declare>()) all[declare->variable].init = declare->init;
    if (const auto* assign = stmt->as<ir::Assign>()) {
      Assigned& own = all[rootOf(*assign->target)];
      own.value = assign->value;
      own.in = &block;
      ++own.count;
    }
    // Results of functions and atomics are not sums.
    if (const auto* atomic = stmt->as<ir::Atomic>()) all[atomic->result].count = 2;
    if (const auto* call = stmt->as<ir::Call>()) all[call->result].count = 2;
    if (const auto* call = stmt->as<ir::BuiltinCall>()) {
      all[call->result].count = 2;
      all[call->out].count = 2;
    }
    ir::forEachBlock(*stmt, [&](const Block& inner) { collect(inner, all); });
  }
}

/// Whether the block is the outer one, or stands in it as it is.
bool isOrHolds(const Block* outer, const Block* block) {
  if (outer == nullptr || outer == block) return outer != nullptr;
  return std::any_of(outer->stmts.begin(), outer->stmts.end(), [&](const Stmt* stmt) {
    const auto* inner = stmt->as<Block>();
    return inner != nullptr && isOrHolds(inner, block);
  });
}

/// It may be computed where the kernel's text might not get to it.
bool mayBeHoisted(const Source& source, const Expr& expr) {
  const auto* binary = expr.as<ir::Binary>();
  if (binary != nullptr && (binary->op == BinaryOp::Div || binary->op == BinaryOp::Rem))
    return false;
  if (const auto* ref = expr.as<ir::VarRef>()) {
    const Expr* value = source.constantValue(ref->variable);
    return value == nullptr || mayBeHoisted(source, *value);
  }
  bool all = true;
  ir::forEachOperand(expr, [&](const Expr& part) { all = all && mayBeHoisted(source, part); });
  return all;
}

/// The stride of a loop whose text goes on by the number of work-items, whatever it begins with.
std::optional<GridStride> strideOf(const ir::Loop& loop, const AllAssigned& assigned,
                                   const Source& source, int rowAxis) {
  const auto* test = loop.condition != nullptr ? loop.condition->as<ir::Binary>() : nullptr;
  if (test == nullptr || (test->op != BinaryOp::Lt && test->op != BinaryOp::Le))
    return std::nullopt;
  const auto* ref = peeled(*test->left).as<ir::VarRef>();
  const auto own = ref != nullptr ? assigned.find(ref->variable) : assigned.end();
  if (own == assigned.end()) return std::nullopt;
  const Variable* counter = ref->variable;
  const Assigned& values = own->second;
  const bool isPlain = counter->role == ir::Role::Declared && counter->rank == 0 &&
                       counter->space == ir::Space::Private && isWideInteger(counter->type);
  if (!isPlain || values.count != 1 || values.init == nullptr) return std::nullopt;
  const auto* sum = peeled(*values.value).as<ir::Binary>();
  const auto isNext = [&](const Expr& a, const Expr& b) {
    return isNamed(a, counter) && isGridSize(source, b, rowAxis);
  };
  const bool goesOn = sum != nullptr && sum->op == BinaryOp::Add &&
                      (isNext(*sum->left, *sum->right) || isNext(*sum->right, *sum->left));
  // Once in each turn.
  if (!goesOn || !(isOrHolds(loop.step, values.in) || isOrHolds(loop.body, values.in)))
    return std::nullopt;
  return GridStride{counter, values.init, test->right, test->op == BinaryOp::Le};
}

}  // namespace

GridStrides::GridStrides(const Source& source, const Interior& interior, int rowAxis,
                         std::array<bool, 3> apart) {
  AllAssigned assigned;
  collect(source.body(), assigned);
  const auto grows = [&](const Expr& expr, int growth) {
    if (!source.isPure(expr) || !mayBeHoisted(source, expr)) return false;
    for (int axis = 0; axis < 3; ++axis)
      if (axis != rowAxis && apart[static_cast<std::size_t>(axis)] &&
          interior.growth(expr, axis) != 0)
        return false;
    return interior.growth(expr, rowAxis) == growth;
  };
  const auto visit = [&](const auto& self, const Block& block) -> void {
    for (const Stmt* stmt : block.stmts) {
      ir::forEachBlock(*stmt, [&](const Block& inner) { self(self, inner); });
      const auto* loop = stmt->as<ir::Loop>();
      const auto stride =
          loop != nullptr ? strideOf(*loop, assigned, source, rowAxis) : std::nullopt;
      if (stride && grows(*stride->first, 1) && grows(*stride->limit, 0))
        loops_.emplace(stmt, *stride);
    }
  };
  visit(visit, source.body());
}

const GridStride* GridStrides::of(const Stmt& loop) const {
  const auto found = loops_.find(&loop);
  return found != loops_.end() ? &found->second : nullptr;
}

bool GridStrides::counts(const Variable* variable) const {
  return std::any_of(loops_.begin(), loops_.end(),
                     [&](const auto& loop) { return loop.second.counter == variable; });
}

/// Work-item x makes a turn for each number from first + x on, `size` apart, below the limit: one
/// less than x - 1 if the distance from first + x to the limit is a multiple of the size.
const Expr* GridStrides::cut(const GridStride& stride, int rowAxis, Builder& builder,
                             const Hoister& hoister, std::array<const Expr*, 3> ids,
                             const Expr* size) {
  ids[static_cast<std::size_t>(rowAxis)] = builder.number(0, kUlong);
  const Expr* limit = builder.cast(hoister.copy(*stride.limit, ids), kLong);
  const Expr* first = builder.cast(hoister.copy(*stride.first, ids), kLong);
  const Expr* distance =
      builder.binary(BinaryOp::Sub, builder.add(limit, stride.isIncluded ? 1 : 0), first);
  return builder.binary(BinaryOp::Rem, distance, builder.cast(size, kLong));
}

}  // namespace hpl::strategies::detail
