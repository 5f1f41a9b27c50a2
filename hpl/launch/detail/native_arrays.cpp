// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/native_arrays.h"

#include "hpl/ir/walk.h"

namespace hpl::launch {
namespace {

using Arrays = std::unordered_set<const ir::Variable*>;

void collect(const ir::Block& block, Arrays& arrays) {
  for (const ir::Stmt* stmt : block.stmts) {
    ir::forEachBlock(*stmt, [&](const ir::Block& inner) { collect(inner, arrays); });
    const auto* call = stmt->as<ir::Call>();
    if (call == nullptr) continue;
    for (std::size_t i = 0; i < call->args.size(); ++i) {
      const auto* whole = call->args[i]->as<ir::ArrayRef>();
      if (whole == nullptr) continue;
      if (call->function->native != nullptr || arrays.contains(call->function->params[i]))
        arrays.insert(whole->array);
    }
  }
}

}  // namespace

std::unordered_set<const ir::Variable*> arraysOfNativeFunctions(const ir::Kernel& kernel) {
  Arrays arrays;
  // Callees come before their callers.
  for (const ir::Function* function : kernel.functions)
    if (function->native == nullptr) collect(*function->body, arrays);
  collect(*kernel.entry->body, arrays);
  return arrays;
}

}  // namespace hpl::launch
