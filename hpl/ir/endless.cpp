// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/endless.h"

#include <algorithm>
#include <vector>

#include "hpl/ir/walk.h"

namespace hpl::ir {

namespace {

/// The variables that a condition reads; false where it reads memory, which others may change.
bool readsOnly(const Expr& expr, std::vector<const Variable*>& variables) {
  if (expr.as<Access>() != nullptr) return false;
  if (const auto* read = expr.as<VarRef>()) {
    if (read->variable->space == Space::Local) return false;
    variables.push_back(read->variable);
  }
  bool only = true;
  forEachOperand(expr, [&](const Expr& operand) { only = only && readsOnly(operand, variables); });
  return only;
}

bool gives(const Stmt& stmt, const Variable* variable) {
  if (const auto* assign = stmt.as<Assign>()) return rootOf(*assign->target) == variable;
  if (const auto* declare = stmt.as<Declare>()) return declare->variable == variable;
  if (const auto* atomic = stmt.as<Atomic>()) return atomic->result == variable;
  if (const auto* call = stmt.as<Call>()) return call->result == variable;
  if (const auto* call = stmt.as<BuiltinCall>())
    return call->result == variable || call->out == variable;
  return false;
}

template <class Test>
bool anyStatement(const Block& block, const Test& test) {
  return std::any_of(block.stmts.begin(), block.stmts.end(), [&](const Stmt* stmt) {
    bool found = test(*stmt);
    forEachBlock(*stmt, [&](const Block& inner) { found = found || anyStatement(inner, test); });
    return found;
  });
}

}  // namespace

bool mayChange(const Expr& condition, std::span<const Block* const> blocks) {
  std::vector<const Variable*> variables;
  if (!readsOnly(condition, variables)) return true;
  const auto changes = [&](const Stmt& stmt) {
    return std::any_of(variables.begin(), variables.end(),
                       [&](const Variable* variable) { return gives(stmt, variable); });
  };
  return std::any_of(blocks.begin(), blocks.end(), [&](const Block* block) {
    return block != nullptr && anyStatement(*block, changes);
  });
}

bool isLeft(const Block& body) {
  return std::any_of(body.stmts.begin(), body.stmts.end(), [](const Stmt* stmt) {
    if (stmt->as<Break>() != nullptr || stmt->as<Return>() != nullptr) return true;
    const bool isLoop = stmt->as<Loop>() != nullptr || stmt->as<DoLoop>() != nullptr;
    bool found = false;
    forEachBlock(*stmt, [&](const Block& inner) {
      found = found ||
              (isLoop ? anyStatement(inner, [](const Stmt& s) { return s.as<Return>() != nullptr; })
                      : isLeft(inner));
    });
    return found;
  });
}

}  // namespace hpl::ir
