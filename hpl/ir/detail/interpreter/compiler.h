// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <unordered_map>

#include "hpl/ir/detail/interpreter/code.h"
#include "hpl/ir/detail/interpreter/operation.h"
#include "hpl/ir/detail/interpreter/storage.h"

namespace hpl::ir::detail {

/// A prepared function and the row that its result is returned in.
struct FunctionCode {
  const Function* function = nullptr;
  BlockCode body;
  std::byte* result = nullptr;
  std::int64_t resultSize = 0;
};

/// Tells where a place (target of an assignment, or a value to read a part of) starts, and which of
/// its bytes it means.
struct Place {
  const Expr* root = nullptr;
  Pieces pieces;
  /// Where the value begins in the root's; of no meaning for a selection of several lanes.
  std::uint32_t origin = 0;
};

/// Prepares kernels for execution. Throws hpl::KernelError for IR whose types do not fit.
class Compiler {
 public:
  Compiler(const Kernel& kernel, StorageTable& storages) : kernel_(kernel), storages_(storages) {}

  /// The loads that surplus work-items perform; none by default. The caller keeps them.
  void setSurplusLoads(const SurplusLoads& loads) { surplusLoads_ = &loads; }
  /// Prepares the functions and the entry; returns the entry.
  const FunctionCode& compile();

  ExprPtr expr(const Expr& expr);
  StmtPtr stmt(const Stmt& stmt);
  BlockCode block(const Block* block);
  AccessCode access(const Expr& expr);
  AccessCode access(const Access& access, SourceLocation where);
  /// Follows Member and Component to where they start.
  Place place(const Expr& expr) const;
  Storage* storageOf(const Variable* variable) { return storages_.of(variable); }
  const FunctionCode& function(const Function* function, SourceLocation where) const;
  /// The function whose body is being prepared.
  const FunctionCode& current() const { return *current_; }
  [[noreturn]] void malformed(const std::string& what, SourceLocation where) const;
  void require(bool condition, const char* what, SourceLocation where) const {
    if (!condition) malformed(what, where);
  }

 private:
  ExprPtr apply(const Expr& expr, Operation operation, Shape shape, std::vector<ExprPtr> args,
                const std::string& what);
  ExprPtr make(const Expr& expr, const Constant& node);
  ExprPtr make(const Expr& expr, const VarRef& node);
  ExprPtr make(const Expr& expr, const Access& node);
  ExprPtr make(const Expr& expr, const Misalignment& node);
  ExprPtr make(const Expr& expr, const ArrayRef& node);
  ExprPtr make(const Expr& expr, const WorkItem& node);
  ExprPtr make(const Expr& expr, const Unary& node);
  ExprPtr make(const Expr& expr, const Binary& node);
  ExprPtr make(const Expr& expr, const Select& node);
  ExprPtr make(const Expr& expr, const Cast& node);
  ExprPtr make(const Expr& expr, const Component& node);
  ExprPtr make(const Expr& expr, const Member& node);
  ExprPtr make(const Expr& expr, const BuiltinExpr& node);
  ExprPtr make(const Expr& expr, const Construct& node);
  ExprPtr part(const Expr& expr);
  void requireBuiltinTypes(Builtin builtin, const Shape& shape, SourceLocation where) const;

  StmtPtr make(const Stmt& stmt, const Declare& node);
  StmtPtr make(const Stmt& stmt, const Bind& node);
  StmtPtr make(const Stmt& stmt, const Assign& node);
  StmtPtr make(const Stmt& stmt, const If& node);
  StmtPtr make(const Stmt& stmt, const Loop& node);
  StmtPtr make(const Stmt& stmt, const DoLoop& node);
  StmtPtr make(const Stmt& stmt, const Break& node);
  StmtPtr make(const Stmt& stmt, const Continue& node);
  StmtPtr make(const Stmt& stmt, const Return& node);
  StmtPtr make(const Stmt& stmt, const Barrier& node);
  StmtPtr make(const Stmt& stmt, const Atomic& node);
  StmtPtr make(const Stmt& stmt, const Fence& node);
  StmtPtr make(const Stmt& stmt, const Probe& node);
  StmtPtr make(const Stmt& stmt, const Call& node);
  StmtPtr make(const Stmt& stmt, const BuiltinCall& node);
  StmtPtr make(const Stmt& stmt, const Block& node);

  const Kernel& kernel_;
  StorageTable& storages_;
  std::unordered_map<const Function*, std::unique_ptr<FunctionCode>> functions_;
  const SurplusLoads* surplusLoads_ = nullptr;
  const FunctionCode* current_ = nullptr;
  int loopDepth_ = 0;
};

/// `yes` = the active work-items whose condition holds.
void evalCondition(Machine& machine, const ExprCode& condition, ConstMask active, Mask yes);
/// Copies one value per active work-item into private storage.
void writeVariable(Machine& machine, const Storage& storage, ConstMask active, const Pieces& pieces,
                   const std::byte* values, std::int64_t size);
/// A scalar repeated in all lanes, converted to the vector's element type.
ExprPtr splatCode(ExprPtr scalar, const Type& vector);

}  // namespace hpl::ir::detail
