// SPDX-License-Identifier: Apache-2.0
// Declarations, assignments, branches; loops are in loops.cpp, calls and atomics in calls.cpp.
#include "hpl/codegen/detail/types.h"
#include "hpl/codegen/detail/writer.h"
#include "hpl/ir/walk.h"

namespace hpl::codegen::detail {

using ir::BinaryOp;
using ir::Expr;
using ir::Scalar;
using ir::Space;
using ir::Stmt;
using ir::Variable;

void FunctionWriter::block(const ir::Block& block) {
  for (std::size_t i = 0; i < block.stmts.size();) i = statement(block, i);
}

void FunctionWriter::nested(const ir::Block* inner) {
  if (inner == nullptr) return;
  session_.text.open();
  block(*inner);
  session_.text.close();
}

std::size_t FunctionWriter::statement(const ir::Block& block, std::size_t i) {
  const Stmt& stmt = *block.stmts[i];
  where_ = stmt.where;
  LoopStart start;
  const std::size_t loopAt = loopStart(block, i, start);
  if (start.variable != nullptr) {
    loop(*block.stmts[loopAt]->as<ir::Loop>(), start, block.stmts[loopAt]->where);
    return loopAt + 1;
  }
  if (stmt.as<ir::Declare>() != nullptr) return declaration(block, i);
  single(stmt);
  return i + 1;
}

void FunctionWriter::single(const Stmt& stmt) {
  Text& text = session_.text;
  if (const auto* assign = stmt.as<ir::Assign>()) {
    text.beginLine();
    predicate(*assign->target, false);
    assignment(*assign);
    predicated_ = false;
    out_ += ';';
    text.endLine(stmt.where);
  } else if (const auto* branch = stmt.as<ir::If>()) {
    text.beginLine();
    this->branch(*branch, stmt.where);
  } else if (const auto* loop = stmt.as<ir::Loop>()) {
    this->loop(*loop, LoopStart{}, stmt.where);
  } else if (const auto* loop = stmt.as<ir::DoLoop>()) {
    doLoop(*loop, stmt.where);
  } else if (const auto* bind = stmt.as<ir::Bind>()) {
    this->bind(*bind, stmt.where);
  } else if (const auto* atomic = stmt.as<ir::Atomic>()) {
    this->atomic(*atomic, stmt.where, false);
  } else if (const auto* probe = stmt.as<ir::Probe>()) {
    this->probe(*probe, stmt.where);
  } else if (const auto* call = stmt.as<ir::Call>()) {
    this->call(*call, stmt.where, false);
  } else if (const auto* builtin = stmt.as<ir::BuiltinCall>()) {
    builtinCall(*builtin, stmt.where, false);
  } else if (const auto* inner = stmt.as<ir::Block>()) {
    if (inner->isApart && apart(*inner)) return;
    text.line("{");
    nested(inner);
    text.line("}");
  } else {
    text.beginLine();
    if (stmt.as<ir::Break>() != nullptr) {
      out_ += "break;";
    } else if (stmt.as<ir::Continue>() != nullptr) {
      out_ += "continue;";
    } else if (const auto* barrier = stmt.as<ir::Barrier>()) {
      this->barrier(*barrier);
    } else if (const auto* fence = stmt.as<ir::Fence>()) {
      this->fence(*fence);
    } else if (const auto* ret = stmt.as<ir::Return>()) {
      out_ += "return";
      if (ret->value != nullptr) {
        out_ += ' ';
        assigned(*ret->value);
      }
      out_ += ';';
    }
    text.endLine(stmt.where);
  }
}

void FunctionWriter::barrier(const ir::Barrier& barrier) {
  const bool local = (barrier.flags & ir::kLocalFence) != 0;
  const bool global = (barrier.flags & ir::kGlobalFence) != 0;
  out_ += "barrier(";
  if (local) out_ += "CLK_LOCAL_MEM_FENCE";
  if (local && global) out_ += " | ";
  if (global) out_ += "CLK_GLOBAL_MEM_FENCE";
  out_ += local || global ? ");" : "0);";
}

void FunctionWriter::branch(const ir::If& branch, const ir::SourceLocation& where) {
  Text& text = session_.text;
  out_ += "if (";
  condition(*branch.condition);
  out_ += ") {";
  text.endLine(where);
  nested(branch.then);
  if (branch.otherwise == nullptr || branch.otherwise->stmts.empty()) {
    text.line("}");
    return;
  }
  text.beginLine() += "} else ";
  const ir::Block& otherwise = *branch.otherwise;
  const auto* chained = otherwise.stmts.size() == 1 ? otherwise.stmts[0]->as<ir::If>() : nullptr;
  if (chained != nullptr) {
    where_ = otherwise.stmts[0]->where;
    return this->branch(*chained, otherwise.stmts[0]->where);
  }
  out_ += "{";
  text.endLine();
  nested(&otherwise);
  text.line("}");
}

std::string FunctionWriter::declarator(const Variable& variable) const {
  const std::string& name = names(&variable).name;
  if (variable.rank == 0) {
    const bool byteBool = variable.space == Space::Local && variable.type.scalar == Scalar::Bool;
    return (byteBool ? std::string("uchar") : spell(variable.type)) + ' ' + name;
  }
  std::string text = storedType(variable.type, session_.options.hasHalf) + ' ' + name + '[';
  for (std::size_t d = 0; d < variable.extents.size(); ++d) {
    if (d > 0) text += isNested(variable) ? "][" : " * ";
    text += std::to_string(variable.extents[d]);
  }
  return text + ']';
}

// A declaration absorbs the statement after it when that one gives the variable its first value.
std::size_t FunctionWriter::declaration(const ir::Block& block, std::size_t i) {
  const Stmt& stmt = *block.stmts[i];
  const auto& declare = *stmt.as<ir::Declare>();
  const Variable& variable = *declare.variable;
  const Stmt* next = i + 1 < block.stmts.size() ? block.stmts[i + 1] : nullptr;
  if (variable.role == ir::Role::Alias) {
    const ir::Bind* bind = next != nullptr ? next->as<ir::Bind>() : nullptr;
    const bool own =
        bind != nullptr && bind->alias == &variable && rootOf(*bind->target) != &variable;
    declareAlias(variable, own ? bind : nullptr, own ? next->where : stmt.where);
    return i + (own ? 2 : 1);
  }
  // Hoisted to the kernel.
  if (variable.space == Space::Local) return i + 1;
  if (declare.init != nullptr || variable.rank > 0 || next == nullptr) {
    this->declare(declare, stmt.where);
    return i + 1;
  }
  where_ = next->where;
  if (const auto* call = next->as<ir::Call>(); call != nullptr && call->result == &variable) {
    this->call(*call, next->where, true);
    return i + 2;
  }
  if (const auto* call = next->as<ir::BuiltinCall>();
      call != nullptr && call->result == &variable) {
    builtinCall(*call, next->where, true);
    return i + 2;
  }
  if (const auto* atomic = next->as<ir::Atomic>();
      atomic != nullptr && atomic->result == &variable) {
    this->atomic(*atomic, next->where, true);
    return i + 2;
  }
  const auto* assign = next->as<ir::Assign>();
  const auto* target = assign != nullptr ? assign->target->as<ir::VarRef>() : nullptr;
  if (target != nullptr && target->variable == &variable) {
    this->declare(ir::Declare{&variable, assign->value}, next->where);
    return i + 2;
  }
  where_ = stmt.where;
  this->declare(declare, stmt.where);
  return i + 1;
}

void FunctionWriter::declare(const ir::Declare& declare, const ir::SourceLocation& where) {
  if (isUnused(*declare.variable) && declare.init == nullptr) return;
  session_.text.beginLine() += declarator(*declare.variable);
  if (declare.init != nullptr) {
    out_ += " = ";
    assigned(*declare.init);
  }
  out_ += ';';
  session_.text.endLine(where);
}

void FunctionWriter::declareAlias(const Variable& alias, const ir::Bind* bind,
                                  const ir::SourceLocation& where) {
  const VariableNames& own = names(&alias);
  Text& text = session_.text;
  if (session_.options.checkBounds) {
    text.line("long " + own.position + " = 0; ulong " + own.span + " = 0; int " + own.id + " = 0;");
  }
  text.beginLine() += pointerTo(alias, own.name) + " = ";
  if (bind == nullptr) {
    out_ += "0;";
    text.endLine(where);
  } else {
    bindTail(*bind, where);
  }
}

void FunctionWriter::bind(const ir::Bind& bind, const ir::SourceLocation& where) {
  session_.text.beginLine() += names(bind.alias).name + " = ";
  bindTail(bind, where);
}

void FunctionWriter::bindTail(const ir::Bind& bind, const ir::SourceLocation& where) {
  addressOf(*bind.target);
  out_ += ';';
  if (session_.options.checkBounds) {
    bindingDetails(*bind.target->as<ir::Access>(), names(bind.alias));
  }
  session_.text.endLine(where);
}

void FunctionWriter::assignment(const ir::Assign& assign) {
  const Expr& target = *assign.target;
  const auto* access = target.as<ir::Access>();
  if (access != nullptr && isConvertedHalf(*access->array)) {
    return halfStore(*access, *assign.value);
  }
  if (access != nullptr && access->lanes > 1) {
    if (assign.streams) {
      const ir::Type wide = ir::severalOf(access->array->type, access->lanes);
      session_.streamed[ir::toString(wide)] = wide;
      out_ += "hpl_stream_" + ir::toString(wide) + '(';
      pointerToSeveral(*access);
      out_ += ", ";
      exact(*assign.value);
      out_ += ')';
      return;
    }
    severalElements(*access);
    out_ += " = ";
    exact(*assign.value);
    return;
  }
  place(target);
  if (isHalfBits(target)) {
    out_ += " = " + toHalf(target.type) + '(';
    assigned(*assign.value);
    out_ += ')';
    return;
  }
  if (compound(assign)) return;
  out_ += " = ";
  assigned(*assign.value);
}

namespace {

bool hasCompoundForm(BinaryOp op) { return op <= BinaryOp::Shr; }

bool isOne(const Expr& expr) {
  const auto* constant = expr.as<ir::Constant>();
  return constant != nullptr && expr.type.isInteger() && expr.type.isScalar() &&
         constant->bits == 1;
}

}  // namespace

// x = x + y becomes x += y, x = x + 1 becomes x++: C computes both in the same type.
bool FunctionWriter::compound(const ir::Assign& assign) {
  const Expr& target = *assign.target;
  const auto* binary = peel(*assign.value).as<ir::Binary>();
  if (binary == nullptr || !hasCompoundForm(binary->op) || target.type.complex ||
      target.type.scalar == Scalar::Bool || roundsToHalf(*assign.value) || mayTrap(*binary) ||
      !sameExpr(peel(*binary->left), target)) {
    return false;
  }
  const bool shifts = binary->op == BinaryOp::Shl || binary->op == BinaryOp::Shr;
  const Expr* value = binary->right;
  if (!shifts && target.type.isScalar()) {
    const ir::Type type = promoted(computed(binary->left->type));
    const ir::Type own = computed(target.type);
    if (commonType(own, typeInC(peel(*value))) == type) {
      value = &peel(*value);
    } else if (commonType(own, typeInC(*value)) != type) {
      return false;
    }
  } else if (binary->left->type != target.type) {
    return false;
  }
  const bool adds = binary->op == BinaryOp::Add || binary->op == BinaryOp::Sub;
  if (adds && target.type.isScalar() && target.type.isInteger() && isOne(*value)) {
    out_ += binary->op == BinaryOp::Add ? "++" : "--";
    return true;
  }
  out_ += ' ';
  out_ += ir::toString(binary->op);
  out_ += "= ";
  operand(*value, kTernary);
  return true;
}

}  // namespace hpl::codegen::detail
