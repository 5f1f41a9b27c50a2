// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/printer.h"

#include <array>
#include <charconv>
#include <utility>

namespace hpl::ir {
namespace {

/// C's precedence: greater binds tighter.
constexpr int kTernary = 1;
constexpr int kUnary = 12;
constexpr int kPostfix = 13;

int precedence(BinaryOp op) {
  switch (op) {
    case BinaryOp::LogicalOr:
      return 2;
    case BinaryOp::LogicalAnd:
      return 3;
    case BinaryOp::BitOr:
      return 4;
    case BinaryOp::BitXor:
      return 5;
    case BinaryOp::BitAnd:
      return 6;
    case BinaryOp::Eq:
    case BinaryOp::Ne:
      return 7;
    case BinaryOp::Shl:
    case BinaryOp::Shr:
      return 9;
    case BinaryOp::Add:
    case BinaryOp::Sub:
      return 10;
    case BinaryOp::Mul:
    case BinaryOp::Div:
    case BinaryOp::Rem:
      return 11;
    default:
      return 8;
  }
}

template <class Number>
std::string digits(Number number) {
  std::array<char, 64> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
  return std::string(buffer.data(), end);
}

std::string realText(double real, Scalar scalar) {
  std::string text = scalar == Scalar::Double ? digits(real) : digits(static_cast<float>(real));
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  if (scalar == Scalar::Float) text += 'f';
  if (scalar == Scalar::Half) text += 'h';
  return text;
}

std::string literal(const Constant& constant, const Type& type) {
  if (type.lanes > 1 || type.complex) {
    return describe(type) + "(" + literal(constant, type.element()) + ")";
  }
  const auto number = static_cast<std::int64_t>(constant.bits);
  switch (type.scalar) {
    case Scalar::Bool:
      return number != 0 ? "true" : "false";
    case Scalar::Int:
      return digits(number);
    case Scalar::Uint:
      return digits(constant.bits) + "u";
    case Scalar::Long:
      return digits(number) + "l";
    case Scalar::Ulong:
      return digits(constant.bits) + "ul";
    default:
      return type.isFloating() ? realText(constant.real, type.scalar)
                               : toString(type) + "(" + digits(number) + ")";
  }
}

std::string workItemName(const WorkItem& item) {
  static constexpr std::array<const char*, kQueries> kNames{"id",  "lid",     "gid",   "sz",
                                                            "lsz", "ngroups", "origin"};
  if (item.dim > 2) return std::string(toString(item.query)) + "(" + std::to_string(item.dim) + ")";
  return std::string(kNames[static_cast<std::size_t>(item.query)]) + "xyz"[item.dim];
}

std::string lanesName(const Component& component) {
  if (component.base->type.complex) return component.lanes[0] == 0 ? ".re" : ".im";
  std::string letters = ".", numbers = ".s";
  bool small = true;
  for (const std::uint8_t lane : component.lanes) {
    small = small && lane < 4;
    letters += "xyzw"[lane & 3];
    numbers += "0123456789abcdef"[lane & 15];
  }
  return small ? letters : numbers;
}

class Printer {
 public:
  explicit Printer(PrintOptions options) : options_(options) {}

  std::string take() { return std::move(text_); }

  void function(const Function& function, bool isKernel) {
    std::string params;
    for (const Variable* param : function.params) {
      params += (params.empty() ? "" : ", ") + print(*param);
    }
    const std::string result = isKernel ? "kernel" : describe(function.result);
    if (function.native != nullptr) {
      line("native " + result + " " + function.name + "(" + params + ") is", function.where);
      line(function.native->source);
      return;
    }
    line(result + " " + function.name + "(" + params + ") {", function.where);
    body(function.body);
    line("}");
  }

  void statement(const Stmt& stmt);
  /// A whole expression.
  std::string expr(const Expr* expr) {
    left_ = options_.maxNodes;
    return this->expr(expr, 0);
  }

 private:
  /// A part of an expression; in parentheses if it binds less tightly than `outer`.
  std::string expr(const Expr* expr, int outer);
  void line(const std::string& text, const SourceLocation& where = {}) {
    text_ += std::string(2 * depth_, ' ') + text;
    const std::string place = options_.lines ? toString(where) : std::string();
    if (!place.empty()) text_ += "  // " + place;
    text_ += '\n';
  }
  void body(const Block* block) {
    if (block == nullptr) return;
    ++depth_;
    for (const Stmt* stmt : block->stmts) statement(*stmt);
    --depth_;
  }
  void labelled(const char* label, const Block* block) {
    if (block == nullptr || block->stmts.empty()) return;
    line(std::string(label) + " {");
    body(block);
    line("}");
  }
  std::string list(const std::vector<const Expr*>& exprs) {
    std::string text;
    for (const Expr* e : exprs) text += (text.empty() ? "" : ", ") + expr(e, 0);
    return text;
  }
  std::string indexed(const Access& access) {
    std::string text = (access.isVolatile ? "volatile " : "") + access.array->name;
    for (const Expr* index : access.indices) text += "[" + expr(index, 0) + "]";
    if (access.lanes > 1)
      text.insert(text.size() - 1,
                  (access.isAligned ? " :: " : " : ") + std::to_string(access.lanes));
    return text;
  }
  std::string primary(const Expr* expr);
  std::string simple(const Stmt& stmt);
  void branch(const If& branch, const SourceLocation& where);
  void loop(const Loop& loop, const SourceLocation& where);
  void doLoop(const DoLoop& loop, const SourceLocation& where);

