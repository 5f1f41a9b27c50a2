// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/carry.h"

#include <algorithm>
#include <bit>
#include <map>

#include "hpl/ir/walk.h"

namespace hpl::strategies::detail {
namespace {

using ir::BinaryOp;
using ir::Block;
using ir::Expr;
using ir::Stmt;
using ir::Type;
using ir::Variable;

/// Loads alone are kept when they are few, so that registers hold them, and when each of them has
/// to read two lines of the cache.
constexpr std::size_t kMostLoads = 12;
constexpr std::size_t kLine = 64;

/// A value as a function of the id: equal kinds are the same function.
struct Form {
  /// Negative: unknown.
  int kind = -1;
  /// The value is that of its kind, as many ids further on.
  std::int64_t shift = 0;
  /// The same for all ids.
  bool uniform = false;
  /// A vector with a lane for each of the neighbours, or the same in all lanes.
  bool byLane = false;
};

class Carrier {
 public:
  Carrier(const Source& source, Builder& builder, const Block& body, const Variable* x, int lanes,
          const std::unordered_set<const Variable*>& elements)
      : source_(source),
        builder_(builder),
        body_(body),
        x_(x),
        lanes_(lanes),
        elements_(elements) {}

  Carried run();

 private:
  bool collect();
  bool isMovable(const Expr& expr) const;
  Form formOf(const Variable* variable);
  Form formOf(const Expr& expr);
  Form combined(const Expr& expr);
  bool isByLane(const Expr& expr, const std::vector<std::pair<const Expr*, Form>>& operands) const;
  const Expr& valueOf(const Variable* constant) const;
  bool isLoad(const Variable* constant) const { return valueOf(constant).as<ir::Access>(); }
  bool isCopy(const Variable* constant) const { return valueOf(constant).as<ir::VarRef>(); }
  void chooseLeaders();
  void emit(const Variable* variable);
  void emitOperands(const Expr& expr);
  const Expr* shifted(const Variable* leader, int distance);
  const Expr* again(const Expr& expr);
  const Variable* again(const Variable* variable);
  Block* starts();

  const Source& source_;
  Builder& builder_;
  const Block& body_;
  const Variable* x_;
  int lanes_;
  const std::unordered_set<const Variable*>& elements_;

