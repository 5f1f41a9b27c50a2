// SPDX-License-Identifier: Apache-2.0
// Statements of copied bodies; expressions are in body_expressions.cpp.
#include "hpl/strategies/detail/body_writer.h"

#include "hpl/ir/walk.h"
#include "hpl/strategies/detail/row_loops.h"

namespace hpl::strategies::detail {

using ir::Block;
using ir::Expr;
using ir::Scalar;
using ir::Stmt;
using ir::Variable;

namespace {

/// Whether a statement leaves the loop, which it is or is in.
bool breaks(const Stmt& stmt) {
  bool found = stmt.as<ir::Break>() != nullptr;
  ir::forEachBlock(stmt, [&](const Block& block) {
    for (const Stmt* inner : block.stmts) {
      const bool isLoop = inner->as<ir::Loop>() != nullptr || inner->as<ir::DoLoop>() != nullptr;
      found = found || (!isLoop && breaks(*inner));
    }
  });
  return found;
}

}  // namespace

const Variable* LoadTable::find(const std::string& key) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto found = scope->find(key);
    if (found != scope->end()) return found->second;
  }
  return nullptr;
}

void BodyWriter::write(const Stmt& stmt, Block& out, Block* late) {
  late_ = late;
  statement(stmt, out, nullptr);
  late_ = nullptr;
}

void BodyWriter::block(const Block& block, Block& out, const Expr* mask) {
  for (const Stmt* stmt : block.stmts) statement(*stmt, out, mask);
}

void BodyWriter::statement(const Stmt& stmt, Block& out, const Expr* mask) {
  Block* const outer = out_;
  out_ = &out;
  if (stmt.where.file != nullptr) where_ = stmt.where;
  if (const auto* declare = stmt.as<ir::Declare>()) {
    declaredUnder_[declare->variable] = mask;
    this->declare(*declare, out);
  } else if (const auto* bind = stmt.as<ir::Bind>()) {
    this->bind(*bind, out);
  } else if (const auto* assign = stmt.as<ir::Assign>()) {
    this->assign(*assign, stmt.where, mask);
  } else if (const auto* branch = stmt.as<ir::If>()) {
    this->branch(*branch, out, mask);
  } else if (stmt.as<ir::Loop>() != nullptr || stmt.as<ir::DoLoop>() != nullptr) {
    loop(stmt, out, mask);
  } else if (const auto* inner = stmt.as<Block>()) {
    block(*inner, out, mask);
  } else if (const auto* atomic = stmt.as<ir::Atomic>();
             atomic != nullptr && context_.counters != nullptr) {
    count(*atomic, out, mask);
  } else if (stmt.as<ir::Break>() != nullptr || stmt.as<ir::Continue>() != nullptr) {
    if (maskedLoop_ != nullptr) {
      leave(stmt.as<ir::Break>() != nullptr, mask);
    } else {
      out.stmts.push_back(&stmt);
    }
  } else {
    throw Refused{"it calls a function or synchronises" + at(where_)};
  }
  out_ = outer;
}

Scalar BodyWriter::storedScalar(const ir::Type& type) const {
  if (type.complex || type.isStruct()) throw Refused{"it computes with complex numbers or structs"};
  return type.scalar == Scalar::Bool ? truthLane() : type.scalar;
}

const Variable* BodyWriter::copyOf(const Variable* variable) {
  if (variable->role == ir::Role::ScalarParam || variable->role == ir::Role::ArrayParam)
    return variable;
  const auto found = copies_.find(variable);
  if (found != copies_.end()) return found->second;
  Variable* copy = builder_.variable(*variable);
  const Variable* behind = variable;
  while (behind->role == ir::Role::Alias) {
    const Expr* target = context_.source.bindingOf(behind);
    if (target == nullptr) {
      if (context_.lanes > 1) throw Refused{"an alias moves" + at(where_)};
      break;
    }
    behind = target->as<ir::Access>()->array;
  }
  if (behind->space == ir::Space::Private && variation_.differs(behind) &&
      !variation_.strides().counts(behind)) {
    if (behind->rank > 0 && (behind->type.scalar == Scalar::Bool || behind->type.isVector()))
      throw Refused{"it has a private array of bool or vectors" + at(where_)};
    copy->type = wide(storedScalar(variable->type));
  }
  copies_.emplace(variable, copy);
  return copy;
}