  PrintOptions options_;
  std::string text_;
  std::size_t depth_ = 0;
  int left_ = 0;
};

std::string assigned(const Variable* result) {
  return result == nullptr ? std::string() : result->name + " = ";
}

std::string Printer::expr(const Expr* expr, int outer) {
  if (--left_ < 0) return "...";
  int own = kPostfix;
  std::string text;
  if (const auto* unary = expr->as<Unary>()) {
    own = kUnary;
    text = toString(unary->op) + this->expr(unary->operand, kUnary + 1);
  } else if (const auto* binary = expr->as<Binary>()) {
    own = precedence(binary->op);
    text = this->expr(binary->left, own) + " " + toString(binary->op) + " " +
           this->expr(binary->right, own + 1);
  } else if (const auto* select = expr->as<Select>()) {
    own = kTernary;
    text = this->expr(select->condition, kTernary + 1) + " ? " +
           this->expr(select->yes, kTernary + 1) + " : " + this->expr(select->no, kTernary);
  } else if (const auto* cast = expr->as<Cast>()) {
    own = kUnary;
    text = (cast->implicit ? "(~" : "(") + describe(expr->type) + ")" +
           this->expr(cast->operand, kUnary);
  } else {
    text = primary(expr);
    // A negative literal binds like a unary minus.
    if (!text.empty() && text[0] == '-') own = kUnary;
  }
  return own < outer ? "(" + text + ")" : text;
}

std::string Printer::primary(const Expr* expr) {
  if (const auto* constant = expr->as<Constant>()) return literal(*constant, expr->type);
  if (const auto* ref = expr->as<VarRef>()) return ref->variable->name;
  if (const auto* ref = expr->as<ArrayRef>()) return ref->array->name;
  if (const auto* access = expr->as<Access>()) return indexed(*access);
  if (const auto* address = expr->as<Misalignment>())
    return "misalignment(&" + indexed(address->place) + ", " + std::to_string(address->bytes) + ")";
  if (const auto* item = expr->as<WorkItem>()) return workItemName(*item);
  if (const auto* component = expr->as<Component>()) {
    return this->expr(component->base, kPostfix) + lanesName(*component);
  }
  if (const auto* member = expr->as<Member>()) {
    const StructType* structure = member->base->type.structure;
    const bool known = structure != nullptr && member->field < structure->fields.size();
    return this->expr(member->base, kPostfix) + "." +
           (known ? structure->fields[member->field].name : std::to_string(member->field));
  }
  if (const auto* call = expr->as<BuiltinExpr>()) {
    const bool reinterpret = call->builtin == Builtin::as_type_;
    const std::string name =
        reinterpret ? "as_" + toString(expr->type) : infoOf(call->builtin).name;
    return name + "(" + list(call->args) + ")";
  }
  const auto* construct = expr->as<Construct>();
  return describe(expr->type) + "(" + list(construct->args) + ")";
}

/// Statements of one line, without the semicolon; empty for all others.
std::string Printer::simple(const Stmt& stmt) {
  left_ = options_.maxNodes;
  if (const auto* declare = stmt.as<Declare>()) {
    return print(*declare->variable) +
           (declare->init == nullptr ? std::string() : " = " + expr(declare->init));
  }
  if (const auto* bind = stmt.as<Bind>()) return bind->alias->name + " = &" + expr(bind->target);
  if (const auto* assign = stmt.as<Assign>()) {
    return expr(assign->target) + (assign->streams ? " =(streams) " : " = ") + expr(assign->value);
  }
  if (stmt.as<Break>() != nullptr) return "break";
  if (stmt.as<Continue>() != nullptr) return "continue";
  if (const auto* leave = stmt.as<Return>()) {
    return leave->value == nullptr ? "return" : "return " + expr(leave->value);
  }
  if (const auto* barrier = stmt.as<Barrier>()) {
    static constexpr std::array<const char*, 4> kFlags{"", "local", "global", "local | global"};
    return std::string("barrier(") + kFlags[barrier->flags & 3] + ")";
  }
  if (const auto* atomic = stmt.as<Atomic>()) {
    const std::string operands = atomic->operands.empty() ? "" : ", " + list(atomic->operands);
    const bool isOrdered = atomic->op == AtomicOp::Load || atomic->op == AtomicOp::Store;
    const std::string ordering =
        isOrdered ? std::string(", ") + toString(atomic->order) + ", " + toString(atomic->scope)
                  : std::string();
    return assigned(atomic->result) + toString(atomic->op) + "(&" + expr(atomic->target) +
           operands + ordering + ")";
  }
  if (const auto* fence = stmt.as<Fence>()) {
    return std::string("fence(") + toString(fence->order) + ", " + toString(fence->scope) + ")";
  }
  if (const auto* call = stmt.as<Call>()) {
    return assigned(call->result) + call->function->name + "(" + list(call->args) + ")";
  }
  if (const auto* probe = stmt.as<Probe>()) {
    return "probe(\"" + probe->label + "\", " + expr(probe->value) + ")";
  }
  if (const auto* call = stmt.as<BuiltinCall>()) {
    return assigned(call->result) + infoOf(call->builtin).name + "(" + list(call->args) +
           (call->out == nullptr ? std::string() : ", &" + call->out->name) + ")";
  }
  return {};
}

void Printer::statement(const Stmt& stmt) {
  if (const auto* node = stmt.as<If>()) {
    branch(*node, stmt.where);
  } else if (const auto* node = stmt.as<Loop>()) {
    loop(*node, stmt.where);
  } else if (const auto* node = stmt.as<DoLoop>()) {
    doLoop(*node, stmt.where);
  } else if (const auto* node = stmt.as<Block>()) {
    line("{", stmt.where);
    body(node);
    line("}");
  } else {
    line(simple(stmt) + ";", stmt.where);
  }
}

void Printer::branch(const If& branch, const SourceLocation& where) {
  line("if (" + expr(branch.condition) + ") {", where);
  body(branch.then);
  if (branch.otherwise != nullptr) {
    line("} else {");
    body(branch.otherwise);
  }
  line("}");
}

void Printer::loop(const Loop& loop, const SourceLocation& where) {
  const std::string condition = loop.condition == nullptr ? "" : expr(loop.condition);
  const bool prepared = loop.prepare != nullptr && !loop.prepare->stmts.empty();
  const bool hasStep = loop.step != nullptr && !loop.step->stmts.empty();
  std::string step;
  bool simpleStep = true;
  if (hasStep) {
    for (const Stmt* stmt : loop.step->stmts) {
      const std::string text = simple(*stmt);
      simpleStep = simpleStep && !text.empty();
      step += (step.empty() ? "" : ", ") + text;
    }
  }
  if (!prepared && simpleStep) {
    const std::string head =
        (condition.empty() ? ";" : "; " + condition + ";") + (step.empty() ? "" : " " + step);
    line(hasStep ? "for (" + head + ") {"
                 : "while (" + (condition.empty() ? "true" : condition) + ") {",
         where);
    body(loop.body);
    line("}");
    return;
  }
  line("for (;;) {", where);
  ++depth_;
  labelled("prepare", loop.prepare);
  if (!condition.empty()) line("if (!(" + condition + ")) break;");
  --depth_;
  body(loop.body);
  ++depth_;
  labelled("step", loop.step);
  --depth_;
  line("}");
}

void Printer::doLoop(const DoLoop& loop, const SourceLocation& where) {
  line("do {", where);
  body(loop.body);
  ++depth_;
  labelled("prepare", loop.prepare);
  --depth_;
  line("} while (" + expr(loop.condition) + ");");
}

}  // namespace

std::string toString(const SourceLocation& where) {
  return where.file == nullptr ? std::string() : where.file + (":" + std::to_string(where.line));
}

std::string print(const Variable& variable) {
  std::string text;
  if (variable.readOnly && variable.space != Space::Constant) text += "const ";
  if (variable.space != Space::Private) text += std::string(toString(variable.space)) + " ";
  text += describe(variable.type);
  if (variable.role == Role::Alias) return text + "* " + variable.name;
  text += " " + variable.name;
  for (const std::int64_t extent : variable.extents) text += "[" + std::to_string(extent) + "]";
  if (variable.extents.empty()) {
    for (int d = 0; d < variable.rank; ++d) text += "[]";
  }
  return text;
}

std::string print(const Expr& expr, PrintOptions options) { return Printer(options).expr(&expr); }

std::string print(const Stmt& stmt, PrintOptions options) {
  Printer printer(options);
  printer.statement(stmt);
  return printer.take();
}

std::string print(const Function& function, PrintOptions options) {
  Printer printer(options);
  printer.function(function, false);
  return printer.take();
}

std::string print(const Kernel& kernel, PrintOptions options) {
  std::string text;
  for (const Function* function : kernel.functions) text += print(*function, options) + "\n";
  Printer printer(options);
  printer.function(*kernel.entry, true);
  return text + printer.take();
}

}  // namespace hpl::ir
