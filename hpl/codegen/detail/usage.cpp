// SPDX-License-Identifier: Apache-2.0
#include "hpl/codegen/detail/usage.h"

#include <algorithm>
#include <utility>

#include "hpl/codegen/detail/types.h"
#include "hpl/error.h"
#include "hpl/ir/walk.h"

namespace hpl::codegen::detail {
namespace {

using ir::Scalar;
using ir::Space;
using ir::Variable;

class UsageScanner {
 public:
  UsageScanner(const ir::Kernel& kernel, Usage& usage) : kernel_(kernel), usage_(usage) {}

  void scan(const ir::Function& function) {
    current_ = &usage_.functions[&function];
    aliases_.clear();
    addType(function.result);
    for (const Variable* param : function.params) addVariable(*param);
    block(*function.body);
    propagateWrites();
  }

 private:
  void block(const ir::Block& block) {
    for (const ir::Stmt* stmt : block.stmts) statement(*stmt);
  }

  void statement(const ir::Stmt& stmt) {
    if (stmt.as<ir::Probe>() != nullptr) current_->hasProbes = true;
    forEachExpr(stmt, [this](const ir::Expr& expr) { expression(expr); });
    if (const auto* declare = stmt.as<ir::Declare>()) {
      addVariable(*declare->variable);
      if (declare->variable->space == Space::Local &&
          declare->variable->role == ir::Role::Declared) {
        addLocal(declare->variable);
      }
    } else if (const auto* bind = stmt.as<ir::Bind>()) {
      aliases_.emplace_back(bind->alias, rootOf(*bind->target));
    } else if (const auto* assign = stmt.as<ir::Assign>()) {
      usage_.written.insert(rootOf(*assign->target));
    } else if (const auto* atomic = stmt.as<ir::Atomic>()) {
      usage_.written.insert(rootOf(*atomic->target));
      current_->touchesShared = true;
      if (ir::sizeOf(atomic->target->type.scalar) == 8) {
        usage_.wideAtomic = atomic;
        usage_.wideAtomicAt = stmt.where;
      }
      if (atomic->result != nullptr) usage_.written.insert(atomic->result);
    } else if (const auto* call = stmt.as<ir::Call>()) {
      this->call(*call);
    } else if (const auto* builtin = stmt.as<ir::BuiltinCall>()) {
      usage_.written.insert(builtin->result);
      usage_.written.insert(builtin->out);
      usage_.mentioned.insert(builtin->out);
    } else if (stmt.as<ir::Barrier>() != nullptr) {
      current_->hasBarrier = true;
    }
    forEachBlock(stmt, [this](const ir::Block& inner) { block(inner); });
  }

  void call(const ir::Call& call) {
    // Callees were scanned before their callers.
    const FunctionUsage& callee = usage_.of(call.function);
    current_->globalSizes |= callee.globalSizes;
    current_->globalIds |= callee.globalIds;
    current_->origins |= callee.origins;
    current_->hasBarrier |= callee.hasBarrier;
    current_->touchesShared |= callee.touchesShared;
    current_->hasAccesses |= callee.hasAccesses;
    current_->hasProbes |= callee.hasProbes;
    for (const Variable* local : callee.locals) addLocal(local);
    if (call.result != nullptr) usage_.written.insert(call.result);
    for (std::size_t i = 0; i < call.args.size(); ++i) {
      const auto* whole = call.args[i]->as<ir::ArrayRef>();
      if (whole == nullptr) continue;
      if (usage_.written.count(call.function->params[i]) != 0) usage_.written.insert(whole->array);
    }
  }

  void expression(const ir::Expr& expr) {
    addType(expr.type);
    if (const auto* ref = expr.as<ir::VarRef>()) {
      usage_.mentioned.insert(ref->variable);
    } else if (const auto* access = expr.as<ir::Access>()) {
      current_->hasAccesses = true;
      if (isShared(*access->array)) current_->touchesShared = true;
    } else if (const auto* item = expr.as<ir::WorkItem>()) {
      const auto bit = static_cast<std::uint8_t>(1u << item->dim);
      current_->queries[static_cast<std::size_t>(item->query)] |= bit;
      if (item->query == ir::Query::GlobalSize) current_->globalSizes |= bit;
      if (item->query == ir::Query::GlobalId) current_->globalIds |= bit;
      if (item->query == ir::Query::Origin) current_->origins |= bit;
    } else if (const auto* binary = expr.as<ir::Binary>()) {
      const bool isDouble = binary->left->type.scalar == Scalar::Double;
      if (binary->left->type.complex && binary->op == ir::BinaryOp::Mul) {
        usage_.multipliesComplex[isDouble] = true;
      } else if (binary->left->type.complex && binary->op == ir::BinaryOp::Div) {
        usage_.dividesComplex[isDouble] = true;
      }
    }
    forEachOperand(expr, [this](const ir::Expr& operand) { expression(operand); });
  }

  void addLocal(const Variable* local) {
    std::vector<const Variable*>& locals = current_->locals;
    if (std::find(locals.begin(), locals.end(), local) == locals.end()) locals.push_back(local);
  }

  void addVariable(const Variable& variable) {
    addType(variable.type);
    const bool isValue = variable.rank == 0;
    if (isHalf(variable.type) && variable.type.isVector() && isValue) usage_.halfVector = &variable;
  }

  void addType(const ir::Type& type) {
    if (type.isStruct()) return addStruct(*type.structure);
    if (type.scalar == Scalar::Double) usage_.needsDouble = true;
    if (type.scalar == Scalar::Half) usage_.needsHalf = true;
    if (type.scalar == Scalar::Bool && type.isVector()) {
      throw KernelError("Kernel '" + kernel_.title() +
                        "' uses a vector of bool, which OpenCL C does not have; use a vector of "
                        "char or int instead.");
    }
  }

  void addStruct(const ir::StructType& type) {
    std::vector<const ir::StructType*>& structs = usage_.structs;
    if (std::find(structs.begin(), structs.end(), &type) != structs.end()) return;
    for (const ir::Field& field : type.fields) addType(field.type);
    structs.push_back(&type);
  }

  // A write through an alias is a write to whatever the alias may point into.
  void propagateWrites() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [alias, base] : aliases_) {
        if (usage_.written.count(alias) != 0) changed |= usage_.written.insert(base).second;
      }
    }
  }

  const ir::Kernel& kernel_;
  Usage& usage_;
  FunctionUsage* current_ = nullptr;
  std::vector<std::pair<const Variable*, const Variable*>> aliases_;
};

}  // namespace

Usage findUsage(const ir::Kernel& kernel) {
  Usage usage;
  usage.functions.reserve(kernel.functions.size() + 1);
  UsageScanner scanner(kernel, usage);
  for (const ir::Function* function : kernel.functions) scanner.scan(*function);
  scanner.scan(*kernel.entry);
  return usage;
}

}  // namespace hpl::codegen::detail