void BodyWriter::declare(const ir::Declare& declare, Block& out) {
  if (declare.variable->type.isVector() && declare.variable->rank == 0 &&
      variation_.differs(declare.variable))
    return declareParts(declare, out);
  auto* copy = const_cast<Variable*>(copyOf(declare.variable));
  const Expr* init = nullptr;
  if (variation_.strides().counts(declare.variable)) {
    init = builder_.add(scalar(*declare.init), -distanceInRow());
  } else if (declare.init != nullptr && !variation_.differs(declare.variable)) {
    init = scalar(*declare.init);
  } else if (declare.init != nullptr) {
    const Value value = convert(*declare.init);
    init = declare.variable->type.scalar == Scalar::Bool ? mask(value)
                                                         : vector(value, copy->type.scalar);
  }
  builder_.declare(out, copy, init);
}

void BodyWriter::bind(const ir::Bind& bind, Block& out) {
  std::string key;
  const auto& target = *bind.target->as<ir::Access>();
  if (context_.source.memoryOf(target.array) == nullptr) requireSameElement(*bind.target, target);
  const Variable* alias = copyOf(bind.alias);
  ir::Access element = located(target, 1, key);
  builder_.statement(
      out, ir::Bind{alias, builder_.make(element.array->type, element, bind.target->where)},
      where_);
}

const Sink* BodyWriter::sinkOf(const Expr& target) const {
  if (context_.sinks == nullptr) return nullptr;
  const auto found = context_.sinks->find(rootOf(target));
  return found != context_.sinks->end() ? &found->second : nullptr;
}

void BodyWriter::assign(const ir::Assign& assign, const ir::SourceLocation& where,
                        const Expr* mask) {
  const Expr& target = *assign.target;
  if (const Sink* sink = sinkOf(target)) {
    if (mask != nullptr) throw Refused{"only some lanes have a value" + at(where)};
    const bool isWide = context_.lanes > 1;
    return (*sink)(*out_, isWide ? vector(*assign.value) : scalar(*assign.value), context_.lanes);
  }
  if (context_.lanes == 1) return assignOne(target, *assign.value, where);
  const Variable* root = rootOf(target);
  const bool isShared = root->space != ir::Space::Private;
  if (root->type.isVector() && (isShared || variation_.differs(root)))
    return assignParts(assign, where, mask);
  // One element for all lanes: only one of them is here.
  const bool isOfOne = isShared && context_.ownElements && !variation_.indicesDiffer(target);
  if (isOfOne && !variation_.differs(*assign.value))
    return builder_.assign(*out_, scalar(target), scalar(*assign.value), where);
  if (isShared) return store(target, vector(*assign.value), where, mask);
  if (variation_.strides().counts(root)) {
    builder_.assign(*out_, builder_.ref(copyOf(root)),
                    builder_.add(scalar(*assign.value), -distanceInRow()), where);
    return;
  }
  if (!variation_.differs(root)) {
    builder_.assign(*out_, scalar(target), scalar(*assign.value), where);
    return;
  }
  const Value value = convert(*assign.value);
  const Expr* place = nullptr;
  if (const auto* access = target.as<ir::Access>()) {
    requireSameElement(target, *access);
    std::string key;
    const ir::Access element = located(*access, 1, key);
    place = builder_.make(element.array->type, element, target.where);
  } else {
    place = builder_.ref(copyOf(root));
  }
  const Expr* lanes =
      target.type.scalar == Scalar::Bool ? this->mask(value) : vector(value, place->type.scalar);
  // No other lanes see what has been declared under the mask: whether they have a value does not
  // matter, and that which they would keep may be none.
  const auto declared = declaredUnder_.find(root);
  const bool isSeenByOthers = declared == declaredUnder_.end() || declared->second != mask;
  if (mask != nullptr && isSeenByOthers) lanes = blend(mask, lanes, place);
  builder_.assign(*out_, place, lanes, where);
}

