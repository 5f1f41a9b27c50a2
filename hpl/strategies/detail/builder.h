// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "hpl/ir/kernel.h"

/// Makes nodes of rewritten kernels, with the small simplifications that keep them readable.
namespace hpl::strategies::detail {

inline constexpr ir::Type kInt{ir::Scalar::Int};
inline constexpr ir::Type kUint{ir::Scalar::Uint};
inline constexpr ir::Type kLong{ir::Scalar::Long};
inline constexpr ir::Type kUlong{ir::Scalar::Ulong};

/// The type with as many lanes.
constexpr ir::Type widened(const ir::Type& type, int lanes) {
  ir::Type wide = type;
  wide.lanes = static_cast<std::uint8_t>(lanes);
  return wide;
}

/// An integer that holds ids, one by one.
inline bool isWideInteger(const ir::Type& type) {
  return type.isScalar() && type.isInteger() && ir::sizeOf(type) >= 4;
}

/// The number that an integer constant of at most 64 bits stands for.
bool isNumber(const ir::Expr& expr, std::int64_t& value);

/// Without conversions between integers that hold ids.
const ir::Expr& peeled(const ir::Expr& expr);

class Builder {
 public:
  explicit Builder(ir::Arena& arena) : arena_(arena) {}

  const ir::Expr* number(std::int64_t value, const ir::Type& type);
  const ir::Expr* ref(const ir::Variable* variable);
  /// Operands have the same type (shifts: as many lanes). Adds and subtracts of constants are
  /// joined.
  const ir::Expr* binary(ir::BinaryOp op, const ir::Expr* left, const ir::Expr* right);
  const ir::Expr* unary(ir::UnaryOp op, const ir::Expr* operand);
  const ir::Expr* add(const ir::Expr* left, std::int64_t right);
  /// The operand itself when it has the type already.
  const ir::Expr* cast(const ir::Expr* operand, const ir::Type& type);
  const ir::Expr* select(const ir::Expr* condition, const ir::Expr* yes, const ir::Expr* no);
  const ir::Expr* smaller(const ir::Expr* left, const ir::Expr* right);
  const ir::Expr* larger(const ir::Expr* left, const ir::Expr* right);
  const ir::Expr* make(const ir::Type& type, decltype(ir::Expr::node) node,
                       const ir::SourceLocation& where = {});

  /// A private scalar or vector variable whose name begins with `stem`.
  ir::Variable* variable(const std::string& stem, const ir::Type& type);
  /// Like another one, with a name of its own.
  ir::Variable* variable(const ir::Variable& model);
  /// Keeps a name from being given again.
  void reserve(const std::string& name) { ++names_[name]; }

  void declare(ir::Block& block, ir::Variable* variable, const ir::Expr* init);
  void assign(ir::Block& block, const ir::Expr* target, const ir::Expr* value,
              const ir::SourceLocation& where = {});
  void statement(ir::Block& block, decltype(ir::Stmt::node) node,
                 const ir::SourceLocation& where = {});
  ir::Block* block() { return arena_.addBlock(); }
  /// For the loops from here on: they are in vectors where that pays, so compilers are asked to
  /// leave them as they are. Otherwise they turn the last few elements of rows into vectors, which
  /// takes them longer than all the rest, and the kernel, too.
  void setLoopsAsWritten(bool asWritten) { loopsAsWritten_ = asWritten; }
  bool loopsAsWritten() const { return loopsAsWritten_; }
  /// A loop of the library's, to be filled: without `prepare`, its step and its body empty.
  ir::Loop loopWhile(const ir::Expr* condition) {
    return {nullptr, condition, block(), block(), loopsAsWritten_};
  }
  /// `for (variable = first; condition; variable = next) body`
  ir::Block* loop(ir::Block& block, ir::Variable* variable, const ir::Expr* first,
                  const ir::Expr* condition, const ir::Expr* next);

  ir::Arena& arena() { return arena_; }

 private:
  std::string uniqueName(const std::string& stem);

  ir::Arena& arena_;
  std::unordered_map<std::string, int> names_;
  std::uint32_t nextId_ = 1u << 20;
  bool loopsAsWritten_ = false;
};

}  // namespace hpl::strategies::detail
