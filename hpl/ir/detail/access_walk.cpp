// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/detail/access_walk.h"

#include <algorithm>
#include <set>
#include <utility>

#include "hpl/ir/detail/rim.h"

namespace hpl::ir::detail {
namespace {

bool isOwnElement(const std::vector<IndexForm>& index) {
  std::set<int> axes;
  return std::all_of(index.begin(), index.end(), [&](const IndexForm& form) {
    return form.isAffine() && form.range == Interval{0, 0} && axes.insert(form.axis).second;
  });
}

/// dimension d runs along axis rank-1-d, as in a[idy][idx].
bool isNaturalOrder(const std::vector<IndexForm>& index) {
  for (std::size_t d = 0; d < index.size(); ++d) {
    if (index[d].axis != static_cast<int>(index.size() - 1 - d)) return false;
  }
  return true;
}

/// Widens the index of an access that reaches `lanes` neighbours at once.
void widen(IndexForm& form, int lanes) {
  if (lanes > 1 && (form.isWrapped() || form.isFlat())) form = IndexForm::unknown();
  if (!form.isUnknown() || form.isBounded()) form.range.hi += (lanes - 1) * form.over;
}

void unite(std::vector<IndexForm>& all, const std::vector<IndexForm>& index) {
  if (all.empty()) {
    all = index;
    return;
  }
  for (std::size_t d = 0; d < all.size(); ++d) all[d] = ir::join(all[d], index[d]);
}

}  // namespace

void AccessWalker::run(const Function& entry) {
  for (const ArrayAccess& access : summary_.arrays) {
    state_.bindings[access.array] = Binding{{access.array}, true, {}};
  }
  for (std::size_t i = 0; sizes_ != nullptr && i < sizes_->size(); ++i)
    if ((*sizes_)[i] != 0) state_.setValue(entry.params[i], Value::size((*sizes_)[i]));
  if (quotients_ != nullptr) {
    Effects effects;
    effects.collect(entry.body);
    changed_.insert(effects.assigned.begin(), effects.assigned.end());
  }
  colourFinder_.emplace(entry);
  frames_.emplace_back();
  walk(entry.body);
  resumeWith(frames_.back().exit);
  for (const Element& element : state_.overwritten) {
    if (!state_.live || !isOwnElement(element.index)) continue;
    const auto access = std::find_if(summary_.arrays.begin(), summary_.arrays.end(),
                                     [&](auto& a) { return a.array == element.array; });
    if (access->coversThreads && !isNaturalOrder(element.index)) continue;
    access->coversThreads = true;
    access->coverAxes.clear();
    for (const IndexForm& form : element.index) access->coverAxes.push_back(form.axis);
  }
}

// --- Expressions
// -----------------------------------------------------------------------------------

void AccessWalker::visit(const Expr* expr) {
  budget_.spend();
  if (const auto* access = expr->as<Access>()) {
    for (const Expr* index : access->indices) visit(index);
    touch(*access, expr->where, {.reads = true});
  } else if (const auto* unary = expr->as<Unary>()) {
    visit(unary->operand);
  } else if (const auto* address = expr->as<Misalignment>()) {
    for (const Expr* index : address->place.indices) visit(index);
  } else if (const auto* binary = expr->as<Binary>()) {
    visit(binary->left);
    if (comparisons_ != nullptr && isComparison(binary->op)) noteComparison(expr, *binary);
    if (edges_ != nullptr && binary->op == BinaryOp::Rem) noteRemainder(expr, *binary);
    if (quotients_ != nullptr && (binary->op == BinaryOp::Rem || binary->op == BinaryOp::Div))
      noteQuotient(expr, *binary);
    const bool logical = binary->op == BinaryOp::LogicalAnd || binary->op == BinaryOp::LogicalOr;
    logical && !expr->type.isVector() ? visitSkippable(binary->right) : visit(binary->right);
  } else if (const auto* select = expr->as<Select>()) {
    visit(select->condition);
    visitSkippable(select->yes);
    visitSkippable(select->no);
  } else if (const auto* conversion = expr->as<Cast>()) {
    visit(conversion->operand);
  } else if (const auto* component = expr->as<Component>()) {
    visit(component->base);
  } else if (const auto* member = expr->as<Member>()) {
    visit(member->base);
  } else if (const auto* call = expr->as<BuiltinExpr>()) {
    for (const Expr* arg : call->args) visit(arg);
    if (edges_ != nullptr && expr->type.isIntegerScalar()) noteClamp(expr, *call);
  } else if (const auto* construct = expr->as<Construct>()) {
    for (const Expr* arg : construct->args) visit(arg);
  }
}

void AccessWalker::noteComparison(const Expr* expr, const Binary& comparison) {
  const std::optional<Turn> turn =
      turnOf(comparison, [this](const Expr* side) { return valueOf(side); });
  const auto [known, isNew] = comparisons_->understood.try_emplace(expr, turn.has_value());
  known->second = known->second && turn.has_value();
  if (!turn) return;
  const auto axis = static_cast<std::size_t>(turn->axis);
  comparisons_->before[axis] = std::max(comparisons_->before[axis], turn->before);
  comparisons_->after[axis] = std::max(comparisons_->after[axis], turn->after);
}

void AccessWalker::noteRemainder(const Expr* expr, const Binary& remainder) {
  if (valueOf(remainder.right).sizeOf == 0) return;
  const IndexForm form = valueOf(expr).form;
  std::optional<RingIndex> ring;
  if (form.isNearIdOrEdge() && form.range.lo == form.range.hi)
    ring = RingIndex{form.axis, form.range.lo};
  const auto [known, isNew] = edges_->rings.try_emplace(expr, ring);
  if (known->second != ring) known->second.reset();
}

void AccessWalker::noteQuotient(const Expr* expr, const Binary& quotient) {
  const Value id = valueOf(quotient.left);
  const bool isOwn = id.plain && id.form == IndexForm::affine(0, 0, 0);
  if (!isOwn) {
    quotients_->others.insert(expr);
    quotients_->lengths.erase(expr);
  }
  if (quotients_->others.contains(expr)) return;
  std::optional<RowLength> length;
  const Expr* divisor = quotient.right;
  for (const Cast* cast = divisor->as<Cast>(); cast != nullptr && isWide(divisor->type);
       cast = divisor->as<Cast>())
    divisor = cast->operand;
  if (const auto number = valueOf(quotient.right).number()) length = RowLength{-1, *number};
  if (const auto* ref = divisor->as<VarRef>(); ref != nullptr && !length) {
    const Variable* scalar = ref->variable;
    const bool isParameter = scalar->role == Role::ScalarParam && scalar->paramIndex >= 0;
    if (isParameter && isTracked(scalar) && !changed_.contains(scalar))
      length = RowLength{scalar->paramIndex, 0};
  }
  const auto [place, isNew] = quotients_->lengths.try_emplace(expr, length);
  if (place->second != length) place->second.reset();
}

void AccessWalker::noteClamp(const Expr* expr, const BuiltinExpr& call) {
  const bool isClamp = call.builtin == Builtin::clamp_;
  if (!isClamp && call.builtin != Builtin::min_ && call.builtin != Builtin::max_) return;
  std::optional<std::size_t> id;
  for (std::size_t i = 0; i < call.args.size() && !id; ++i)
    if (valueOf(call.args[i]).form.isAffine() && (i == 0 || !isClamp)) id = i;
  for (std::size_t i = 0; i < call.args.size() && id; ++i) {
    const Value limit = valueOf(call.args[i]);
    const int axis = valueOf(call.args[*id]).form.axis;
    if (i != *id && !limit.exact && (limit.sizeOf >> axis & 1U) == 0) id.reset();
  }
  const auto [known, isNew] = edges_->clamps.try_emplace(expr, id);
  if (known->second != id) known->second.reset();
}

void AccessWalker::visitSkippable(const Expr* expr) {
  ++conditional_;
  ++skippable_;
  visit(expr);
  --skippable_;
  --conditional_;
}

Binding AccessWalker::bindingOf(const Variable* array) const {
  const auto found = state_.bindings.find(array);
  return found == state_.bindings.end() ? Binding{} : found->second;
}

void AccessWalker::touch(const Access& access, const SourceLocation& where, AccessKind kind) {
  const Binding binding = bindingOf(access.array);
  if (binding.direct) {
    std::vector<IndexForm> index;
    index.reserve(access.indices.size());
    for (const Expr* expr : access.indices) index.push_back(valueOf(expr).form);
    widen(index.back(), access.lanes);
    record(binding.bases.front(), std::move(index), where, kind, false);
    return;
  }
  IndexForm form;
  if (access.indices.size() == 1) {
    // Pointer arithmetic has 64 bits.
    const Type pointer{Scalar::Long};
    form = add(binding.position, valueOf(access.indices.front()), pointer).form;
    widen(form, access.lanes);
  }
  for (const Variable* base : binding.bases) {
    const auto rank = static_cast<std::size_t>(base->rank);
    record(base, std::vector<IndexForm>(rank, rank == 1 ? form : IndexForm{}), where, kind, true);
  }
}

void AccessWalker::record(const Variable* array, std::vector<IndexForm> index,
                          const SourceLocation& where, AccessKind kind, bool alias) {
  const auto access = std::find_if(summary_.arrays.begin(), summary_.arrays.end(),
                                   [&](auto& a) { return a.array == array; });
  if (access == summary_.arrays.end()) return;
  const bool exact =
      std::all_of(index.begin(), index.end(), [](const IndexForm& f) { return f.isExact(); });
  const Element element{array, index};
  if (kind.reads) {
    access->read = true;
    unite(access->reads, index);
    if (!exact || !state_.hasOverwritten(element)) access->readsOldContents = true;
  }
  if (kind.writes) {
    access->written = true;
    unite(access->writes, index);
    if (exact && !kind.partial && !kind.atomic && !alias) state_.addOverwritten(element);
  }
  access->atomics = access->atomics || kind.atomic;
  AccessSite site;
  site.where = where.file != nullptr ? where : where_;
  site.reads = kind.reads;
  site.writes = kind.writes;
  site.atomic = kind.atomic;
  site.partial = kind.partial;
  site.conditional = conditional_ > 0 || state_.escaped;
  site.alias = alias;
  site.skippable = skippable_ > 0;
  site.rim = state_.escaped ? Rim::unknown() : rim_;
  site.bounds = bounds_;
  site.colours = colours_;
  site.index = std::move(index);
  access->sites.push_back(std::move(site));
}

// --- Statements
// ------------------------------------------------------------------------------------

void AccessWalker::walk(const Block* block) {
  if (block == nullptr) return;
  const std::size_t colours = colours_.size();
  for (const Stmt* stmt : block->stmts) {
    if (!state_.live) break;
    const SourceLocation outer = std::exchange(where_, stmt->where);
    walk(*stmt);
    where_ = outer;
  }
  colours_.resize(colours);
}

void AccessWalker::walk(const Stmt& stmt) {
  budget_.spend();
  if (const auto* declare = stmt.as<Declare>()) {
    state_.forget(declare->variable);
    if (declare->init != nullptr) {
      visit(declare->init);
      state_.setValue(declare->variable, valueOf(declare->init));
    }
  } else if (const auto* assign = stmt.as<Assign>()) {
    walkAssign(*assign);
  } else if (const auto* bind = stmt.as<Bind>()) {
    walkBind(*bind);
  } else if (const auto* branch = stmt.as<If>()) {
    const bool goesOn = walkIf(*branch);
    if (!goesOn) narrowTo(colourFinder_->coloursOf(*branch->condition, false));
  } else if (const auto* loop = stmt.as<Loop>()) {
    walkLoop(*loop);
  } else if (const auto* doLoop = stmt.as<DoLoop>()) {
    walkDoLoop(*doLoop);
  } else if (stmt.as<Break>() != nullptr) {
    leaveTo(innermostLoop().breaks);
  } else if (stmt.as<Continue>() != nullptr) {
    leaveTo(innermostLoop().continues);
  } else if (const auto* leave = stmt.as<Return>()) {
    walkReturn(*leave);
  } else if (const auto* atomic = stmt.as<Atomic>()) {
    walkAtomic(*atomic);
  } else if (const auto* call = stmt.as<Call>()) {
    walkCall(*call);
  } else if (const auto* builtin = stmt.as<BuiltinCall>()) {
    for (const Expr* arg : builtin->args) visit(arg);
    if (builtin->result != nullptr) state_.forget(builtin->result);
    if (builtin->out != nullptr) state_.forget(builtin->out);
  } else if (const auto* probe = stmt.as<Probe>()) {
    visit(probe->value);
  } else if (const auto* block = stmt.as<Block>()) {
    walk(block);
  }
}

void AccessWalker::walkAssign(const Assign& assign) {
  visit(assign.value);
  const Expr* target = assign.target;
  bool partial = false;
  while (true) {
    const auto* component = target->as<Component>();
    const auto* member = target->as<Member>();
    if (component == nullptr && member == nullptr) break;
    target = component != nullptr ? component->base : member->base;
    partial = true;
  }
  if (const auto* ref = target->as<VarRef>()) {
    partial ? state_.forget(ref->variable) : state_.setValue(ref->variable, valueOf(assign.value));
  } else if (const auto* access = target->as<Access>()) {
    for (const Expr* index : access->indices) visit(index);
    // The bytes beside the written ones stay: for launches, which move whole elements, that is a
    // read.
    touch(*access, target->where, {.reads = partial, .writes = true, .partial = partial});
  }
}

void AccessWalker::walkBind(const Bind& bind) {
  const auto& target = *bind.target->as<Access>();
  for (const Expr* index : target.indices) visit(index);
  Binding source = bindingOf(target.array);
  if (source.bases.empty()) source.bases = {target.array};  // private or local array
  Value position;
  if (target.indices.size() == 1) {
    const Value index = valueOf(target.indices.front());
    position = source.direct ? index : add(source.position, index, Type{Scalar::Long});
  }
  state_.bindings[bind.alias] = Binding{std::move(source.bases), false, position};
}

bool AccessWalker::walkIf(const If& branch) {
  visit(branch.condition);
  State before = state_;
  const Rim outer = rim_, outerBounds = bounds_;
  const ValueOf values = [this](const Expr* expr) { return valueOf(expr); };
  const std::size_t colours = colours_.size();
  ++conditional_;
  rim_ = narrowed(outer, branch.condition, values);
  bounds_ = bounded(outerBounds, branch.condition, true, values);
  narrowTo(colourFinder_->coloursOf(*branch.condition, true));
  walk(branch.then);
  colours_.resize(colours);
  const bool goesOn = state_.live;
  std::swap(state_, before);
  rim_ = Rim::unknown();
  bounds_ = bounded(outerBounds, branch.condition, false, values);
  narrowTo(colourFinder_->coloursOf(*branch.condition, false));
  walk(branch.otherwise);
  colours_.resize(colours);
  rim_ = outer;
  bounds_ = outerBounds;
  --conditional_;
  state_ = join(std::move(before), state_);
  return goesOn;
}

void AccessWalker::walkLoop(const Loop& loop) {
  Effects effects;
  effects.collect(loop.prepare);
  effects.collect(loop.body);
  effects.collect(loop.step);
  const bool entered =
      loop.prepare == nullptr && provablyTrue(loop.condition, state_.values, budget_);
  State head = state_;
  forgetEffects(head, effects);
  const Induction induction = findInduction(loop, effects, state_, head, budget_);
  const auto setInduction = [&](const Interval& range) {
    if (induction.variable == nullptr) return;
    state_.setValue(induction.variable, Value::constant(range.lo, range.hi));
  };
  state_ = std::move(head);
  setInduction(induction.atCondition);
  frames_.back().loops.emplace_back();
  walk(loop.prepare);
  if (loop.condition != nullptr && state_.live) visit(loop.condition);
  State exit = loop.condition != nullptr ? state_ : State::dead();
  conditional_ += entered ? 0 : 1;
  const Rim outer = std::exchange(rim_, entered ? rim_ : Rim::unknown());
  setInduction(induction.inBody);
  walk(loop.body);
  resumeWith(innermostLoop().continues);
  walk(loop.step);
  rim_ = outer;
  conditional_ -= entered ? 0 : 1;
  if (entered && exit.live) {
    // The condition fails after at least one whole iteration.
    exit.live = state_.live;
    exit.overwritten = state_.overwritten;
  }
  exit.escaped = exit.escaped || state_.escaped || !state_.live;
  state_ = std::move(exit);
  const LoopFrame frame = std::move(frames_.back().loops.back());
  frames_.back().loops.pop_back();
  resumeWith(frame.breaks);
}

void AccessWalker::walkDoLoop(const DoLoop& loop) {
  Effects effects;
  effects.collect(loop.body);
  effects.collect(loop.prepare);
  forgetEffects(state_, effects);
  frames_.back().loops.emplace_back();
  walk(loop.body);
  resumeWith(innermostLoop().continues);
  walk(loop.prepare);
  if (state_.live) visit(loop.condition);
  const LoopFrame frame = std::move(frames_.back().loops.back());
  frames_.back().loops.pop_back();
  resumeWith(frame.breaks);
}

void AccessWalker::walkAtomic(const Atomic& atomic) {
  for (const Expr* operand : atomic.operands) visit(operand);
  if (const auto* access = atomic.target->as<Access>()) {
    for (const Expr* index : access->indices) visit(index);
    touch(*access, atomic.target->where,
          {.reads = true, .writes = atomic.op != AtomicOp::Load, .atomic = true});
  }
  if (atomic.result != nullptr) state_.forget(atomic.result);
}

void AccessWalker::walkCall(const Call& call) {
  const Function& function = *call.function;
  std::vector<std::pair<const Variable*, Binding>> bindings;
  std::vector<std::pair<const Variable*, Value>> values;
  for (std::size_t i = 0; i < call.args.size() && i < function.params.size(); ++i) {
    const Variable* param = function.params[i];
    const auto* array = call.args[i]->as<ArrayRef>();
    if (array == nullptr) {
      visit(call.args[i]);
      values.emplace_back(param, valueOf(call.args[i]));
      continue;
    }
    Binding binding = bindingOf(array->array);
    if (binding.bases.empty()) binding.bases = {array->array};
    if (param->role == Role::Alias || param->rank != array->array->rank) {
      const bool flat = binding.direct && array->array->rank == 1;
      if (binding.direct) binding.position = flat ? Value::constant(0, 0) : Value{};
      binding.direct = false;
    }
    bindings.emplace_back(param, std::move(binding));
  }
  for (auto& [param, binding] : bindings) state_.bindings[param] = std::move(binding);
  for (const auto& [param, value] : values) state_.setValue(param, value);

  const bool escapedBefore = state_.escaped;
  frames_.emplace_back();
  walk(function.body);
  const FunctionFrame frame = std::move(frames_.back());
  frames_.pop_back();
  resumeWith(frame.exit);
  state_.escaped = escapedBefore;  // everyone comes back from a call
  if (call.result != nullptr) state_.setValue(call.result, frame.result.value_or(Value{}));
}

void AccessWalker::walkReturn(const Return& stmt) {
  FunctionFrame& frame = frames_.back();
  if (stmt.value != nullptr) {
    visit(stmt.value);
    const Value value = valueOf(stmt.value);
    frame.result = frame.result ? join(*frame.result, value) : value;
  }
  leaveTo(frame.exit);
}

/// The work-items that are here jump to where `target` is resumed.
void AccessWalker::leaveTo(std::optional<State>& target) {
  target = target ? join(std::move(*target), state_) : state_;
  state_ = State::dead();
}

/// Work-items that jumped here meet those that came straight.
void AccessWalker::resumeWith(const std::optional<State>& other) {
  if (!other) return;
  state_ = join(std::move(state_), *other);
}

}  // namespace hpl::ir::detail