void BodyWriter::assignOne(const Expr& target, const Expr& value, const ir::SourceLocation& where) {
  const Expr* place = scalar(target);
  const Expr* result = scalar(value);
  const auto* access = target.as<ir::Access>();
  const bool isKept =
      context_.keepsElements && late_ != nullptr && access != nullptr &&
      access->array->role == ir::Role::ArrayParam && access->array->space == ir::Space::Global &&
      context_.source.isWrittenOnce(access->array) && value.type.scalar != ir::Scalar::Half;
  if (!isKept) return builder_.assign(*out_, place, result, where);
  Variable* kept = builder_.variable("result", result->type);
  builder_.declare(*out_, kept, result);
  builder_.assign(*late_, place, builder_.ref(kept), where);
}

bool BodyWriter::streams(const ir::Access& access, const ir::Type& type) const {
  if (!context_.streams || access.array->role != ir::Role::ArrayParam ||
      access.array->space != ir::Space::Global || ir::sizeOf(type.scalar) < 4)
    return false;
  const ir::ArrayAccess* whole = context_.source.summary().find(access.array);
  return whole != nullptr && !whole->read;
}

void BodyWriter::store(const Expr& target, const Expr* value, const ir::SourceLocation& where,
                       const Expr* mask) {
  const auto& access = *target.as<ir::Access>();
  if (access.array->type.scalar == Scalar::Bool) throw Refused{"it writes elements of bool"};
  if (context_.laneStep == 2 && spacingOf(access) == Spacing::EverySecond) {
    if (mask != nullptr) requireInside(access, where);
    return storeApart(access, value, mask);
  }
  if (!liesInRow(access)) throw Refused{"neighbours write the same element" + at(where_)};
  std::string key;
  ir::Access element = located(access, context_.lanes, key);
  if (context_.rows != nullptr && placeInRow(access) == 0) {
    element.isAligned = true;
    noteAligned(access);
  } else if (context_.rows != nullptr) {
    context_.rows->needsAll = true;
  }
  const Expr* place = builder_.make(value->type, element, target.where);
  if (mask != nullptr) {
    requireInside(access, where);
    value = blend(mask, value, place);
    if (element.isAligned) return storeLanes(*out_, place, keep("result", value), false);
    builder_.assign(*out_, place, value, where);
    return;
  }
  const bool past = streams(access, value->type);
  // Stores of one work-item to one element keep their order.
  if (late_ == nullptr || !(context_.writesOnce || context_.source.isWrittenOnce(access.array))) {
    if (element.isAligned) return storeLanes(*out_, place, keep("result", value), past);
    builder_.statement(*out_, ir::Assign{place, value, past}, where);
    return;
  }
  Variable* result = builder_.variable("result", value->type);
  builder_.declare(*out_, result, value);
  if (element.isAligned) return storeLanes(*late_, place, builder_.ref(result), past);
  builder_.statement(*late_, ir::Assign{place, builder_.ref(result), past}, where);
}

/// Lane by lane: lanes may count in the same place.
void BodyWriter::count(const ir::Atomic& atomic, Block& out, const Expr* mask) {
  const auto& access = *atomic.target->as<ir::Access>();
  const ir::Type& type = access.array->type;
  const auto spread = [&](const Expr& expr) {
    return variation_.differs(expr) ? keep("each", vector(expr)) : scalar(expr);
  };
  const auto inLane = [](const Expr* value, int lane) {
    return ir::Component{value, {static_cast<std::uint8_t>(lane)}};
  };
  std::vector<const Expr*> indices;
  for (const Expr* index : access.indices) indices.push_back(spread(*index));
  const Expr* amount = atomic.operands.empty() ? builder_.cast(builder_.number(1, kInt), type)
                                               : spread(*atomic.operands.front());
  const bool isMinus = atomic.op == ir::AtomicOp::Dec || atomic.op == ir::AtomicOp::Sub;
  for (int lane = 0; lane < context_.lanes; ++lane) {
    const auto own = [&](const Expr* value) {
      const Expr* single = value->type.isVector()
                               ? builder_.make(value->type.element(), inLane(value, lane))
                               : value;
      if (mask == nullptr) return single;
      const Expr* chosen = builder_.make(mask->type.element(), inLane(mask, lane));
      return builder_.select(chosen, single, builder_.make(single->type, ir::Constant{}));
    };
    std::vector<const Expr*> place;
    for (const Expr* index : indices) place.push_back(own(index));
    const Expr* each = own(amount);
    if (isMinus) each = builder_.unary(ir::UnaryOp::Negate, each);
    context_.counters->add(out, access.array, std::move(place), each, lane);
  }
}

