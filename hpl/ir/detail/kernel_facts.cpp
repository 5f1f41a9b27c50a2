// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/detail/kernel_facts.h"

#include <algorithm>
#include <unordered_set>

#include "hpl/ir/walk.h"

namespace hpl::ir::detail {
namespace {

class FactCollector {
 public:
  explicit FactCollector(AccessSummary& summary) : summary_(summary) {}

  void function(const Function& function) {
    type(function.result);
    for (const Variable* param : function.params) variable(param);
    block(function.body);
  }

 private:
  void type(const Type& type) {
    if (type.scalar == Scalar::Double) summary_.needsDouble = true;
    if (type.scalar == Scalar::Half) summary_.needsHalf = true;
    if (!type.isStruct() || !structs_.insert(type.structure).second) return;
    for (const Field& field : type.structure->fields) this->type(field.type);
  }

  void variable(const Variable* variable) {
    if (variable == nullptr) return;
    type(variable->type);
    if (variable->space == Space::Local) summary_.usesLocalMemory = true;
  }

  void declare(const Variable* variable) {
    this->variable(variable);
    if (variable->space != Space::Local || variable->role != Role::Declared) return;
    summary_.localArrays.push_back(variable);
    std::size_t bytes = sizeOf(variable->type);
    for (const std::int64_t extent : variable->extents) bytes *= static_cast<std::size_t>(extent);
    const std::size_t alignment = std::max<std::size_t>(1, alignmentOf(variable->type));
    const std::size_t begin = (summary_.localBytes + alignment - 1) / alignment * alignment;
    summary_.localBytes = begin + bytes;
  }

  void all(const std::vector<const Expr*>& exprs) {
    for (const Expr* e : exprs) expr(e);
  }

  void query(const WorkItem& item) {
    summary_.maxAxis = std::max<int>(summary_.maxAxis, item.dim);
    if (item.query == Query::GlobalSize) {
      summary_.usesGlobalSize = true;
    } else if (item.query != Query::GlobalId && item.query != Query::Origin) {
      summary_.usesLocalIdOrGroup = true;
    }
  }

  void expr(const Expr* expr) {
    if (expr == nullptr || (!isLeaf(*expr) && !seen_.insert(expr).second)) return;
    type(expr->type);
    if (const auto* item = expr->as<WorkItem>()) query(*item);
    if (const auto* access = expr->as<Access>()) all(access->indices);
    if (const auto* address = expr->as<Misalignment>()) all(address->place.indices);
    if (const auto* unary = expr->as<Unary>()) this->expr(unary->operand);
    if (const auto* binary = expr->as<Binary>()) all({binary->left, binary->right});
    if (const auto* select = expr->as<Select>()) all({select->condition, select->yes, select->no});
    if (const auto* conversion = expr->as<Cast>()) this->expr(conversion->operand);
    if (const auto* component = expr->as<Component>()) this->expr(component->base);
    if (const auto* member = expr->as<Member>()) this->expr(member->base);
    if (const auto* call = expr->as<BuiltinExpr>()) all(call->args);
    if (const auto* construct = expr->as<Construct>()) all(construct->args);
  }

  void block(const Block* block) {
    if (block == nullptr) return;
    for (const Stmt* stmt : block->stmts) statement(*stmt);
  }

  void statement(const Stmt& stmt) {
    if (const auto* node = stmt.as<Declare>()) {
      declare(node->variable);
      expr(node->init);
    } else if (const auto* node = stmt.as<Bind>()) {
      variable(node->alias);
      expr(node->target);
    } else if (const auto* node = stmt.as<Assign>()) {
      all({node->target, node->value});
    } else if (const auto* node = stmt.as<If>()) {
      expr(node->condition);
      block(node->then);
      block(node->otherwise);
    } else if (const auto* node = stmt.as<Loop>()) {
      block(node->prepare);
      expr(node->condition);
      block(node->body);
      block(node->step);
    } else if (const auto* node = stmt.as<DoLoop>()) {
      block(node->body);
      block(node->prepare);
      expr(node->condition);
    } else {
      effect(stmt);
    }
  }

  void effect(const Stmt& stmt) {
    if (const auto* node = stmt.as<Return>()) {
      expr(node->value);
    } else if (stmt.as<Barrier>() != nullptr) {
      summary_.usesBarrier = true;
    } else if (stmt.as<Fence>() != nullptr) {
      summary_.usesAtomics = true;
    } else if (const auto* node = stmt.as<Atomic>()) {
      summary_.usesAtomics = true;
      variable(node->result);
      expr(node->target);
      all(node->operands);
    } else if (const auto* node = stmt.as<Call>()) {
      variable(node->result);
      all(node->args);
    } else if (const auto* node = stmt.as<BuiltinCall>()) {
      variable(node->result);
      variable(node->out);
      all(node->args);
    } else if (const auto* node = stmt.as<Probe>()) {
      summary_.usesProbe = true;
      expr(node->value);
    } else if (const auto* node = stmt.as<Block>()) {
      block(node);
    }
  }

  AccessSummary& summary_;
  std::unordered_set<const Expr*> seen_;
  std::unordered_set<const StructType*> structs_;
};

}  // namespace

void collectFacts(const Kernel& kernel, AccessSummary& summary) {
  FactCollector collector(summary);
  for (const Function* function : kernel.functions) collector.function(*function);
  collector.function(*kernel.entry);
}

}  // namespace hpl::ir::detail
