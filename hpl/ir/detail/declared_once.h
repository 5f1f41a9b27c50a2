// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_map>

#include "hpl/ir/detail/access_state.h"
#include "hpl/ir/walk.h"

namespace hpl::ir::detail {

/// The scalars of a function that are declared with a value and never have another one.
class DeclaredOnce {
 public:
  explicit DeclaredOnce(const Function& function) {
    effects_.collect(function.body);
    note(*function.body);
  }

  /// The expression with which the variable is declared; null where it may have another value.
  const Expr* valueOf(const Variable* variable) const {
    const auto found = values_.find(variable);
    return found != values_.end() && effects_.count(variable) == 1 ? found->second : nullptr;
  }
  /// For parameters: whether the function gives it another value.
  bool isAssigned(const Variable* variable) const { return effects_.count(variable) != 0; }

 private:
  void note(const Block& block) {
    for (const Stmt* stmt : block.stmts) {
      const auto* declare = stmt->as<Declare>();
      if (declare != nullptr && declare->init != nullptr && declare->variable->rank == 0)
        values_[declare->variable] = declare->init;
      forEachBlock(*stmt, [this](const Block& inner) { note(inner); });
    }
  }

  Effects effects_;
  std::unordered_map<const Variable*, const Expr*> values_;
};

}  // namespace hpl::ir::detail
