// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "hpl/ir/node.h"

namespace hpl::ir {

/// Owns the nodes of one kernel; addresses are stable.
class Arena {
 public:
  const Expr* add(Expr expr) { return &exprs_.emplace_back(std::move(expr)); }
  const Stmt* add(Stmt stmt) { return &stmts_.emplace_back(std::move(stmt)); }
  Block* addBlock() { return &blocks_.emplace_back(); }
  Variable* add(Variable variable) { return &variables_.emplace_back(std::move(variable)); }
  Function* add(Function function) { return &functions_.emplace_back(std::move(function)); }

 private:
  std::deque<Expr> exprs_;
  std::deque<Stmt> stmts_;
  std::deque<Block> blocks_;
  std::deque<Variable> variables_;
  std::deque<Function> functions_;
};

/// Demands of a statement on the work-groups that run it; launches check them.
struct GroupDemand {
  std::string by;  ///< name of the statement
  SourceLocation where;
  /// The group has one work-item in every further dimension.
  int dims = 3;
  /// Work-items of the group; 0: any number.
  std::size_t size = 0;
  /// Divides the number of work-items.
  std::size_t teams = 1;
  /// A local parameter that has an element for each of them; may be null.
  const Variable* scratch = nullptr;
};

/// A captured kernel: a value that can be printed, verified, analysed, interpreted, transformed
/// and emitted. Immutable once built; held by shared_ptr<const Kernel>.
struct Kernel {
  const Function* entry = nullptr;
  /// Functions that the entry calls, directly or not; callees come before their callers.
  std::vector<const Function*> functions;
  std::vector<GroupDemand> groupDemands;
  /// Shared so that transformed kernels may reuse nodes of the original.
  std::shared_ptr<Arena> arena = std::make_shared<Arena>();

  const std::string& name() const { return entry->name; }
  /// The name in messages, profiles and generated code.
  const std::string& title() const { return entry->title.empty() ? entry->name : entry->title; }
};

}  // namespace hpl::ir
