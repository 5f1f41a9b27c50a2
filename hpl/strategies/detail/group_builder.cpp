// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/group_builder.h"

#include <algorithm>

#include "hpl/ir/rewrite.h"
#include "hpl/ir/walk.h"

namespace hpl::strategies::detail {

using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Stmt;
using ir::Variable;

// --- Pieces

/// Statements of the group, and those that all work-items get through together, end a piece.
void GroupBuilder::number(const Block& block) {
  for (const Stmt* stmt : block.stmts) {
    if (!uniformity_.isTogether(*stmt) && !isOfGroup(*stmt)) {
      note(*stmt);
      continue;
    }
    ++piece_;
    ir::forEachExpr(*stmt, [this](const Expr& expr) { note(expr); });
    ir::forEachBlock(*stmt, [&](const Block& inner) {
      ++piece_;
      number(inner);
    });
    ++piece_;
  }
}

void GroupBuilder::note(const Stmt& stmt) {
  if (const auto* declare = stmt.as<ir::Declare>())
    if (declare->variable->space == ir::Space::Private)
      pieceOf_.try_emplace(declare->variable, piece_);
  ir::forEachExpr(stmt, [this](const Expr& expr) { note(expr); });
  ir::forEachBlock(stmt, [&](const Block& inner) {
    for (const Stmt* each : inner.stmts) note(*each);
  });
}

void GroupBuilder::note(const Expr& expr) {
  const Variable* variable = nullptr;
  if (const auto* ref = expr.as<ir::VarRef>()) variable = ref->variable;
  if (const auto* access = expr.as<ir::Access>()) variable = access->array;
  if (variable != nullptr && variable->role == ir::Role::Declared &&
      variable->space == ir::Space::Private && !uniformity_.isOfGroup(variable)) {
    const auto [known, isNew] = pieceOf_.try_emplace(variable, piece_);
    if (known->second != piece_) kept_.insert(variable);
  }
  ir::forEachOperand(expr, [this](const Expr& operand) { note(operand); });
}

bool GroupBuilder::isOfGroup(const Stmt& stmt) const {
  const auto* declare = stmt.as<ir::Declare>();
  const auto* assign = stmt.as<ir::Assign>();
  return (declare != nullptr && uniformity_.isOfGroup(declare->variable)) ||
         (assign != nullptr && uniformity_.isOfGroup(rootOf(*assign->target)));
}

// --- Variables

const Variable* GroupBuilder::copyOf(const Variable* variable) {
  if (variable->role == ir::Role::ScalarParam || variable->role == ir::Role::ArrayParam)
    return variable;
  if (variable->role == ir::Role::Alias) throw Refused{"it has an alias"};
  Variable*& copy = copies_[variable];
  if (copy != nullptr) return copy;
  copy = builder_.variable(*variable);
  copy->space = ir::Space::Private;
  if (isKept(variable)) {
    copy->rank = variable->rank + dims_;
    for (int axis = 0; axis < dims_; ++axis)
      copy->extents.insert(copy->extents.begin(), local(axis));
  }
  return copy;
}

const Expr* GroupBuilder::lane(int axis) {
  const Variable* lane = lane_[static_cast<std::size_t>(axis)];
  if (lane == nullptr) throw Refused{"work-items decide on what all of them do together"};
  return builder_.ref(lane);
}

/// The element of this work-item.
const Expr* GroupBuilder::kept(const Variable* variable, std::vector<const Expr*> indices) {
  for (int axis = 0; axis < dims_; ++axis)
    indices.insert(indices.begin(), builder_.cast(lane(axis), kLong));
  return builder_.make(variable->type, ir::Access{copyOf(variable), std::move(indices)});
}

/// The stacks of a driver's threads hold much more.
void GroupBuilder::checkMemory() const {
  constexpr std::size_t kMost = std::size_t{1} << 18;
  std::size_t bytes = source_.summary().localBytes;
  for (const Variable* variable : kept_) {
    std::size_t own = ir::sizeOf(variable->type);
    for (const std::int64_t extent : variable->extents) own *= static_cast<std::size_t>(extent);
    for (const int items : local_) own *= static_cast<std::size_t>(items);
    bytes += own;
  }
  if (bytes > kMost)
    throw Refused{"its groups need " + std::to_string(bytes) + " bytes of memory of their own"};
}

/// Local memory, and what work-items keep, for one group after the other.
void GroupBuilder::declareMemory(const Block& block, Block& out) {
  for (const Stmt* stmt : block.stmts) {
    if (const auto* declare = stmt->as<ir::Declare>()) {
      const Variable* variable = declare->variable;
      if (variable->space == ir::Space::Local || isKept(variable))
        builder_.declare(out, const_cast<Variable*>(copyOf(variable)), nullptr);
    }
    ir::forEachBlock(*stmt, [&](const Block& inner) { declareMemory(inner, out); });
  }
}

// --- Expressions

const Expr* GroupBuilder::query(const Expr& original, const ir::WorkItem& item) {
  const auto number = [&](std::int64_t value) { return builder_.number(value, original.type); };
  const auto as = [&](const Expr* value) { return builder_.cast(value, original.type); };
  const int axis = item.dim;
  const bool isOne = axis >= dims_;
  switch (item.query) {
    case ir::Query::LocalId:
      return isOne ? number(0) : as(lane(axis));
    case ir::Query::GroupId:
      return isOne ? number(0) : as(builder_.ref(group_[item.dim]));
    case ir::Query::LocalSize:
      return number(isOne ? 1 : local(axis));
    case ir::Query::NumGroups:
      return isOne ? number(1) : as(builder_.ref(groups_[item.dim]));
    case ir::Query::GlobalSize:
      return isOne ? number(1) : as(hidden_.value(Hidden::Kind::Count, axis));
    case ir::Query::GlobalId:
      if (isOne) return number(0);
      return as(builder_.binary(BinaryOp::Add,
                                builder_.binary(BinaryOp::Mul, builder_.ref(group_[item.dim]),
                                                builder_.number(local(axis), kUlong)),
                                lane(axis)));
    default:
      throw Refused{"it asks where its domain begins"};
  }
}

const Expr* GroupBuilder::expr(const Expr& original) {
  if (const auto* item = original.as<ir::WorkItem>()) return query(original, *item);
  if (const auto* ref = original.as<ir::VarRef>())
    return isKept(ref->variable) ? kept(ref->variable, {}) : builder_.ref(copyOf(ref->variable));
  if (const auto* access = original.as<ir::Access>()) {
    if (access->lanes > 1) throw Refused{"it accesses several elements at once"};
    std::vector<const Expr*> indices;
    for (const Expr* index : access->indices) indices.push_back(expr(*index));
    if (isKept(access->array)) return kept(access->array, std::move(indices));
    return builder_.make(original.type, ir::Access{copyOf(access->array), std::move(indices)},
                         original.where);
  }
  if (original.as<ir::ArrayRef>() != nullptr) throw Refused{"it passes an array on"};
  return ir::withOperands(builder_.arena(), &original,
                          [this](const Expr* operand) { return expr(*operand); });
}

// --- Statements

void GroupBuilder::copy(const Block& block, Block& out) {
  for (const Stmt* stmt : block.stmts) copy(*stmt, out);
}

void GroupBuilder::copy(const Stmt& stmt, Block& out) {
  if (const auto* declare = stmt.as<ir::Declare>()) {
    const Expr* init = declare->init != nullptr ? expr(*declare->init) : nullptr;
    auto* variable = const_cast<Variable*>(copyOf(declare->variable));
    if (!isKept(declare->variable)) return builder_.declare(out, variable, init);
    if (init != nullptr) builder_.assign(out, kept(declare->variable, {}), init, stmt.where);
  } else if (const auto* assign = stmt.as<ir::Assign>()) {
    const Variable* root = rootOf(*assign->target);
    if (root->role == ir::Role::ScalarParam)
      throw Refused{"it changes a parameter" + at(stmt.where)};
    builder_.assign(out, expr(*assign->target), expr(*assign->value), stmt.where);
  } else if (const auto* branch = stmt.as<ir::If>()) {
    const Expr* condition = expr(*branch->condition);
    Block* then = builder_.block();
    copy(*branch->then, *then);
    Block* otherwise = branch->otherwise != nullptr ? builder_.block() : nullptr;
    if (otherwise != nullptr) copy(*branch->otherwise, *otherwise);
    builder_.statement(out, ir::If{condition, then, otherwise}, stmt.where);
  } else if (const auto* inner = stmt.as<Block>()) {
    copy(*inner, out);
  } else {
    // Compilers make no vectors of loops around loops.
    throw Refused{"work-items loop for themselves, or call a function" + at(stmt.where)};
  }
}

/// All work-items along x; or those that the one branch of the piece is for, where ids tell.
GroupBuilder::Lanes GroupBuilder::lanesOf(const std::vector<const Stmt*>& piece) {
  const Expr* all = builder_.number(local(0), kUlong);
  Lanes lanes{builder_.number(0, kUlong), all, nullptr};
  const auto* branch = piece.size() == 1 ? piece.front()->as<ir::If>() : nullptr;
  const auto* test = branch != nullptr ? branch->condition->as<ir::Binary>() : nullptr;
  if (test == nullptr || branch->otherwise != nullptr) return lanes;
  const auto* item = peeled(*test->left).as<ir::WorkItem>();
  if (item == nullptr || item->query != ir::Query::LocalId || item->dim != 0 ||
      uniformity_.differs(*test->right))
    return lanes;
  std::int64_t number = 0;
  // Negative numbers may be large ones where ids are compared without signs.
  if (isNumber(peeled(*test->right), number) && number < 0) return lanes;
  if (test->op == BinaryOp::Eq && isNumber(peeled(*test->right), number)) {
    if (number >= local(0)) return lanes;
    return {builder_.number(number, kUlong), builder_.number(number + 1, kUlong), branch->then};
  }
  if (test->op != BinaryOp::Lt) return lanes;
  const Expr* limit = expr(*test->right);
  const Expr* end = builder_.smaller(builder_.cast(limit, kUlong), all);
  if (isNumber(peeled(*test->right), number)) {
    end = builder_.number(std::min<std::int64_t>(number, local(0)), kUlong);
  } else if (limit->type.isSigned()) {
    end = builder_.select(builder_.binary(BinaryOp::Gt, limit, builder_.number(0, limit->type)),
                          end, builder_.number(0, kUlong));
  }
  return {lanes.begin, end, branch->then};
}

/// The pending statements, work-item by work-item.
void GroupBuilder::flush(Block& out) {
  if (pending_.empty()) return;
  const std::vector<const Stmt*> piece = std::move(pending_);
  pending_.clear();
  const Lanes lanes = lanesOf(piece);
  Block* body = &out;
  for (int axis = dims_ - 1; axis >= 0; --axis) {
    Variable* lane = builder_.variable(std::string("lane_") + axisName(axis), kUlong);
    const Expr* at = builder_.ref(lane);
    const Expr* end = axis == 0 ? lanes.end : builder_.number(local(axis), kUlong);
    body = builder_.loop(*body, lane, axis == 0 ? lanes.begin : builder_.number(0, kUlong),
                         builder_.binary(BinaryOp::Lt, at, end), builder_.add(at, 1));
    lane_[static_cast<std::size_t>(axis)] = lane;
  }
  if (lanes.body != nullptr) {
    copy(*lanes.body, *body);
  } else {
    for (const Stmt* stmt : piece) copy(*stmt, *body);
  }
  lane_ = {};
}

const Block* GroupBuilder::together(const Block* block) {
  if (block == nullptr) return nullptr;
  Block* copy = builder_.block();
  write(*block, *copy);
  return copy;
}

/// A branch or a loop that all work-items take.
void GroupBuilder::writeControl(const Stmt& stmt, Block& out) {
  const auto common = [&](const Expr* condition) {
    if (condition != nullptr && uniformity_.differs(*condition))
      throw Refused{"work-items get to a barrier on conditions that differ" + at(stmt.where)};
    return condition != nullptr ? expr(*condition) : nullptr;
  };
  if (const auto* inner = stmt.as<Block>()) return write(*inner, out);
  if (const auto* branch = stmt.as<ir::If>()) {
    const Expr* condition = common(branch->condition);
    const Block* then = together(branch->then);
    return builder_.statement(out, ir::If{condition, then, together(branch->otherwise)},
                              stmt.where);
  }
  if (const auto* loop = stmt.as<ir::Loop>()) {
    ir::Loop copy{};
    copy.prepare = together(loop->prepare);
    copy.condition = common(loop->condition);
    copy.step = together(loop->step);
    copy.body = together(loop->body);
    return builder_.statement(out, copy, stmt.where);
  }
  const auto* loop = stmt.as<ir::DoLoop>();
  if (loop == nullptr) throw Refused{"it synchronises otherwise than by barriers" + at(stmt.where)};
  ir::DoLoop copy{};
  copy.body = together(loop->body);
  copy.prepare = together(loop->prepare);
  copy.condition = common(loop->condition);
  builder_.statement(out, copy, stmt.where);
}

void GroupBuilder::write(const Block& block, Block& out) {
  for (const Stmt* stmt : block.stmts) {
    const auto* declare = stmt->as<ir::Declare>();
    if (declare != nullptr && declare->variable->space == ir::Space::Local) continue;
    if (isOfGroup(*stmt)) {
      flush(out);
      copy(*stmt, out);
    } else if (stmt->as<ir::Barrier>() != nullptr) {
      flush(out);
    } else if (uniformity_.isTogether(*stmt)) {
      flush(out);
      writeControl(*stmt, out);
    } else {
      pending_.push_back(stmt);
    }
  }
  flush(out);
}

GroupLoops GroupBuilder::build() {
  number(source_.body());
  checkMemory();
  Block* body = builder_.block();
  const auto item = [&](int axis) { return KernelWriter::query(ir::Query::GlobalId, axis); };
  for (int axis = 0; axis < dims_; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    Variable* groups = builder_.variable(std::string("groups_") + axisName(axis), kUlong);
    builder_.declare(*body, groups,
                     builder_.binary(BinaryOp::Div, hidden_.value(Hidden::Kind::Count, axis),
                                     builder_.number(local(axis), kUlong)));
    groups_[a] = groups;
    Variable* group = builder_.variable(std::string("group_") + axisName(axis), kUlong);
    if (axis > 0) builder_.declare(*body, group, item(axis));
    group_[a] = group;
  }
  Variable* last = builder_.variable("last_group", kUlong);
  const Expr* block = hidden_.value(Hidden::Kind::Block, 0);
  const Expr* first = builder_.binary(BinaryOp::Mul, item(0), block);
  builder_.declare(
      *body, last,
      builder_.smaller(builder_.binary(BinaryOp::Add, first, block), builder_.ref(groups_[0])));
  const Expr* at = builder_.ref(group_[0]);
  Block* each =
      builder_.loop(*body, const_cast<Variable*>(group_[0]), first,
                    builder_.binary(BinaryOp::Lt, at, builder_.ref(last)), builder_.add(at, 1));
  declareMemory(source_.body(), *each);
  write(source_.body(), *each);
  GroupLoops result;
  result.kernel = withBody(*body);
  result.hidden = hidden_.list();
  result.reason = "groups of ";
  for (int axis = 0; axis < dims_; ++axis)
    result.reason += (axis > 0 ? " x " : "") + std::to_string(local(axis));
  result.reason += ", in loops over their work-items between barriers";
  return result;
}

}  // namespace hpl::strategies::detail

namespace hpl::strategies {

using detail::Refused;

namespace {

void checkGroups(const ir::Kernel& kernel, const ir::AccessSummary& summary) {
  if (!summary.usesBarrier) throw Refused{"it has no barrier"};
  if (summary.usesAtomics) throw Refused{"it uses atomics"};
  if (summary.usesProbe) throw Refused{"it has a probe"};
  if (!kernel.functions.empty()) throw Refused{"it calls functions"};
  for (const ir::ArrayAccess& access : summary.arrays)
    if (access.array->space == ir::Space::Local) throw Refused{"local memory is a parameter"};
}

}  // namespace

GroupLoops groupLoops(const ir::Kernel& kernel, const ir::AccessSummary& summary, int dims,
                      const std::array<int, 3>& local) {
  try {
    checkGroups(kernel, summary);
    return detail::GroupBuilder(kernel, summary, dims, local).build();
  } catch (const Refused& refused) {
    GroupLoops result;
    result.reason = refused.reason;
    return result;
  }
}

}  // namespace hpl::strategies
