// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/detail/unroll.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "hpl/ir/detail/access_state.h"
#include "hpl/ir/detail/literal.h"
#include "hpl/ir/detail/search.h"
#include "hpl/ir/rewrite.h"
#include "hpl/ir/walk.h"

namespace hpl::ir::detail {
namespace {

/// Longer loops are over something else than neighbours.
constexpr std::size_t kMostTurns = 9;
/// Limit on the statements of an unrolled loop.
constexpr std::size_t kMostCopied = 4000;

std::optional<std::int64_t> resultOf(BinaryOp op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case BinaryOp::Add:
      return a + b;
    case BinaryOp::Sub:
      return a - b;
    case BinaryOp::Lt:
      return a < b;
    case BinaryOp::Le:
      return a <= b;
    case BinaryOp::Gt:
      return a > b;
    case BinaryOp::Ge:
      return a >= b;
    case BinaryOp::Eq:
      return a == b;
    case BinaryOp::Ne:
      return a != b;
    case BinaryOp::LogicalAnd:
      return a != 0 && b != 0;
    case BinaryOp::LogicalOr:
      return a != 0 || b != 0;
    default:
      return std::nullopt;
  }
}

/// The nodes of an expression or statement, as they would be printed, up to a limit.
class Size {
 public:
  explicit Size(std::size_t most) : left_(most) {}

  bool takes(const Expr& expr) {
    if (left_ == 0) return false;
    --left_;
    bool all = true;
    forEachOperand(expr, [&](const Expr& operand) { all = all && takes(operand); });
    return all;
  }
  bool takes(const Block& block) {
    return std::all_of(block.stmts.begin(), block.stmts.end(), [this](const Stmt* stmt) {
      bool all = left_ > 0;
      forEachExpr(*stmt, [&](const Expr& expr) { all = all && takes(expr); });
      forEachBlock(*stmt, [&](const Block& inner) { all = all && takes(inner); });
      return all;
    });
  }
  std::size_t left() const { return left_; }

 private:
  std::size_t left_;
};

/// Whether copies of a block mean the same one after the other: plain computation.
bool isPlain(const Block* block) {
  if (block == nullptr) return true;
  return std::all_of(block->stmts.begin(), block->stmts.end(), [](const Stmt* stmt) {
    if (const auto* declare = stmt->as<Declare>())
      return declare->variable->rank == 0 && declare->variable->space == Space::Private &&
             declare->init != nullptr;
    if (const auto* branch = stmt->as<If>())
      return isPlain(branch->then) && isPlain(branch->otherwise);
    if (const auto* loop = stmt->as<Loop>())
      return isPlain(loop->prepare) && isPlain(loop->step) && isPlain(loop->body);
    if (const auto* inner = stmt->as<Block>()) return isPlain(inner);
    return stmt->as<Assign>() != nullptr;
  });
}

/// Follows what a loop's variable goes into.
class Flow {
 public:
  explicit Flow(const Variable* variable) : from_{variable} {}

  /// Whether it decides about something: a comparison, a clamped or wrapped number.
  bool decides(const Block& body) {
    // Variables may be assigned after they are read in the text, by an earlier turn.
    for (std::size_t known = 0; known != from_.size();) {
      known = from_.size();
      follow(body);
    }
    return decides_;
  }

 private:
  void follow(const Block& block) {
    for (const Stmt* stmt : block.stmts) {
      bool comes = false;
      forEachExpr(*stmt, [&](const Expr& expr) { comes = look(expr) || comes; });
      if (const auto* declare = stmt->as<Declare>(); declare != nullptr && comes)
        from_.insert(declare->variable);
      if (const auto* assign = stmt->as<Assign>(); assign != nullptr && comes)
        if (const auto* target = assign->target->as<VarRef>()) from_.insert(target->variable);
      forEachBlock(*stmt, [&](const Block& inner) { follow(inner); });
    }
  }
  /// Whether the value depends on the variable, but for elements of arrays.
  bool look(const Expr& expr) {
    const auto* ref = expr.as<VarRef>();
    bool comes = ref != nullptr && from_.contains(ref->variable);
    forEachOperand(expr, [&](const Expr& operand) { comes = look(operand) || comes; });
    if (expr.as<Access>() != nullptr) return false;
    const auto* binary = expr.as<Binary>();
    const auto* call = expr.as<BuiltinExpr>();
    const bool isChoice =
        (binary != nullptr && (binary->op == BinaryOp::Rem || isPredicate(binary->op))) ||
        (call != nullptr && expr.type.isIntegerScalar());
    decides_ = decides_ || (comes && isChoice);
    return comes;
  }

  std::unordered_set<const Variable*> from_;
  bool decides_ = false;
};

class Unroller {
 public:
  Unroller(const Function& function, Arena& arena) : arena_(arena), names_(function) {}

  const Block* unroll(const Block* block);

