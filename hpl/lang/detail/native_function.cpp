// SPDX-License-Identifier: Apache-2.0
#include "hpl/lang/detail/capture.h"
#include "hpl/lang/detail/capture_state.h"

namespace hpl::detail {
namespace {

/// For analyses: the function reads one element behind each pointer, nobody knows which, and writes
/// it perhaps.
void recordEffects(const ir::Function& function, Node anything) {
  for (const ir::Variable* param : function.params) {
    if (param->role != ir::Role::Alias) continue;
    const Node element = accessNode(param, &anything, 1);
    const Symbol value = declareVariable(param->type, ir::Space::Private, 0, nullptr, element);
    if (param->readOnly) continue;
    beginIf(anything);
    assignNode(element, variableNode(value));
    endBlock();
  }
}

}  // namespace

const ir::Function* nativeFunction(const FunctionKey& key, const ir::NativeCode& code,
                                   const ir::Type& result, const NativeParameter* params,
                                   std::size_t count) {
  if (const ir::Function* known = findFunction(key)) return known;
  Capture& capture = Capture::current();
  beginFunction(key);
  capture.makeNative(code);
  ir::Function function;
  for (std::size_t i = 0; i < count; ++i) {
    const NativeParameter& param = params[i];
    if (!param.isPointer) {
      function.params.push_back(scalarParameter(param.type));
      continue;
    }
    ir::Variable* pointer =
        capture.newParameter(param.type, spaceOfCode(key.spaces[i]), 1, ir::Role::Alias);
    pointer->readOnly = param.readOnly;
    function.params.push_back(pointer);
  }
  const Symbol anything =
      declareVariable(ir::Type{ir::Scalar::Int}, ir::Space::Private, 0, nullptr, nullptr);
  recordEffects(function, variableNode(anything));
  return endFunction(result, result.isVoid() ? nullptr : castNode(variableNode(anything), result));
}

}  // namespace hpl::detail
