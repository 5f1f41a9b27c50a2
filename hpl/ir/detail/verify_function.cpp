// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/detail/verify_function.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "hpl/error.h"
#include "hpl/ir/detail/function_verifier.h"
#include "hpl/ir/printer.h"

namespace hpl::ir::detail {

void FunctionVerifier::run() {
  signature();
  block(context_.function->body);
  const Function& function = *context_.function;
  if (!function.result.isVoid() && !returnsValue_) {
    context_.where = function.where;
    context_.fail("function '" + function.name + "' yields " + describe(function.result) +
                  " but never returns a value; add return_(e)");
  }
}

void FunctionVerifier::signature() {
  const Function& function = *context_.function;
  context_.require(function.body != nullptr, "the function has no body");
  if (context_.isEntry()) {
    context_.require(function.result.isVoid(),
                     "a kernel returns nothing; write results into an array");
  } else if (!function.result.isVoid()) {
    const std::string wrong = invalidType(function.result);
    if (!wrong.empty()) context_.fail("result of '" + function.name + "': " + wrong);
  }
  int position = 0;
  for (const Variable* param : function.params) {
    context_.require(param != nullptr, "a parameter is missing");
    if (param->paramIndex != position) {
      context_.fail("parameter " + quoted(*param) + " stands at position " +
                    std::to_string(position) + " but says " + std::to_string(param->paramIndex));
    }
    ++position;
    variable(*param);
    parameter(*param);
    context_.visible.insert(param);
    context_.bound.insert(param);
  }
}

void FunctionVerifier::parameter(const Variable& param) {
  const bool entry = context_.isEntry();
  if (param.role == Role::ScalarParam) {
    if (param.rank != 0 || param.space != Space::Private) {
      context_.fail("scalar parameter " + quoted(param) + " must be private and of rank 0");
    }
  } else if (param.role == Role::ArrayParam) {
    if (param.rank < 1) context_.fail("array parameter " + quoted(param) + " needs a rank");
    if (entry && param.space == Space::Private) {
      context_.fail("array parameter " + quoted(param) +
                    " of a kernel must be in global, constant or local memory");
    }
  } else if (param.role != Role::Alias) {
    context_.fail("parameter " + quoted(param) + " is declared in the body");
  } else if (entry) {
    context_.fail("parameter " + quoted(param) +
                  " is an alias; only functions that a kernel calls take aliases");
  }
}

void FunctionVerifier::variable(const Variable& variable) {
  const std::string wrong = invalidType(variable.type);
  if (!wrong.empty()) context_.fail("variable " + quoted(variable) + ": " + wrong);
  if (variable.name.empty()) context_.fail("a variable has no name");
  if (!names_.insert(variable.name).second) {
    context_.fail("two variables are named " + quoted(variable) + "; rename one");
  }
  if (variable.role == Role::Alias && variable.rank != 1) {
    context_.fail("alias " + quoted(variable) + " must have rank 1");
  }
}

/// A block with a scope of its own.
void FunctionVerifier::block(const Block* block) {
  const auto visible = context_.visible;
  statements(block);
  context_.visible = visible;
}

void FunctionVerifier::statements(const Block* block) {
  if (block == nullptr) return;
  for (const Stmt* stmt : block->stmts) {
    context_.require(stmt != nullptr, "a statement is missing");
    const SourceLocation outer = context_.where;
    if (stmt->where.file != nullptr) context_.where = stmt->where;
    statement(*stmt);
    context_.where = outer;
  }
}

void FunctionVerifier::statement(const Stmt& stmt) {
  if (const auto* node = stmt.as<Declare>()) {
    declare(*node);
  } else if (const auto* node = stmt.as<Bind>()) {
    bind(*node);
  } else if (const auto* node = stmt.as<Assign>()) {
    assign(*node);
  } else if (const auto* node = stmt.as<Barrier>()) {
    barrier(*node);
  } else if (const auto* node = stmt.as<Atomic>()) {
    atomic(*node);
  } else if (const auto* node = stmt.as<Fence>()) {
    fence(*node);
  } else if (const auto* node = stmt.as<Probe>()) {
    probe(*node);
  } else if (const auto* node = stmt.as<Call>()) {
    call(*node);
  } else if (const auto* node = stmt.as<BuiltinCall>()) {
    builtinCall(*node);
  } else {
    jumpOrBranch(stmt);
  }
}

void FunctionVerifier::jumpOrBranch(const Stmt& stmt) {
  if (const auto* node = stmt.as<If>()) {
    exprs_.condition(node->condition, "if");
    context_.require(node->then != nullptr, "an if without a block");
    block(node->then);
    block(node->otherwise);
  } else if (const auto* node = stmt.as<Loop>()) {
    loop(*node);
  } else if (const auto* node = stmt.as<DoLoop>()) {
    doLoop(*node);
  } else if (stmt.as<Break>() != nullptr) {
    jump("break");
  } else if (stmt.as<Continue>() != nullptr) {
    jump("continue");
  } else if (const auto* node = stmt.as<Return>()) {
    leave(*node);
  } else if (const auto* node = stmt.as<Block>()) {
    block(node);
  }
}

void FunctionVerifier::declare(const Declare& declare) {
  context_.require(declare.variable != nullptr, "a declaration without a variable");
  const Variable& declared = *declare.variable;
  variable(declared);
  if (declared.role != Role::Declared && declared.role != Role::Alias) {
    context_.fail("parameter " + quoted(declared) + " is declared again in the body");
  }
  if (declared.role == Role::Declared) {
    if (declared.space == Space::Global || declared.space == Space::Constant) {
      context_.fail("variable " + quoted(declared) + " is declared in " + toString(declared.space) +
                    " memory; kernels declare private or local ones");
    }
    if (declared.extents.size() != static_cast<std::size_t>(declared.rank)) {
      context_.fail("array " + quoted(declared) + " has rank " + std::to_string(declared.rank) +
                    " but " + std::to_string(declared.extents.size()) + " extents");
    }
    for (const std::int64_t extent : declared.extents) {
      if (extent < 1) {
        context_.fail("array " + quoted(declared) + " has an extent of " + std::to_string(extent) +
                      "; extents are at least 1");
      }
    }
    if (declared.space == Space::Local) declareLocal(declare);
  }
  if (declare.init != nullptr) {
    if (declared.rank != 0) context_.fail("array " + quoted(declared) + " has an initial value");
    exprs_.value(declare.init, declared.type, "the initial value of " + quoted(declared));
  }
  context_.visible.insert(&declared);
}

void FunctionVerifier::declareLocal(const Declare& declare) {
  const std::string name = quoted(*declare.variable);
  if (declare.init != nullptr) {
    context_.fail("local variable " + name +
                  " has an initial value; assign it in one work-item, then use a barrier");
  }
  if (!context_.isEntry()) {
    context_.fail("local variable " + name + " is declared in function '" +
                  context_.function->name +
                  "'; OpenCL C allows that in kernels only: declare it in the kernel and pass it");
  }
}

void FunctionVerifier::bind(const Bind& bind) {
  context_.require(bind.alias != nullptr && bind.alias->role == Role::Alias,
                   "only an alias can be bound to an element");
  const Variable& alias = *bind.alias;
  if (!context_.visible.contains(&alias)) {
    context_.fail("alias " + quoted(alias) + " is bound where it is not declared");
  }
  exprs_.value(bind.target);
  const auto* target = bind.target->as<Access>();
  if (target == nullptr) {
    context_.fail("alias " + quoted(alias) + " must be bound to an array element: '" +
                  print(*bind.target) + "'");
  }
  const Variable& array = *target->array;
  if (array.type != alias.type || array.space != alias.space) {
    context_.fail("alias " + quoted(alias) + " points to " + toString(alias.space) + " " +
                  describe(alias.type) + " and cannot be bound to " + quoted(array) +
                  ", which holds " + toString(array.space) + " " + describe(array.type));
  }
  if (array.readOnly && !alias.readOnly) {
    context_.fail("alias " + quoted(alias) + " may be written through, but " + quoted(array) +
                  " is read-only");
  }
  context_.bound.insert(&alias);
}

void FunctionVerifier::writable(const Variable& variable) {
  if (variable.readOnly || variable.space == Space::Constant) {
    context_.fail(quoted(variable) + " is written but it is " +
                  (variable.space == Space::Constant ? "in constant memory" : "a const parameter") +
                  "; take it as a non-const global array");
  }
}

void FunctionVerifier::assign(const Assign& assign) {
  exprs_.value(assign.target);
  exprs_.value(assign.value, assign.target->type,
               "the value assigned to '" + print(*assign.target) + "'");
  const auto* stored = assign.target->as<Access>();
  if (assign.streams &&
      (stored == nullptr || stored->lanes < 2 || stored->array->space != Space::Global))
    context_.fail(
        "only several elements of global memory at once are stored past the caches, not '" +
        print(*assign.target) + "'");
  const Expr* target = assign.target;
  while (true) {
    if (const auto* component = target->as<Component>()) {
      std::vector<std::uint8_t> lanes = component->lanes;
      std::sort(lanes.begin(), lanes.end());
      if (std::adjacent_find(lanes.begin(), lanes.end()) != lanes.end()) {
        context_.fail("a component is assigned twice at once: '" + print(*assign.target) + "'");
      }
      target = component->base;
    } else if (const auto* member = target->as<Member>()) {
      target = member->base;
    } else {
      break;
    }
  }
  if (const auto* ref = target->as<VarRef>()) return writable(*ref->variable);
  if (const auto* access = target->as<Access>()) return writable(*access->array);
  context_.fail("'" + print(*assign.target) +
                "' cannot be assigned; assign variables, array "
                "elements, their components or fields");
}

void FunctionVerifier::jump(const char* name) {
  if (loops_ > 0) return;
  context_.fail(std::string(name) + " outside a loop; " + name +
                "_ belongs in the body of for_, while_ or a do loop");
}

void FunctionVerifier::loop(const Loop& loop) {
  const auto visible = context_.visible;
  const int outer = std::exchange(loops_, 0);
  // The variables that prepare declares are visible in the whole loop.
  statements(loop.prepare);
  if (loop.condition != nullptr) exprs_.condition(loop.condition, "a loop");
  loops_ = outer + 1;
  context_.require(loop.body != nullptr, "a loop without a body");
  block(loop.body);
  loops_ = 0;
  block(loop.step);
  loops_ = outer;
  context_.visible = visible;
}

void FunctionVerifier::doLoop(const DoLoop& loop) {
  const auto visible = context_.visible;
  ++loops_;
  context_.require(loop.body != nullptr, "a loop without a body");
  block(loop.body);
  const int outer = std::exchange(loops_, 0) - 1;
  statements(loop.prepare);
  exprs_.condition(loop.condition, "a loop");
  loops_ = outer;
  context_.visible = visible;
}

void FunctionVerifier::leave(const Return& leave) {
  const Function& function = *context_.function;
  if (leave.value == nullptr) {
    if (!function.result.isVoid()) {
      context_.fail("function '" + function.name + "' must return " + describe(function.result) +
                    "; use return_(e)");
    }
    return;
  }
  if (function.result.isVoid()) {
    context_.fail("'" + function.name +
                  "' returns nothing, but return_ has a value; use return_()");
  }
  exprs_.value(leave.value, function.result, "the result of '" + function.name + "'");
  returnsValue_ = true;
}

void FunctionVerifier::barrier(const Barrier& barrier) {
  context_.require(barrier.flags != 0 && barrier.flags <= (kLocalFence | kGlobalFence),
                   "a barrier needs LOCAL, GLOBAL or both");
}

void FunctionVerifier::result(const Variable* variable, const Type& type, const std::string& of) {
  if (variable == nullptr) return;
  exprs_.use(variable);
  if (variable->rank != 0 || variable->space != Space::Private) {
    context_.fail("the result of " + of + " must go to a private scalar, not to " +
                  quoted(*variable));
  }
  if (variable->type != type) {
    context_.fail("the result of " + of + " has type " + describe(type) + ", but " +
                  quoted(*variable) + " is " + describe(variable->type));
  }
}

void VerifyContext::fail(const std::string& rule) const {
  std::string text = "kernel '" + kernel->entry->name + "'";
  if (function != kernel->entry) text += ", function '" + function->name + "'";
  if (where.file != nullptr) text += ", " + toString(where);
  throw KernelError(text + ": " + rule);
}

void verifyFunction(const Kernel& kernel, const Function& function,
                    const std::unordered_set<const Function*>& defined) {
  FunctionVerifier(kernel, function, defined).run();
}

}  // namespace hpl::ir::detail