 private:
  struct Turns {
    const Variable* variable = nullptr;
    std::vector<std::int64_t> values;
    /// The variable's value after the loop.
    std::int64_t last = 0;
  };
  /// The expressions that replace variables in a copy.
  using Copies = std::unordered_map<const Variable*, const Expr*>;

  static std::optional<Turns> turnsOf(const Stmt& before, const Loop& loop);
  static bool pays(const Loop& loop, const Turns& turns);
  /// The statement that gives the variable its first value, with another one.
  const Stmt* beginningAt(const Stmt& before, std::int64_t value);
  void addCopy(const Block& body, Copies& copies, Block& to);
  const Expr* copy(const Expr* expr, const Copies& copies);
  const Expr* folded(const Expr* expr);
  const Expr* number(std::int64_t value, const Expr& like) {
    return arena_.add(Expr{like.type, like.where, Constant{static_cast<std::uint64_t>(value), 0}});
  }

  Arena& arena_;
  FreshNames names_;
  std::unordered_map<const Expr*, const Expr*> copied_;
};

namespace {

/// The variable that a statement gives a number, and the number.
std::pair<const Variable*, std::optional<std::int64_t>> beginningOf(const Stmt& stmt) {
  if (const auto* declare = stmt.as<Declare>(); declare != nullptr && declare->init != nullptr)
    return {declare->variable, numberOf(*declare->init)};
  const auto* assign = stmt.as<Assign>();
  const auto* target = assign == nullptr ? nullptr : assign->target->as<VarRef>();
  if (target == nullptr) return {};
  return {target->variable, numberOf(*assign->value)};
}

bool isVariable(const Expr& expr, const Variable* variable) {
  const Expr* inner = &expr;
  while (const auto* cast = inner->as<Cast>()) {
    if (!isWide(inner->type) || !inner->type.isSigned()) return false;
    inner = cast->operand;
  }
  const auto* ref = inner->as<VarRef>();
  return ref != nullptr && ref->variable == variable;
}

bool isAssigned(const Block* block, const Variable* variable) {
  Effects effects;
  effects.collect(block);
  return effects.count(variable) > 0;
}

}  // namespace

/// `i = first; for (; i < limit; i = i + step)`, with numbers.
std::optional<Unroller::Turns> Unroller::turnsOf(const Stmt& before, const Loop& loop) {
  const auto [variable, first] = beginningOf(before);
  if (variable == nullptr || !first || !isTracked(variable)) return {};
  if (!variable->type.isSigned() || !isWide(variable->type)) return {};
  const bool isSimple = (loop.prepare == nullptr || loop.prepare->stmts.empty()) &&
                        loop.condition != nullptr && loop.step != nullptr &&
                        loop.step->stmts.size() == 1 && !isAssigned(loop.body, variable);
  const auto* condition = isSimple ? loop.condition->as<Binary>() : nullptr;
  const auto* assign = isSimple ? loop.step->stmts.front()->as<Assign>() : nullptr;
  const auto* sum = assign == nullptr ? nullptr : assign->value->as<Binary>();
  if (condition == nullptr || !isPredicate(condition->op) || sum == nullptr ||
      isPredicate(sum->op) || !isVariable(*condition->left, variable) ||
      !isVariable(*assign->target, variable) || !isVariable(*sum->left, variable))
    return {};
  const auto limit = numberOf(*condition->right), step = numberOf(*sum->right);
  if (!limit || !step) return {};
  Turns turns{variable, {}, *first};
  while (resultOf(condition->op, turns.last, *limit).value_or(0) != 0) {
    if (turns.values.size() == kMostTurns) return {};
    turns.values.push_back(turns.last);
    const auto next = resultOf(sum->op, turns.last, *step);
    if (!next || !isSmallNumber(*next)) return {};
    turns.last = *next;
  }
  return turns;
}

bool Unroller::pays(const Loop& loop, const Turns& turns) {
  if (turns.values.empty() || !isPlain(loop.body)) return false;
  Size size(kMostCopied);
  if (!size.takes(*loop.body)) return false;
  return (kMostCopied - size.left()) * turns.values.size() <= kMostCopied &&
         Flow(turns.variable).decides(*loop.body);
}

const Stmt* Unroller::beginningAt(const Stmt& before, std::int64_t value) {
  if (const auto* declare = before.as<Declare>())
    return arena_.add(
        Stmt{before.where, Declare{declare->variable, number(value, *declare->init)}});
  const auto* assign = before.as<Assign>();
  return arena_.add(Stmt{before.where, Assign{assign->target, number(value, *assign->value)}});
}

const Expr* Unroller::folded(const Expr* expr) {
  if (const auto* cast = expr->as<Cast>()) {
    const auto value = cast->operand->as<Constant>() != nullptr ? numberOf(*expr) : std::nullopt;
    return value ? number(*value, *expr) : expr;
  }
  const auto* binary = expr->as<Binary>();
  if (binary == nullptr || !expr->type.isIntegerScalar() || !isWide(expr->type)) return expr;
  const auto a = numberOf(*binary->left), b = numberOf(*binary->right);
  if (binary->op == BinaryOp::LogicalAnd || binary->op == BinaryOp::LogicalOr) {
    // One side may decide, or leave it to the other one.
    const bool isAnd = binary->op == BinaryOp::LogicalAnd;
    const auto known = a ? a : b;
    const Expr* other = a ? binary->right : binary->left;
    if (known && (*known != 0) != isAnd) return number(isAnd ? 0 : 1, *expr);
    const auto* truth = other->as<Binary>();
    if (known && truth != nullptr && isPredicate(truth->op) && other->type == expr->type)
      return other;
  }
  const auto value = a && b ? resultOf(binary->op, *a, *b) : std::nullopt;
  const bool isKnown = value && isSmallNumber(*value) && (*value >= 0 || expr->type.isSigned());
  return isKnown ? number(*value, *expr) : expr;
}

const Expr* Unroller::copy(const Expr* expr, const Copies& copies) {
  if (const auto* ref = expr->as<VarRef>()) {
    const auto other = copies.find(ref->variable);
    return other == copies.end() ? expr : other->second;
  }
  if (isLeaf(*expr)) return expr;
  if (const auto known = copied_.find(expr); known != copied_.end()) return known->second;
  const Expr* result =
      withOperands(arena_, expr, [&](const Expr* operand) { return copy(operand, copies); });
  if (result != expr) result = folded(result);
  copied_.emplace(expr, result);
  return result;
}

/// Adds the statements with others in the place of the loop's variable and of those that they
/// declare.
void Unroller::addCopy(const Block& body, Copies& copies, Block& to) {
  for (const Stmt* stmt : body.stmts) {
    if (const auto* declare = stmt->as<Declare>()) {
      const Expr* init = copy(declare->init, copies);
      Variable* other = arena_.add(*declare->variable);
      other->name = names_.next(declare->variable->name);
      copies[declare->variable] = arena_.add(Expr{other->type, stmt->where, VarRef{other}});
      to.stmts.push_back(arena_.add(Stmt{stmt->where, Declare{other, init}}));
      continue;
    }
    const auto copyBlock = [&](const Block* inner) -> const Block* {
      Block* other = arena_.addBlock();
      other->isApart = inner->isApart;
      addCopy(*inner, copies, *other);
      return other;
    };
    const Stmt* copied = withParts(
        arena_, stmt, [&](const Expr* expr) { return copy(expr, copies); }, copyBlock);
    // A branch that is decided.
    const auto* branch = copied->as<If>();
    const auto truth = branch == nullptr ? std::nullopt : numberOf(*branch->condition);
    if (!truth) {
      to.stmts.push_back(copied);
    } else if (const Block* taken = *truth != 0 ? branch->then : branch->otherwise) {
      to.stmts.insert(to.stmts.end(), taken->stmts.begin(), taken->stmts.end());
    }
  }
}

const Block* Unroller::unroll(const Block* block) {
  // Inner loops first.
  block = withStatements(arena_, block, [this](const Stmt* stmt) {
    return withParts(
        arena_, stmt, [](const Expr* expr) { return expr; },
        [this](const Block* inner) { return unroll(inner); });
  });
  Block* unrolled = nullptr;
  for (std::size_t i = 0; i < block->stmts.size(); ++i) {
    const Stmt* stmt = block->stmts[i];
    const auto* loop = i > 0 ? stmt->as<Loop>() : nullptr;
    const auto turns = loop != nullptr ? turnsOf(*block->stmts[i - 1], *loop) : std::nullopt;
    if (!turns || !pays(*loop, *turns)) {
      if (unrolled != nullptr) unrolled->stmts.push_back(stmt);
      continue;
    }
    if (unrolled == nullptr) {
      unrolled = arena_.addBlock();
      unrolled->isApart = block->isApart;
      unrolled->stmts.assign(block->stmts.begin(),
                             block->stmts.begin() + static_cast<std::ptrdiff_t>(i));
    }
    unrolled->stmts.back() = beginningAt(*unrolled->stmts.back(), turns->last);
    for (const std::int64_t value : turns->values) {
      Copies copies;
      copies[turns->variable] = arena_.add(
          Expr{turns->variable->type, stmt->where, Constant{static_cast<std::uint64_t>(value), 0}});
      copied_.clear();
      addCopy(*loop->body, copies, *unrolled);
    }
  }
  return unrolled != nullptr ? unrolled : block;
}

}  // namespace

const Block* unrollNeighbours(const Function& function, Arena& arena) {
  return function.body == nullptr ? nullptr : Unroller(function, arena).unroll(function.body);
}

}  // namespace hpl::ir::detail
