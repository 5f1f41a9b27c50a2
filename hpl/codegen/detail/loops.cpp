// SPDX-License-Identifier: Apache-2.0
// Loops: recognised as for and while where C's meaning is the IR's.
#include "hpl/codegen/detail/writer.h"
#include "hpl/ir/walk.h"

namespace hpl::codegen::detail {
namespace {

using ir::Block;
using ir::Expr;
using ir::Stmt;
using ir::Variable;

bool isEmpty(const Block* block) { return block == nullptr || block->stmts.empty(); }

bool mentions(const Expr& expr, const Variable* variable) {
  if (rootOf(expr) == variable) return true;
  bool found = false;
  forEachOperand(expr, [&](const Expr& operand) { found = found || mentions(operand, variable); });
  return found;
}

bool mentions(const Stmt& stmt, const Variable* variable);

bool mentions(const Block& block, std::size_t from, const Variable* variable) {
  for (std::size_t i = from; i < block.stmts.size(); ++i) {
    if (mentions(*block.stmts[i], variable)) return true;
  }
  return false;
}

bool mentions(const Stmt& stmt, const Variable* variable) {
  bool found = false;
  forEachExpr(stmt, [&](const Expr& expr) { found = found || mentions(expr, variable); });
  forEachBlock(stmt, [&](const Block& block) { found = found || mentions(block, 0, variable); });
  if (const auto* call = stmt.as<ir::Call>()) found |= call->result == variable;
  if (const auto* atomic = stmt.as<ir::Atomic>()) found |= atomic->result == variable;
  if (const auto* call = stmt.as<ir::BuiltinCall>()) {
    found |= call->result == variable || call->out == variable;
  }
  return found;
}

// A `continue` that belongs to the loop whose body this is.
bool continues(const Block* block) {
  if (block == nullptr) return false;
  for (const Stmt* stmt : block->stmts) {
    if (stmt->as<ir::Continue>() != nullptr) return true;
    if (const auto* branch = stmt->as<ir::If>()) {
      if (continues(branch->then) || continues(branch->otherwise)) return true;
    } else if (const auto* inner = stmt->as<ir::Block>()) {
      if (continues(inner)) return true;
    }
  }
  return false;
}

const Variable* assignedVariable(const Stmt& stmt) {
  const auto* assign = stmt.as<ir::Assign>();
  const auto* ref = assign != nullptr ? assign->target->as<ir::VarRef>() : nullptr;
  return ref != nullptr ? ref->variable : nullptr;
}

bool isTrue(const Expr* condition) {
  if (condition == nullptr) return true;
  const auto* constant = condition->as<ir::Constant>();
  return constant != nullptr && condition->type.isInteger() && constant->bits != 0;
}

}  // namespace

bool FunctionWriter::isPlainStep(const ir::Loop& loop) const {
  if (isEmpty(loop.step)) return true;
  for (const Stmt* stmt : loop.step->stmts) {
    const Variable* variable = assignedVariable(*stmt);
    if (variable == nullptr || variable->space != ir::Space::Private) return false;
  }
  // Longer headers are harder to read than the general form.
  return loop.step->stmts.size() <= 3;
}

bool FunctionWriter::steps(const ir::Loop& loop, const Variable* variable) const {
  if (isEmpty(loop.step)) return false;
  for (const Stmt* stmt : loop.step->stmts) {
    if (assignedVariable(*stmt) == variable) return true;
  }
  return false;
}

// Recognises, from statement i on: `T v = e; loop`, `T v; v = e; loop` and `v = e; loop` where the
// loop steps v. Returns the loop's index; `start` stays empty when there is no such loop.
std::size_t FunctionWriter::loopStart(const Block& block, std::size_t i, LoopStart& start) const {
  const Stmt& stmt = *block.stmts[i];
  const auto* declare = stmt.as<ir::Declare>();
  std::size_t next = i;
  LoopStart found;
  if (declare != nullptr) {
    const Variable& variable = *declare->variable;
    if (variable.rank > 0 || variable.space != ir::Space::Private) return i;
    found = {&variable, declare->init, true};
    ++next;
  }
  if (found.init == nullptr) {
    if (next >= block.stmts.size()) return i;
    const Variable* variable = assignedVariable(*block.stmts[next]);
    if (variable == nullptr || variable->space != ir::Space::Private) return i;
    if (declare != nullptr && variable != declare->variable) return i;
    found.variable = variable;
    found.init = block.stmts[next]->as<ir::Assign>()->value;
    ++next;
  }
  if (next >= block.stmts.size()) return i;
  const auto* loop = block.stmts[next]->as<ir::Loop>();
  if (loop == nullptr || !isEmpty(loop->prepare) || !isPlainStep(*loop) ||
      !steps(*loop, found.variable)) {
    return i;
  }
  if (found.declares && mentions(block, next + 1, found.variable)) return i;
  start = found;
  return next;
}

void FunctionWriter::forHeader(const ir::Loop& loop, const LoopStart& start) {
  out_ += "for (";
  if (start.variable != nullptr) {
    out_ += start.declares ? declarator(*start.variable) : names(start.variable).name;
    out_ += " = ";
    assigned(*start.init);
  }
  out_ += ';';
  if (!isTrue(loop.condition)) {
    out_ += ' ';
    condition(*loop.condition);
  }
  out_ += ';';
  bool first = true;
  for (const Stmt* stmt : loop.step->stmts) {
    out_ += first ? " " : ", ";
    first = false;
    assignment(*stmt->as<ir::Assign>());
  }
  out_ += ") {";
}

void FunctionWriter::loop(const ir::Loop& loop, const LoopStart& start,
                          const ir::SourceLocation& where) {
  where_ = where;
  if (loop.asWritten)
    session_.text.line("#pragma clang loop vectorize(disable) interleave(disable) unroll(disable)");
  if (!isEmpty(loop.prepare) || !isPlainStep(loop)) return generalLoop(loop, where);
  Text& text = session_.text;
  text.beginLine();
  if (!isEmpty(loop.step)) {
    forHeader(loop, start);
  } else if (isTrue(loop.condition)) {
    out_ += "for (;;) {";
  } else {
    out_ += "while (";
    condition(*loop.condition);
    out_ += ") {";
  }
  text.endLine(where);
  nested(loop.body);
  text.line("}");
}

void FunctionWriter::leaveUnless(const Expr* condition) {
  if (isTrue(condition)) return;
  session_.text.beginLine() += "if (!";
  conditionOperand(*condition, kUnary);
  out_ += ") break;";
  session_.text.endLine();
}

// The step comes before the next turn's condition, so that `continue` reaches both.
void FunctionWriter::generalLoop(const ir::Loop& loop, const ir::SourceLocation& where) {
  Text& text = session_.text;
  const bool stepsFirst = !isEmpty(loop.step) && continues(loop.body);
  const std::string again = stepsFirst ? scope_.claim("again") : std::string();
  if (stepsFirst) {
    text.beginLine() += "for (bool " + again + " = false;; " + again + " = true) {";
  } else {
    text.beginLine() += "for (;;) {";
  }
  text.endLine(where);
  text.open();
  if (stepsFirst) {
    text.line("if (" + again + ") {");
    nested(loop.step);
    text.line("}");
  }
  if (loop.prepare != nullptr) block(*loop.prepare);
  leaveUnless(loop.condition);
  block(*loop.body);
  if (!stepsFirst && !isEmpty(loop.step)) block(*loop.step);
  text.close();
  text.line("}");
}

void FunctionWriter::doLoop(const ir::DoLoop& loop, const ir::SourceLocation& where) {
  Text& text = session_.text;
  if (isEmpty(loop.prepare)) {
    text.beginLine() += "do {";
    text.endLine(where);
    nested(loop.body);
    text.beginLine() += "} while (";
    condition(*loop.condition);
    out_ += ");";
    text.endLine();
    return;
  }
  if (!continues(loop.body)) {
    text.beginLine() += "for (;;) {";
    text.endLine(where);
    nested(loop.body);
    text.open();
    block(*loop.prepare);
    leaveUnless(loop.condition);
    text.close();
    text.line("}");
    return;
  }
  const std::string again = scope_.claim("again");
  text.beginLine() += "for (bool " + again + " = false;; " + again + " = true) {";
  text.endLine(where);
  text.open();
  text.line("if (" + again + ") {");
  text.open();
  block(*loop.prepare);
  leaveUnless(loop.condition);
  text.close();
  text.line("}");
  block(*loop.body);
  text.close();
  text.line("}");
}

}  // namespace hpl::codegen::detail