  /// Variables that are declared once and never assigned, with their declarations.
  std::unordered_map<const Variable*, const Stmt*> constants_;
  std::vector<const Variable*> order_;
  std::unordered_set<const Variable*> changing_;
  std::unordered_map<const Variable*, Form> forms_;
  std::map<std::string, int> kinds_;
  /// By kind: the variable furthest on.
  std::unordered_map<int, const Variable*> leaders_;
  std::map<std::pair<int, std::int64_t>, const Variable*> emitted_;
  std::unordered_set<const Variable*> done_;
  /// By leader: what is kept of it, and the variable that is made from it furthest back.
  struct Keeper {
    Variable* before = nullptr;
    const Variable* furthest = nullptr;
    int distance = 0;
  };
  std::unordered_map<const Variable*, Keeper> keepers_;
  /// What is computed where nothing has been kept, by kind and shift.
  std::map<std::pair<int, std::int64_t>, const Variable*> copies_;
  Block* out_ = nullptr;
  Carried result_;
};

bool isStore(const Stmt& stmt) {
  const auto* assign = stmt.as<ir::Assign>();
  return assign != nullptr && assign->target->as<ir::Access>() != nullptr;
}

/// What tells nodes with the same operands apart.
std::string labelOf(const Expr& expr) {
  std::string label = std::to_string(expr.node.index()) + ':' + ir::describe(expr.type);
  const auto add = [&](std::uint64_t value) { label += ',' + std::to_string(value); };
  const auto address = [&](const void* p) { add(reinterpret_cast<std::uintptr_t>(p)); };
  if (const auto* constant = expr.as<ir::Constant>()) {
    add(constant->bits);
    add(std::bit_cast<std::uint64_t>(constant->real));
  }
  if (const auto* ref = expr.as<ir::VarRef>()) address(ref->variable);
  if (const auto* access = expr.as<ir::Access>()) {
    address(access->array);
    add(access->lanes);
  }
  if (const auto* item = expr.as<ir::WorkItem>()) {
    add(static_cast<std::uint64_t>(item->query));
    add(item->dim);
  }
  if (const auto* unary = expr.as<ir::Unary>()) add(static_cast<std::uint64_t>(unary->op));
  if (const auto* binary = expr.as<ir::Binary>()) add(static_cast<std::uint64_t>(binary->op));
  if (const auto* component = expr.as<ir::Component>())
    for (const std::uint8_t lane : component->lanes) add(lane);
  if (const auto* builtin = expr.as<ir::BuiltinExpr>())
    add(static_cast<std::uint64_t>(builtin->builtin));
  return label;
}

/// Whether the expression may be computed before stores that come first.
bool Carrier::isMovable(const Expr& expr) const {
  if (const auto* access = expr.as<ir::Access>())
    if (access->array->role != ir::Role::ArrayParam || source_.isWritten(access->array))
      return false;
  bool movable = true;
  ir::forEachOperand(expr, [&](const Expr& operand) { movable = movable && isMovable(operand); });
  return movable;
}

bool Carrier::collect() {
  for (const Stmt* stmt : body_.stmts) {
    const auto* declare = stmt->as<ir::Declare>();
    const auto* assign = stmt->as<ir::Assign>();
    if (declare == nullptr && assign == nullptr) return false;
    if (declare != nullptr) {
      if (declare->variable->rank > 0 || declare->variable->space != ir::Space::Private)
        return false;
      if (declare->init == nullptr) {
        changing_.insert(declare->variable);
        continue;
      }
      if (!isMovable(*declare->init)) return false;
      constants_.emplace(declare->variable, stmt);
      order_.push_back(declare->variable);
      continue;
    }
    if (!isMovable(*assign->value)) return false;
    if (const auto* element = assign->target->as<ir::Access>()) {
      for (const Expr* index : element->indices)
        if (!isMovable(*index)) return false;
      continue;
    }
    const auto* ref = assign->target->as<ir::VarRef>();
    if (ref == nullptr) return false;
    changing_.insert(ref->variable);
  }
  for (const Variable* variable : changing_) constants_.erase(variable);
  return true;
}

Form Carrier::formOf(const Variable* variable) {
  const auto known = forms_.find(variable);
  if (known != forms_.end()) return known->second;
  Form form;
  if (variable == x_) {
    form.kind = 0;
  } else if (const auto found = constants_.find(variable); found != constants_.end()) {
    form = formOf(*found->second->as<ir::Declare>()->init);
    form.byLane = form.byLane || elements_.contains(variable);
  } else if (!changing_.contains(variable)) {
    // It lives outside of the loop.
    const std::string label = 'v' + std::to_string(reinterpret_cast<std::uintptr_t>(variable));
    form.kind = kinds_.emplace(label, static_cast<int>(kinds_.size()) + 1).first->second;
    form.uniform = true;
  }
  forms_.emplace(variable, form);
  return form;
}

Form Carrier::formOf(const Expr& expr) {
  if (const auto* ref = expr.as<ir::VarRef>()) return formOf(ref->variable);
  const auto* sum = expr.as<ir::Binary>();
  std::int64_t value = 0;
  if (sum != nullptr && (sum->op == BinaryOp::Add || sum->op == BinaryOp::Sub) &&
      isNumber(*sum->right, value)) {
    Form form = formOf(*sum->left);
    if (form.kind == 0) {
      form.shift += sum->op == BinaryOp::Add ? value : -value;
      return form;
    }
  }
  return combined(expr);
}

Form Carrier::combined(const Expr& expr) {
  std::vector<std::pair<const Expr*, Form>> operands;
  ir::forEachOperand(
      expr, [&](const Expr& operand) { operands.emplace_back(&operand, formOf(operand)); });
  Form form;
  form.uniform = true;
  for (const auto& [operand, own] : operands) {
    if (own.kind < 0) return {};
    if (own.uniform) continue;
    form.shift = form.uniform ? own.shift : std::min(form.shift, own.shift);
    form.uniform = false;
  }
  std::string label = labelOf(expr);
  for (const auto& [operand, own] : operands) {
    label += ';' + std::to_string(own.kind);
    if (!own.uniform) label += '@' + std::to_string(own.shift - form.shift);
  }
  form.kind = kinds_.emplace(label, static_cast<int>(kinds_.size()) + 1).first->second;
  form.byLane = isByLane(expr, operands);
  return form;
}

bool Carrier::isByLane(const Expr& expr,
                       const std::vector<std::pair<const Expr*, Form>>& operands) const {
  if (expr.type.lanes != lanes_) return false;
  if (const auto* access = expr.as<ir::Access>())
    return access->array->type.isScalar() && access->lanes == lanes_;
  if (expr.as<ir::Construct>() != nullptr || expr.as<ir::Component>() != nullptr) return false;
  return std::all_of(operands.begin(), operands.end(), [](const auto& operand) {
    return operand.first->type.isVector() ? operand.second.byLane : operand.second.uniform;
  });
}

const Expr& Carrier::valueOf(const Variable* variable) const {
  return *constants_.at(variable)->as<ir::Declare>()->init;
}

void Carrier::chooseLeaders() {
  std::unordered_map<int, std::pair<std::int64_t, std::int64_t>> spans;
  for (const Variable* variable : order_) {
    if (!constants_.contains(variable)) continue;
    const Form form = formOf(variable);
    if (form.kind < 0 || form.uniform || !form.byLane || isCopy(variable)) continue;
    const auto [span, isNew] = spans.emplace(form.kind, std::pair(form.shift, form.shift));
    if (isNew || form.shift > span->second.second) leaders_[form.kind] = variable;
    span->second.first = std::min(span->second.first, form.shift);
    span->second.second = std::max(span->second.second, form.shift);
  }
  std::size_t loads = 0;
  for (const auto& [kind, span] : spans) {
    const bool apart = span.first != span.second && span.second - span.first < lanes_;
    if (!apart) leaders_.erase(kind);
    if (apart && isLoad(leaders_.at(kind))) ++loads;
  }
  std::erase_if(leaders_, [&](const auto& leader) {
    return isLoad(leader.second) && (loads > kMostLoads || ir::sizeOf(leader.second->type) < kLine);
  });
}

/// The leader's value some ids before.
const Expr* Carrier::shifted(const Variable* leader, int distance) {
  const Expr* before = builder_.ref(keepers_[leader].before);
  const Expr* here = builder_.ref(leader);
  ir::Construct lanes;
  for (int lane = 0; lane < lanes_; ++lane) {
    const int from = lane < distance ? lanes_ - distance + lane : lane - distance;
    lanes.args.push_back(builder_.make(
        leader->type.element(),
        ir::Component{lane < distance ? before : here, {static_cast<std::uint8_t>(from)}}));
  }
  return builder_.make(leader->type, std::move(lanes));
}

void Carrier::emitOperands(const Expr& expr) {
  if (const auto* ref = expr.as<ir::VarRef>()) emit(ref->variable);
  ir::forEachOperand(expr, [&](const Expr& operand) { emitOperands(operand); });
}

void Carrier::emit(const Variable* variable) {
  const auto found = constants_.find(variable);
  if (found == constants_.end() || !done_.insert(variable).second) return;
  const Form form = formOf(variable);
  const bool known = form.kind >= 0 && !form.uniform && !isCopy(variable);
  auto* target = const_cast<Variable*>(variable);
  if (known) {
    const auto [same, isNew] = emitted_.emplace(std::pair(form.kind, form.shift), variable);
    if (!isNew && same->second->type == variable->type && done_.contains(same->second))
      return builder_.declare(*out_, target, builder_.ref(same->second));
  }
  const auto leader = known ? leaders_.find(form.kind) : leaders_.end();
  const auto distance =
      leader == leaders_.end() ? 0 : static_cast<int>(formOf(leader->second).shift - form.shift);
  if (distance == 0) {
    emitOperands(valueOf(variable));
    out_->stmts.push_back(found->second);
    return;
  }
  emit(leader->second);
  Keeper& keeper = keepers_[leader->second];
  if (keeper.before == nullptr) {
    keeper.before = builder_.variable("before", variable->type);
    result_.kept.push_back(keeper.before);
  }
  if (distance > keeper.distance) {
    keeper.furthest = variable;
    keeper.distance = distance;
  }
  builder_.declare(*out_, target, shifted(leader->second, distance));
}

/// A copy in which constants are those of `again`.
const Expr* Carrier::again(const Expr& expr) {
  if (const auto* ref = expr.as<ir::VarRef>()) {
    const Variable* copy = again(ref->variable);
    return copy == ref->variable ? &expr : builder_.ref(copy);
  }
  const auto replace = [&](const Expr*& operand) { operand = again(*operand); };
  const auto each = [&](std::vector<const Expr*>& list) {
    for (const Expr*& operand : list) replace(operand);
  };
  decltype(expr.node) node = expr.node;
  if (auto* access = std::get_if<ir::Access>(&node)) each(access->indices);
  if (auto* unary = std::get_if<ir::Unary>(&node)) replace(unary->operand);
  if (auto* cast = std::get_if<ir::Cast>(&node)) replace(cast->operand);
  if (auto* component = std::get_if<ir::Component>(&node)) replace(component->base);
  if (auto* member = std::get_if<ir::Member>(&node)) replace(member->base);
  if (auto* builtin = std::get_if<ir::BuiltinExpr>(&node)) each(builtin->args);
  if (auto* construct = std::get_if<ir::Construct>(&node)) each(construct->args);
  if (auto* binary = std::get_if<ir::Binary>(&node)) {
    replace(binary->left);
    replace(binary->right);
  }
  if (auto* select = std::get_if<ir::Select>(&node)) {
    replace(select->condition);
    replace(select->yes);
    replace(select->no);
  }
  return builder_.make(expr.type, std::move(node), expr.where);
}

/// A constant's copy, computed as written; other variables are themselves.
const Variable* Carrier::again(const Variable* variable) {
  if (!constants_.contains(variable)) return variable;
  const Form form = formOf(variable);
  const Variable*& copy = copies_[std::pair(form.kind, form.uniform ? 0 : form.shift)];
  if (copy == nullptr || copy->type != variable->type) {
    Variable* fresh = builder_.variable("first", variable->type);
    builder_.declare(*out_, fresh, again(valueOf(variable)));
    // Copying the operands may have moved the map's element.
    return copies_[std::pair(form.kind, form.uniform ? 0 : form.shift)] = fresh;
  }
  return copy;
}

/// What the step before would have kept. Only the last lanes are used, as many as the furthest
/// variable lies back: they are its first ones.
Block* Carrier::starts() {
  out_ = builder_.block();
  for (const Variable* leader : order_) {
    const auto found = keepers_.find(leader);
    if (found == keepers_.end()) continue;
    const Keeper& keeper = found->second;
    const Expr* furthest = builder_.ref(again(keeper.furthest));
    ir::Construct lanes;
    for (int lane = 0; lane < lanes_; ++lane) {
      const auto from = static_cast<std::uint8_t>((lane + keeper.distance) % lanes_);
      lanes.args.push_back(builder_.make(leader->type.element(), ir::Component{furthest, {from}}));
    }
    builder_.assign(*out_, builder_.ref(keeper.before),
                    builder_.make(leader->type, std::move(lanes)));
  }
  return out_;
}

Carried Carrier::run() {
  if (!collect()) return {};
  kinds_.emplace("x", 0);
  chooseLeaders();
  if (leaders_.empty()) return {};
  out_ = builder_.block();
  const auto operands = [&](const Stmt& stmt) {
    ir::forEachExpr(stmt, [&](const Expr& expr) { emitOperands(expr); });
  };
  for (auto it = body_.stmts.begin(); it != body_.stmts.end(); ++it) {
    const auto* declare = (*it)->as<ir::Declare>();
    if (declare != nullptr && constants_.contains(declare->variable)) {
      // Constants wait until they are needed, unless they are made from what changes.
      if (formOf(declare->variable).kind < 0) emit(declare->variable);
      continue;
    }
    // Stores in a row come after all that they need.
    for (auto next = it; next != body_.stmts.end() && isStore(**next); ++next) operands(**next);
    operands(**it);
    out_->stmts.push_back(*it);
  }
  if (result_.kept.empty()) return {};
  for (const Variable* variable : order_) {
    const auto keeper = keepers_.find(variable);
    if (keeper != keepers_.end())
      builder_.assign(*out_, builder_.ref(keeper->second.before), builder_.ref(variable));
  }
  Block* main = out_;
  result_.expected = builder_.variable("expected", x_->type);
  const Expr* expected = builder_.ref(result_.expected);
  const Expr* here = builder_.ref(x_);
  builder_.assign(*main, expected, builder_.add(here, lanes_));
  result_.body = builder_.block();
  builder_.statement(*result_.body,
                     ir::If{builder_.binary(BinaryOp::Ne, here, expected), starts(), nullptr});
  result_.body->stmts.insert(result_.body->stmts.end(), main->stmts.begin(), main->stmts.end());
  return result_;
}

}  // namespace

Carried carry(const Source& source, Builder& builder, const Block& body, const Variable* x,
              int lanes, const std::unordered_set<const Variable*>& elements) {
  if (lanes < 2) return {};
  return Carrier(source, builder, body, x, lanes, elements).run();
}

}  // namespace hpl::strategies::detail