Block* BodyWriter::nested(const Block* block, const Expr* mask) {
  if (block == nullptr) return nullptr;
  Block* copy = builder_.block();
  Block* const late = late_;
  Block* const outer = out_;
  late_ = nullptr;
  out_ = copy;
  loads_.open();
  this->block(*block, *copy, mask);
  loads_.close();
  late_ = late;
  out_ = outer;
  return copy;
}

void BodyWriter::branch(const ir::If& branch, Block& out, const Expr* mask) {
  if (const auto settled = context_.interior.truth(*branch.condition)) {
    settle(*branch.condition);
    const Block* side = *settled ? branch.then : branch.otherwise;
    if (side != nullptr) block(*side, out, mask);
    return;
  }
  if (variation_.differs(*branch.condition)) return maskedBranch(branch, out, mask);
  const Expr* condition = scalar(*branch.condition);
  builder_.statement(
      out, ir::If{condition, nested(branch.then, mask), nested(branch.otherwise, mask)}, where_);
}

void BodyWriter::maskedBranch(const ir::If& branch, Block& out, const Expr* mask) {
  const Expr* condition = this->mask(convert(*branch.condition));
  Variable* chosen = builder_.variable("chosen", condition->type);
  builder_.declare(out, chosen, condition);
  const auto both = [&](const Expr* a) {
    return mask == nullptr ? a : builder_.binary(ir::BinaryOp::BitAnd, a, mask);
  };
  maskedSide(branch.then, both(builder_.ref(chosen)), out);
  if (branch.otherwise != nullptr && !branch.otherwise->stmts.empty())
    maskedSide(branch.otherwise, both(builder_.unary(ir::UnaryOp::BitNot, builder_.ref(chosen))),
               out);
}

/// Runs only if there is a lane that wants it, so that whatever is the same for all lanes, loops
/// and elements with fixed indices, is what a work-item asks for.
void BodyWriter::maskedSide(const Block* side, const Expr* mask, Block& out) {
  Variable* active = builder_.variable("active", mask->type);
  builder_.declare(out, active, mask);
  const Expr* any = builder_.make(kInt, ir::BuiltinExpr{ir::Builtin::any_, {builder_.ref(active)}});
  const bool outer = masked_;
  masked_ = true;
  if (maskedLoop_ != nullptr) maskedLoop_->branches.push_back(active);
  const Block* block = nested(side, builder_.ref(active));
  if (maskedLoop_ != nullptr) maskedLoop_->branches.pop_back();
  masked_ = outer;
  builder_.statement(out, ir::If{any, block, nullptr}, where_);
}

void BodyWriter::loop(const Stmt& stmt, Block& out, const Expr* mask) {
  if (variation_.leaveApart(stmt)) return maskedLoop(stmt, out, mask);
  MaskedLoop* const around = maskedLoop_;
  maskedLoop_ = nullptr;
  uniformLoop(stmt, out, mask);
  maskedLoop_ = around;
}

void BodyWriter::cutFor(const Stmt& loop) {
  const GridStride* stride = variation_.strides().of(loop);
  // The same for all copies of a row, of which the first one notes it.
  if (stride == nullptr || distanceInRow() != 0) return;
  context_.cuts.insert(&loop);
  std::array<const Expr*, 3> ids{};
  for (int axis = 0; axis < 3; ++axis) ids[static_cast<std::size_t>(axis)] = id(axis);
  context_.bounds[static_cast<std::size_t>(context_.axis)].points.push_back(GridStrides::cut(
      *stride, context_.axis, builder_, context_.hoister, ids, context_.sizeOf(context_.axis)));
}

/// All lanes that are in the loop make the same turns.
void BodyWriter::uniformLoop(const Stmt& stmt, Block& out, const Expr* mask) {
  cutFor(stmt);
  const auto condition = [&](const Expr* original) {
    return original == nullptr ? nullptr : scalar(*original);
  };
  if (const auto* loop = stmt.as<ir::Loop>()) {
    ir::Loop copy{};
    copy.prepare = nested(loop->prepare, mask);
    copy.condition = condition(loop->condition);
    copy.step = nested(loop->step, mask);
    copy.body = nested(loop->body, mask);
    builder_.statement(out, copy, stmt.where);
    return;
  }
  const auto& loop = *stmt.as<ir::DoLoop>();
  ir::DoLoop copy{};
  copy.body = nested(loop.body, mask);
  copy.prepare = nested(loop.prepare, mask);
  copy.condition = condition(loop.condition);
  builder_.statement(out, copy, stmt.where);
}

