// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/verifier.h"

#include <string>
#include <unordered_set>

#include "hpl/error.h"
#include "hpl/ir/detail/verify_context.h"
#include "hpl/ir/detail/verify_function.h"

namespace hpl::ir {
namespace {

using detail::VerifyContext;

/// Functions whose bodies are being searched for calls.
class CallGraph {
 public:
  explicit CallGraph(const Kernel& kernel) : kernel_(kernel) {}

  void visit(const Function* function) {
    active_.insert(function);
    block(function, function->body);
    active_.erase(function);
    done_.insert(function);
  }

 private:
  void block(const Function* caller, const Block* block) {
    if (block == nullptr) return;
    for (const Stmt* stmt : block->stmts) statement(caller, *stmt);
  }
  void statement(const Function* caller, const Stmt& stmt) {
    if (const auto* node = stmt.as<Call>()) call(caller, *node, stmt.where);
    if (const auto* node = stmt.as<Block>()) block(caller, node);
    if (const auto* node = stmt.as<If>()) {
      block(caller, node->then);
      block(caller, node->otherwise);
    }
    if (const auto* node = stmt.as<Loop>()) {
      for (const Block* part : {node->prepare, node->body, node->step}) block(caller, part);
    }
    if (const auto* node = stmt.as<DoLoop>()) {
      for (const Block* part : {node->body, node->prepare}) block(caller, part);
    }
  }
  void call(const Function* caller, const Call& call, const SourceLocation& where) {
    VerifyContext context;
    context.kernel = &kernel_;
    context.function = caller;
    context.where = where;
    context.require(call.function != nullptr, "a call without a function");
    if (active_.contains(call.function)) {
      context.fail("function '" + call.function->name +
                   "' calls itself, directly or not; OpenCL C has no recursion, use a loop");
    }
    if (!done_.contains(call.function)) visit(call.function);
  }

  const Kernel& kernel_;
  std::unordered_set<const Function*> active_;
  std::unordered_set<const Function*> done_;
};

void verifyFunctionList(const Kernel& kernel, const VerifyContext& context) {
  std::unordered_set<std::string> names{kernel.entry->name};
  for (const Function* function : kernel.functions) {
    context.require(function != nullptr, "a function is missing from the kernel's list");
    if (!names.insert(function->name).second) {
      context.fail("two functions are named '" + function->name + "'; rename one");
    }
  }
}

}  // namespace

void verify(const Kernel& kernel) {
  if (kernel.entry == nullptr) throw KernelError("the kernel has no entry function");
  VerifyContext context;
  context.kernel = &kernel;
  context.function = kernel.entry;
  context.where = kernel.entry->where;
  CallGraph(kernel).visit(kernel.entry);
  verifyFunctionList(kernel, context);
  std::unordered_set<const Function*> defined;
  for (const Function* function : kernel.functions) {
    detail::verifyFunction(kernel, *function, defined);
    defined.insert(function);
  }
  detail::verifyFunction(kernel, *kernel.entry, defined);
}

}  // namespace hpl::ir
