// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/detail/access_state.h"

#include <algorithm>
#include <iterator>

namespace hpl::ir::detail {
namespace {

/// Beyond this many remembered elements new ones are dropped: less precise, never unsound.
constexpr std::size_t kMaxOverwritten = 256;

void addBase(std::vector<const Variable*>& bases, const Variable* base) {
  if (std::find(bases.begin(), bases.end(), base) == bases.end()) bases.push_back(base);
}

/// The binding after `bind` is executed at an unknown moment.
bool widen(Binding& alias, const Bind& bind, const State& state) {
  const std::size_t before = alias.bases.size();
  const Variable* target = bind.target->as<Access>()->array;
  if (const auto found = state.bindings.find(target); found != state.bindings.end()) {
    const std::vector<const Variable*> bases = found->second.bases;  // may be the alias itself
    for (const Variable* base : bases) addBase(alias.bases, base);
  } else {
    addBase(alias.bases, target);
  }
  return alias.bases.size() != before;
}

}  // namespace

void State::setValue(const Variable* variable, const Value& value) {
  if (!isTracked(variable) || value.isUnknown()) {
    values.erase(variable);
  } else {
    values[variable] = value;
  }
}

bool State::hasOverwritten(const Element& element) const {
  return std::find(overwritten.begin(), overwritten.end(), element) != overwritten.end();
}

void State::addOverwritten(Element element) {
  if (overwritten.size() < kMaxOverwritten && !hasOverwritten(element)) {
    overwritten.push_back(std::move(element));
  }
}

Binding join(Binding a, const Binding& b) {
  a.direct = a.direct && b.direct && a.bases == b.bases;
  for (const Variable* base : b.bases) addBase(a.bases, base);
  a.position = join(a.position, b.position);
  return a;
}

State join(State a, const State& b) {
  if (!a.live || !b.live) {
    if (!a.live) a = b;
    a.escaped = true;
    return a;
  }
  a.escaped = a.escaped || b.escaped;
  for (auto entry = a.values.begin(); entry != a.values.end();) {
    const auto other = b.values.find(entry->first);
    if (other != b.values.end()) entry->second = join(entry->second, other->second);
    const bool lost = other == b.values.end() || entry->second.isUnknown();
    entry = lost ? a.values.erase(entry) : std::next(entry);
  }
  // An alias bound on one side only keeps that binding: used after the other side it is an error.
  for (const auto& [variable, binding] : b.bindings) {
    const auto [mine, inserted] = a.bindings.try_emplace(variable, binding);
    if (!inserted) mine->second = join(std::move(mine->second), binding);
  }
  std::erase_if(a.overwritten, [&](const Element& e) { return !b.hasOverwritten(e); });
  return a;
}

void Effects::collect(const Block* block) {
  if (block == nullptr) return;
  for (const Stmt* stmt : block->stmts) collect(*stmt);
}

void Effects::collect(const Stmt& stmt) {
  const auto add = [&](const Variable* variable) {
    if (variable != nullptr) assigned.push_back(variable);
  };
  if (const auto* declare = stmt.as<Declare>()) add(declare->variable);
  if (const auto* bind = stmt.as<Bind>()) binds.push_back(bind);
  if (const auto* assign = stmt.as<Assign>()) {
    if (const auto* ref = assign->target->as<VarRef>()) add(ref->variable);
  }
  if (const auto* atomic = stmt.as<Atomic>()) add(atomic->result);
  if (const auto* call = stmt.as<Call>()) add(call->result);
  if (const auto* call = stmt.as<BuiltinCall>()) {
    add(call->result);
    add(call->out);
  }
  if (const auto* branch = stmt.as<If>()) {
    collect(branch->then);
    collect(branch->otherwise);
  }
  if (const auto* loop = stmt.as<Loop>()) {
    collect(loop->prepare);
    collect(loop->body);
    collect(loop->step);
  }
  if (const auto* loop = stmt.as<DoLoop>()) {
    collect(loop->body);
    collect(loop->prepare);
  }
  if (const auto* block = stmt.as<Block>()) collect(block);
}

long Effects::count(const Variable* variable) const {
  return std::count(assigned.begin(), assigned.end(), variable);
}

void forgetEffects(State& state, const Effects& effects) {
  for (const Variable* variable : effects.assigned) state.forget(variable);
  for (const Bind* bind : effects.binds) {
    Binding& alias = state.bindings[bind->alias];
    alias.position = {};
    alias.direct = false;
  }
  // Aliases of aliases that are rebound as well: until nothing is added.
  for (bool changed = true; changed;) {
    changed = false;
    for (const Bind* bind : effects.binds) {
      changed = widen(state.bindings[bind->alias], *bind, state) || changed;
    }
  }
}

}  // namespace hpl::ir::detail
