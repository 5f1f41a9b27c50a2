// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_set>

#include "hpl/ir/kernel.h"

namespace hpl::ir::detail {

/// The verifier's knowledge at one place of one function.
struct VerifyContext {
  const Kernel* kernel = nullptr;
  const Function* function = nullptr;
  /// The location of the nearest node around that has one.
  SourceLocation where;
  /// Variables that are declared here: parameters and those of the enclosing blocks.
  std::unordered_set<const Variable*> visible;
  /// Aliases bound by an earlier statement.
  std::unordered_set<const Variable*> bound;

  bool isEntry() const { return function == kernel->entry; }
  /// Throws hpl::KernelError: "kernel 'k', function 'f', file:line: <rule>".
  [[noreturn]] void fail(const std::string& rule) const;
  void require(bool condition, const char* rule) const {
    if (!condition) fail(rule);
  }
};

/// Checks expressions of one function; each node once, however often it is shared.
class ExprVerifier {
 public:
  explicit ExprVerifier(VerifyContext& context) : context_(context) {}

  /// A value: anything but an ArrayRef.
  void value(const Expr* expr);
  /// A value of the given type; `what` begins the message ("the initial value of x").
  void value(const Expr* expr, const Type& type, const std::string& what);
  /// The condition of a statement or of `?:`.
  void condition(const Expr* expr, const char* statement);
  /// The variable is declared here (and an alias is bound).
  void use(const Variable* variable) const;

 private:
  void check(const Expr& expr);
  void checkConstant(const Expr& expr);
  void checkVarRef(const Expr& expr, const VarRef& ref);
  void checkPlace(const Expr& expr, const Access& access);
  void checkAccess(const Expr& expr, const Access& access);
  void checkUnary(const Expr& expr, const Unary& unary);
  void checkBinary(const Expr& expr, const Binary& binary);
  void checkPredicate(const Expr& expr, const Binary& binary);
  void checkSelect(const Expr& expr, const Select& select);
  void checkCast(const Expr& expr, const Cast& cast);
  void checkComponent(const Expr& expr, const Component& component);
  void checkMember(const Expr& expr, const Member& member);
  void checkConstruct(const Expr& expr, const Construct& construct);
  void checkBuiltin(const Expr& expr, const BuiltinExpr& call);

  VerifyContext& context_;
  std::unordered_set<const Expr*> seen_;
};

/// Empty, or why no value may have this type.
std::string invalidType(const Type& type);
/// Built-ins that have an out-pointer belong into BuiltinCall statements.
bool hasOutPointer(Builtin builtin);
/// The out-pointer's type, given the first argument's.
Type outType(Builtin builtin, const Type& argument);
/// Empty, or what is wrong with the arguments of a built-in whose value has type `result`.
std::string invalidBuiltin(Builtin builtin, const std::vector<const Expr*>& args,
                           const Type& result);

}  // namespace hpl::ir::detail
