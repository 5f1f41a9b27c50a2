// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_set>

#include "hpl/ir/detail/verify_context.h"

namespace hpl::ir::detail {

/// Checks one function of a kernel, statement by statement. Throws KernelError.
class FunctionVerifier {
 public:
  FunctionVerifier(const Kernel& kernel, const Function& function,
                   const std::unordered_set<const Function*>& defined)
      : defined_(defined), exprs_(context_) {
    context_.kernel = &kernel;
    context_.function = &function;
    context_.where = function.where;
  }

  void run();

 private:
  void signature();
  void parameter(const Variable& param);
  void variable(const Variable& variable);
  void block(const Block* block);
  void statements(const Block* block);
  void statement(const Stmt& stmt);
  void jumpOrBranch(const Stmt& stmt);
  void declare(const Declare& declare);
  void declareLocal(const Declare& declare);
  void bind(const Bind& bind);
  void assign(const Assign& assign);
  void writable(const Variable& variable);
  void jump(const char* name);
  void loop(const Loop& loop);
  void doLoop(const DoLoop& loop);
  void leave(const Return& leave);
  void barrier(const Barrier& barrier);
  void atomic(const Atomic& atomic);
  void ordering(const Atomic& atomic);
  void fence(const Fence& fence);
  void probe(const Probe& probe);
  void call(const Call& call);
  void argument(const Function& callee, const Variable& param, const Expr& arg);
  void arrayArgument(const Function& callee, const Variable& param, const Variable& array);
  void builtinCall(const BuiltinCall& call);
  /// A private variable that a statement stores a value of `type` into.
  void result(const Variable* variable, const Type& type, const std::string& of);

  VerifyContext context_;
  const std::unordered_set<const Function*>& defined_;
  ExprVerifier exprs_;
  std::unordered_set<std::string> names_;
  /// Enclosing loops; 0 inside prepare and step blocks as well, which no jump may leave.
  int loops_ = 0;
  bool returnsValue_ = false;
};

inline std::string quoted(const Variable& variable) { return "'" + variable.name + "'"; }

}  // namespace hpl::ir::detail
