// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "hpl/error.h"
#include "hpl/lang/capture.h"
#include "hpl/lang/capture_state.h"

namespace hpl::detail {
namespace {

/// For analyses: the function reads an unknown element behind each pointer, and may write it.
void recordEffects(const ir::Function& function, const NativeParameter* params, Node anything) {
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    const ir::Variable* param = function.params[i];
    if (param->role != ir::Role::Alias) continue;
    const Node element = accessNode(param, &anything, 1);
    const Symbol value = declareVariable(param->type, ir::Space::Private, 0, nullptr,
                                         params[i].writeOnly ? nullptr : element);
    if (param->readOnly) continue;
    beginIf(anything);
    assignNode(element, variableNode(value));
    endBlock();
  }
}

/// One code may stand for functions that differ in their parameters.
FunctionKey withSignature(FunctionKey key, const ir::Type& result, const NativeParameter* params,
                          std::size_t count) {
  key.spaces += ir::describe(result);
  for (std::size_t i = 0; i < count; ++i) {
    key.spaces += params[i].readOnly ? " in " : params[i].writeOnly ? " out " : " ";
    key.spaces += ir::describe(params[i].type);
  }
  return key;
}

void checkSpaces(const FunctionKey& key, const ir::NativeCode& code, const NativeParameter* params,
                 std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const ir::Space wanted = params[i].space;
    if (!params[i].isPointer || (wanted != ir::Space::Local && wanted != ir::Space::Constant))
      continue;
    if (spaceOfCode(key.spaces[i]) != wanted)
      throw KernelError("argument " + std::to_string(i + 1) + " of native function '" + code.name +
                        "' must be an array in " + ir::toString(wanted) +
                        " memory, as its C++ parameter says");
  }
}

struct NativeBodies {
  std::mutex mutex;
  std::unordered_map<const void*, NativeBody> bodies;
  /// Functions whose bodies, C++ ones included, are part of kernels.
  std::unordered_set<const void*> asked;

  /// Never destroyed, as static objects may launch.
  static NativeBodies& get() {
    static auto& bodies = *new NativeBodies;
    return bodies;
  }
};

}  // namespace

bool setNativeBody(const void* function, NativeBody body) {
  NativeBodies& self = NativeBodies::get();
  const std::lock_guard lock(self.mutex);
  NativeBody& known = self.bodies[function];
  const bool differs = known.code != body.code || known.refusal != body.refusal;
  known = std::move(body);
  return differs && self.asked.erase(function) > 0;
}

const ir::NativeCode* nativeCodeOf(const void* function) {
  NativeBodies& self = NativeBodies::get();
  const std::lock_guard lock(self.mutex);
  self.asked.insert(function);
  const auto found = self.bodies.find(function);
  if (found == self.bodies.end()) return nullptr;
  if (!found->second.refusal.empty()) throw KernelError(found->second.refusal);
  return found->second.code;
}

void throwNoNativeCode() {
  throw KernelError(
      "call(f)(...): this function has parameters marked In, Out or InOut, so it stands for OpenCL "
      "C, but nativeHandle(f, name, source) was not called for it");
}

const ir::Function* nativeFunction(const FunctionKey& given, const ir::NativeCode& code,
                                   const ir::Type& result, const NativeParameter* params,
                                   std::size_t count) {
  const FunctionKey key = withSignature(given, result, params, count);
  if (const ir::Function* known = findFunction(key)) return known;
  checkSpaces(key, code, params, count);
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
  recordEffects(function, params, variableNode(anything));
  return endFunction(result, result.isVoid() ? nullptr : castNode(variableNode(anything), result));
}

}  // namespace hpl::detail
