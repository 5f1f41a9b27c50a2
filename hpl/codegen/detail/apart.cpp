// SPDX-License-Identifier: Apache-2.0
// Blocks that are written as functions of their own.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "hpl/codegen/detail/types.h"
#include "hpl/codegen/detail/writer.h"
#include "hpl/ir/walk.h"

namespace hpl::codegen::detail {
namespace {

using ir::Block;
using ir::Expr;
using ir::Stmt;
using ir::Variable;

/// The variables that a block takes from the code around it.
class Captures {
 public:
  explicit Captures(const Block& block) { visit(block); }

  /// It only reads what it takes, and ends where it ends.
  bool isSeparable() const { return isSeparable_; }
  const std::vector<const Variable*>& variables() const { return variables_; }
  const std::vector<ir::WorkItem>& queries() const { return queries_; }

 private:
  void visit(const Block& block) {
    for (const Stmt* stmt : block.stmts) visit(*stmt);
  }

  void visit(const Stmt& stmt) {
    if (const auto* declare = stmt.as<ir::Declare>()) {
      const Variable& variable = *declare->variable;
      own_.insert(&variable);
      need(variable.role == ir::Role::Declared && variable.space == ir::Space::Private);
    } else if (const auto* assign = stmt.as<ir::Assign>()) {
      const Variable* root = ir::rootOf(*assign->target);
      need(own_.contains(root) || root->role == ir::Role::ArrayParam);
    } else {
      // Jumps out of the block, and what concerns the whole work-item or other functions.
      need(stmt.as<ir::If>() != nullptr || stmt.as<ir::Loop>() != nullptr ||
           stmt.as<ir::DoLoop>() != nullptr || stmt.as<Block>() != nullptr);
    }
    ir::forEachExpr(stmt, [this](const Expr& expr) { visit(expr); });
    ir::forEachBlock(stmt, [this](const Block& inner) { visit(inner); });
  }

  void visit(const Expr& expr) {
    if (const auto* ref = expr.as<ir::VarRef>()) take(*ref->variable);
    if (const auto* access = expr.as<ir::Access>()) take(*access->array);
    if (const auto* whole = expr.as<ir::ArrayRef>()) take(*whole->array);
    if (const auto* item = expr.as<ir::WorkItem>()) {
      const bool isNew = std::none_of(queries_.begin(), queries_.end(), [&](const auto& known) {
        return known.query == item->query && known.dim == item->dim;
      });
      if (isNew) queries_.push_back(*item);
    }
    ir::forEachOperand(expr, [this](const Expr& operand) { visit(operand); });
  }

  void take(const Variable& variable) {
    if (own_.contains(&variable) || !taken_.insert(&variable).second) return;
    need(variable.role == ir::Role::ArrayParam ||
         (variable.rank == 0 && variable.space == ir::Space::Private));
    need(variable.type.scalar != ir::Scalar::Half && variable.type.scalar != ir::Scalar::Bool);
    variables_.push_back(&variable);
  }

  void need(bool condition) { isSeparable_ = isSeparable_ && condition; }

  bool isSeparable_ = true;
  std::unordered_set<const Variable*> own_;
  std::unordered_set<const Variable*> taken_;
  std::vector<const Variable*> variables_;
  std::vector<ir::WorkItem> queries_;
};

}  // namespace

void FunctionWriter::functionApart(const std::string& name, const std::vector<std::string>& params,
                                   const Block& body) {
  Text around;
  std::swap(session_.text, around);
  const std::string wide = session_.options.vectorBits > 0 ? "hpl_wide " : "";
  signature(wide + "hpl_apart void " + name + '(', params);
  nested(&body);
  session_.text.line("}");
  session_.text.endLine();
  std::swap(session_.text, around);
  session_.apart += around.out();
}

// Everything keeps its name: the function's parameters are called like what they are given.
bool FunctionWriter::apart(const Block& inner) {
  if (!isKernel_ || session_.masked || session_.options.checkBounds) return false;
  const Captures captures(inner);
  if (!captures.isSeparable()) return false;
  std::vector<std::string> params;
  std::vector<std::string> args;
  const auto pass = [&](const std::string& name, const std::string& declaration) {
    if (std::find(args.begin(), args.end(), name) != args.end()) return;
    params.push_back(declaration);
    args.push_back(name);
  };
  for (const ir::WorkItem& item : captures.queries()) {
    const std::string name(queryName(item.query, item.dim));
    pass(name, "const ulong " + name);
  }
  for (const Variable* variable : captures.variables()) {
    const VariableNames& own = names(variable);
    if (variable->role != ir::Role::ArrayParam) {
      pass(own.name, "const " + spell(variable->type) + ' ' + own.name);
      continue;
    }
    pass(own.name, pointerTo(*variable, own.name));
    for (const std::string& stride : own.strides) pass(stride, "const ulong " + stride);
  }
  const std::string name = session_.globals.claim(session_.functionNames.at(&function_) + "_block");
  functionApart(name, params, inner);
  std::string& line = session_.text.beginLine();
  line += name + '(';
  for (std::size_t i = 0; i < args.size(); ++i) line += (i > 0 ? ", " : "") + args[i];
  line += ");";
  session_.text.endLine();
  return true;
}

// Hidden parts of a launch stay with the kernel; local variables are arrays of one dimension, which
// a pointer stands for.
bool FunctionWriter::bodyMayBeApart() const {
  const EmitOptions& options = session_.options;
  return options.bodiesApart && options.guardDims == 0 && options.sliceDims == 0 &&
         !options.checkBounds && !usage_.hasBarrier && !usage_.hasProbes &&
         std::all_of(usage_.locals.begin(), usage_.locals.end(),
                     [](const Variable* local) { return local->rank == 1; });
}

// Everything keeps its name here, too.
void FunctionWriter::bodyApart() {
  std::vector<std::string> params;
  std::string args;
  const auto pass = [&](const std::string& declaration, std::string_view name) {
    params.push_back(declaration);
    if (!args.empty()) args += ", ";
    args += name;
  };
  for (const Variable* param : function_.params) {
    const VariableNames& own = names(param);
    if (param->role != ir::Role::ArrayParam) {
      pass(scalarParameter(*param, false), own.name);
      continue;
    }
    pass(pointerTo(*param, isAlone(*param) ? "restrict " + own.name : own.name), own.name);
    if (stridesFrom(*param) == nullptr)
      for (const std::string& stride : own.strides) pass("const ulong " + stride, stride);
  }
  for (const Variable* local : usage_.locals) pass(localPointer(*local), names(local).name);
  for (int query = 0; query < static_cast<int>(ir::kQueries); ++query)
    for (int d = 0; d < 3; ++d)
      if (const auto found = queryNames_.find(queryKey(query, d));
          found != queryNames_.end() && query != static_cast<int>(ir::Query::Origin))
        pass("const ulong " + found->second, found->second);
  for (int d = 0; d < 3; ++d)
    if ((usage_.origins >> d & 1) != 0) pass("const ulong " + originName(d), originName(d));
  const std::string name = session_.globals.claim(session_.functionNames.at(&function_) + "_body");
  functionApart(name, params, *function_.body);
  session_.text.line(name + '(' + args + ");");
}

}  // namespace hpl::codegen::detail
