// SPDX-License-Identifier: Apache-2.0
// Functions in OpenCL C, and which functions a kernel calls at all.
#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "hpl/codegen/detail/native_names.h"
#include "hpl/codegen/detail/writer.h"
#include "hpl/ir/walk.h"

namespace hpl::codegen::detail {
namespace {

void collectCalls(const ir::Block& block, std::unordered_set<const ir::Function*>& called) {
  for (const ir::Stmt* stmt : block.stmts) {
    const auto* call = stmt->as<ir::Call>();
    if (call != nullptr && called.insert(call->function).second)
      collectCalls(*call->function->body, called);
    forEachBlock(*stmt, [&](const ir::Block& inner) { collectCalls(inner, called); });
  }
}

const char* spelling(ir::Space space) {
  switch (space) {
    case ir::Space::Global:
      return "global";
    case ir::Space::Constant:
      return "constant";
    case ir::Space::Local:
      return "local";
    default:
      return "private";
  }
}

/// Functions of one source that are called with pointers into the same memories, so that it is
/// written once for all of them.
class NativeGroup {
 public:
  /// Whether the function is of the group from now on.
  bool take(const ir::Function& function) {
    const ir::NativeCode& code = *function.native;
    if (!functions_.empty() && functions_.front()->native->source != code.source) return false;
    std::map<std::string, std::string> macros = macros_;
    for (const ir::Function* other : functions_)
      if (other->native->name == code.name) return false;
    bool isFirst = true;
    for (std::size_t i = 0; i < function.params.size(); ++i) {
      if (function.params[i]->role != ir::Role::Alias) continue;
      const std::string space = spelling(function.params[i]->space);
      const bool fits =
          (!isFirst || macros.emplace("HPL_SPACE", space).first->second == space) &&
          macros.emplace("HPL_SPACE_" + std::to_string(i + 1), space).first->second == space;
      if (!fits) return false;
      isFirst = false;
    }
    macros_ = std::move(macros);
    functions_.push_back(&function);
    return true;
  }

  void write(Session& session) {
    const std::string& source = functions_.front()->native->source;
    const NativeNames names = namesIn(source);
    // Functions that the kernel does not call are compiled all the same.
    macros_.emplace("HPL_SPACE", "private");
    for (const ir::Function* function : functions_)
      session.functionNames[function] = rename(session, function->native->name);
    for (const std::string& name : names.functions)
      if (renamed_.count(name) == 0) rename(session, name);
    // A kernel that is called is a function like any other.
    if (source.find("kernel") != std::string::npos) {
      macros_.insert({{"kernel", ""}, {"__kernel", ""}});
      macros_.insert(
          {{"reqd_work_group_size", "(x, y, z)"}, {"work_group_size_hint", "(x, y, z)"}});
      macros_.insert({{"vec_type_hint", "(type)"}});
    }
    Text& text = session.text;
    for (const auto& [macro, value] : macros_)
      text.line("#define " + macro + (value.starts_with('(') ? "" : " ") + value);
    text.out() += source;
    if (!source.ends_with('\n')) text.out() += '\n';
    for (const auto& macro : macros_) text.line("#undef " + macro.first);
    // Later sources and the kernel itself may use the names otherwise.
    for (const std::string& macro : names.macros)
      if (macros_.count(macro) == 0) text.line("#undef " + macro);
  }

 private:
  /// A name of the program for a function of the source.
  std::string rename(Session& session, const std::string& wanted) {
    const std::string name = session.globals.claim(wanted);
    if (name != wanted) macros_.emplace(wanted, name);
    renamed_.insert(wanted);
    return name;
  }

  std::vector<const ir::Function*> functions_;
  std::map<std::string, std::string> macros_;
  std::unordered_set<std::string> renamed_;
};

}  // namespace

std::vector<const ir::Function*> calledFunctions(const ir::Kernel& kernel) {
  std::unordered_set<const ir::Function*> called;
  collectCalls(*kernel.entry->body, called);
  std::vector<const ir::Function*> functions;
  std::copy_if(kernel.functions.begin(), kernel.functions.end(), std::back_inserter(functions),
               [&](const ir::Function* function) { return called.contains(function); });
  return functions;
}

void writeNatives(Session& session, const std::vector<const ir::Function*>& functions) {
  std::vector<NativeGroup> groups;
  for (const ir::Function* function : functions) {
    if (function->native == nullptr) continue;
    const auto taken = std::find_if(groups.begin(), groups.end(),
                                    [&](NativeGroup& group) { return group.take(*function); });
    if (taken == groups.end()) {
      groups.emplace_back();
      groups.back().take(*function);
    }
  }
  for (NativeGroup& group : groups) group.write(session);
}

}  // namespace hpl::codegen::detail