/// The loop goes on as long as there is a lane that has not left it.
void BodyWriter::maskedLoop(const Stmt& stmt, Block& out, const Expr* mask) {
  Variable* live = builder_.variable("live", wide(truthLane()));
  builder_.declare(out, live,
                   mask != nullptr ? mask : splat(builder_.number(-1, kInt), truthLane()));
  MaskedLoop own{live};
  own.entry = mask;
  own.endsByCondition = !breaks(stmt);
  MaskedLoop* const around = maskedLoop_;
  const bool wasMasked = masked_;
  const bool wasSpeculative = speculative_;
  maskedLoop_ = &own;
  masked_ = true;
  const Expr* any =
      builder_.make(kInt, ir::BuiltinExpr{ir::Builtin::any_, {builder_.ref(live)}}, stmt.where);
  if (const auto* loop = stmt.as<ir::Loop>()) {
    ir::Loop copy{};
    copy.prepare = goingOn(loop->prepare, loop->condition);
    copy.condition = any;
    copy.body = maskedTurn(*loop->body);
    copy.step = nested(loop->step, builder_.ref(live));
    builder_.statement(out, copy, stmt.where);
  } else {
    const auto& doLoop = *stmt.as<ir::DoLoop>();
    ir::DoLoop copy{};
    copy.body = maskedTurn(*doLoop.body);
    copy.prepare = goingOn(doLoop.prepare, doLoop.condition);
    copy.condition = any;
    builder_.statement(out, copy, stmt.where);
  }
  speculative_ = wasSpeculative;
  masked_ = wasMasked;
  maskedLoop_ = around;
}

/// A turn of the innermost loop, for the lanes that are in it.
Block* BodyWriter::maskedTurn(const Block& body) {
  const Expr* live = builder_.ref(maskedLoop_->live);
  Variable* turn = builder_.variable("turn", live->type);
  maskedLoop_->turn = turn;
  Block* copy = builder_.block();
  builder_.declare(*copy, turn, live);
  append(*copy, *nested(&body, builder_.ref(turn)));
  return copy;
}

/// Takes the lanes for which the condition does not hold out of the innermost loop.
Block* BodyWriter::goingOn(const Block* prepare, const Expr* condition) {
  const Expr* live = builder_.ref(maskedLoop_->live);
  Block* copy = builder_.block();
  Block* const late = late_;
  Block* const outer = out_;
  late_ = nullptr;
  out_ = copy;
  loads_.open();
  if (prepare != nullptr) block(*prepare, *copy, live);
  if (condition != nullptr) {
    const Expr* others = maskedLoop_->endsByCondition ? maskedLoop_->entry : live;
    const Expr* goesOn = this->mask(convert(*condition));
    builder_.assign(
        *copy, live,
        others == nullptr ? goesOn : builder_.binary(ir::BinaryOp::BitAnd, others, goesOn));
  }
  loads_.close();
  late_ = late;
  out_ = outer;
  return copy;
}

/// Takes the lanes of the mask out of the innermost loop, or out of this turn of it.
void BodyWriter::leave(bool isBreak, const Expr* mask) {
  Variable* leaving = builder_.variable("leaving", mask->type);
  builder_.declare(*out_, leaving, mask);
  const Expr* others = builder_.unary(ir::UnaryOp::BitNot, builder_.ref(leaving));
  std::vector<const Variable*> masks = maskedLoop_->branches;
  masks.push_back(maskedLoop_->turn);
  if (isBreak) masks.push_back(maskedLoop_->live);
  for (const Variable* each : masks) {
    const Expr* lanes = builder_.ref(each);
    builder_.assign(*out_, lanes, builder_.binary(ir::BinaryOp::BitAnd, lanes, others));
  }
  // The code from here on may run for no lane at all.
  speculative_ = true;
}

}  // namespace hpl::strategies::detail
