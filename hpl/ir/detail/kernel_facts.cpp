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
    if (function.body != nullptr) block(*function.body);
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

  void query(const WorkItem& item) {
    summary_.maxAxis = std::max<int>(summary_.maxAxis, item.dim);
    if (item.query == Query::GlobalSize) {
      summary_.usesGlobalSize = true;
    } else if (item.query != Query::GlobalId && item.query != Query::Origin) {
      summary_.usesLocalIdOrGroup = true;
      summary_.usesGroupId =
          summary_.usesGroupId || item.query == Query::GroupId || item.query == Query::NumGroups;
    }
  }

  void expr(const Expr& expr) {
    if (!isLeaf(expr) && !seen_.insert(&expr).second) return;
    type(expr.type);
    if (const auto* item = expr.as<WorkItem>()) query(*item);
    forEachOperand(expr, [this](const Expr& operand) { this->expr(operand); });
  }

  void block(const Block& block) {
    for (const Stmt* stmt : block.stmts) statement(*stmt);
  }

  void statement(const Stmt& stmt) {
    if (const auto* node = stmt.as<Declare>()) {
      declare(node->variable);
    } else if (const auto* node = stmt.as<Bind>()) {
      variable(node->alias);
    } else if (stmt.as<Barrier>() != nullptr) {
      summary_.usesBarrier = true;
    } else if (stmt.as<Fence>() != nullptr) {
      summary_.usesAtomics = true;
    } else if (const auto* node = stmt.as<Atomic>()) {
      summary_.usesAtomics = true;
      variable(node->result);
    } else if (const auto* node = stmt.as<Call>()) {
      variable(node->result);
    } else if (const auto* node = stmt.as<BuiltinCall>()) {
      variable(node->result);
      variable(node->out);
    } else if (stmt.as<Probe>() != nullptr) {
      summary_.usesProbe = true;
    }
    forEachExpr(stmt, [this](const Expr& part) { expr(part); });
    forEachBlock(stmt, [this](const Block& inner) { block(inner); });
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
