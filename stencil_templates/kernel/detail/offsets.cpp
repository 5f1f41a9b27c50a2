// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/kernel/detail/offsets.h"

#include "hpl/ir/walk.h"
#include "hpl/lang/capture.h"

namespace hpl::kernel_stencils {
namespace {

using ir::BinaryOp;

const ir::Type kLong{ir::Scalar::Long};

const ir::Expr* asLong(const ir::Expr* expr) { return hpl::detail::convertNode(expr, kLong); }
const ir::Expr* constantLong(std::int64_t value) {
  return hpl::detail::constantNode(kLong, static_cast<std::uint64_t>(value), 0);
}
const ir::Expr* binary(BinaryOp op, const ir::Expr* a, const ir::Expr* b) {
  return hpl::detail::binaryNode(op, kLong, a, b);
}

Offset sum(const Offset& a, const Offset& b, int sign) {
  Offset result;
  result.constant = a.constant + sign * b.constant;
  if (b.rest == nullptr) {
    result.rest = a.rest;
  } else if (a.rest == nullptr) {
    result.rest = sign > 0 ? b.rest : binary(BinaryOp::Sub, constantLong(0), b.rest);
  } else {
    result.rest = binary(sign > 0 ? BinaryOp::Add : BinaryOp::Sub, a.rest, b.rest);
  }
  return result;
}

Offsets sum(const Offsets& a, const Offsets& b, int sign) {
  Offsets result;
  for (int d = 0; d < 3; ++d) result.of[d] = sum(a.of[d], b.of[d], sign);
  return result;
}

/// The offset as one expression.
const ir::Expr* wholeOf(const Offset& offset) {
  if (offset.rest == nullptr) return constantLong(offset.constant);
  if (offset.constant == 0) return offset.rest;
  return binary(BinaryOp::Add, offset.rest, constantLong(offset.constant));
}

Offset scaled(const Offset& offset, const Offset& factor) {
  if (offset.isConstant() && offset.constant == 0) return {};
  if (offset.isConstant() && factor.isConstant()) return {offset.constant * factor.constant, {}};
  if (offset.isConstant() && offset.constant == 1) return factor;
  return {0, binary(BinaryOp::Mul, wholeOf(offset), wholeOf(factor))};
}

bool isZero(const Offset& offset) { return offset.isConstant() && offset.constant == 0; }

bool isConstant(const Offsets& offsets) {
  return offsets.of[0].isConstant() && offsets.of[1].isConstant() && offsets.of[2].isConstant();
}

}  // namespace

StrideAlgebra::StrideAlgebra(int rank, const ir::Variable* const* strides, const ir::Block& body)
    : rank_(rank), strides_(strides, strides + rank - 1) {
  findChanged(body);
  findCopies(body);
}

int StrideAlgebra::dimensionOf(const ir::Variable* variable) const {
  for (std::size_t s = 0; s < strides_.size(); ++s)
    if (strides_[s] == variable) return rank_ - 2 - static_cast<int>(s);
  return -1;
}

bool StrideAlgebra::mentionsStride(const ir::Expr& expr) {
  if (const auto found = mentions_.find(&expr); found != mentions_.end()) return found->second;
  bool mentions = false;
  if (const auto* ref = expr.as<ir::VarRef>())
    mentions = isStride(ref->variable) || isCopy(ref->variable);
  ir::forEachOperand(expr, [&](const ir::Expr& operand) { mentions |= mentionsStride(operand); });
  mentions_[&expr] = mentions;
  return mentions;
}

std::optional<Offsets> StrideAlgebra::product(const ir::Expr& left, const ir::Expr& right) {
  if (mentionsStride(left) && mentionsStride(right)) return std::nullopt;
  const auto a = decompose(left), b = decompose(right);
  if (!a || !b) return std::nullopt;
  const int last = rank_ - 1;
  const Offsets& whole = mentionsStride(left) ? *a : *b;
  const Offset& factor = mentionsStride(left) ? b->of[last] : a->of[last];
  Offsets result;
  for (int d = 0; d < rank_; ++d) result.of[d] = scaled(whole.of[d], factor);
  return result;
}

std::optional<Offsets> StrideAlgebra::decompose(const ir::Expr& index) {
  const int last = rank_ - 1;
  Offsets result;
  if (const auto* constant = index.as<ir::Constant>()) {
    result.of[last].constant = static_cast<std::int64_t>(constant->bits);
    return result;
  }
  if (!index.type.isScalar() || !index.type.isInteger()) return std::nullopt;
  if (const auto* cast = index.as<ir::Cast>()) {
    // Strides and offsets are small: conversions between types of 32 bits and more keep them.
    const ir::Type& from = cast->operand->type;
    const bool keeps =
        from.isScalar() && from.isInteger() && ir::sizeOf(from) >= 4 && ir::sizeOf(index.type) >= 4;
    if (keeps && (from.isSigned() || mentionsStride(index))) return decompose(*cast->operand);
  }
  if (const auto* binary = index.as<ir::Binary>()) {
    const bool adds = binary->op == BinaryOp::Add, subtracts = binary->op == BinaryOp::Sub;
    if (adds || subtracts) {
      const auto a = decompose(*binary->left), b = decompose(*binary->right);
      if (a && b) return sum(*a, *b, adds ? 1 : -1);
      return std::nullopt;
    }
    if (binary->op == BinaryOp::Mul && mentionsStride(index))
      return product(*binary->left, *binary->right);
  }
  if (const auto* unary = index.as<ir::Unary>(); unary && unary->op == ir::UnaryOp::Negate) {
    const auto operand = decompose(*unary->operand);
    if (!operand) return std::nullopt;
    return sum(result, *operand, -1);
  }
  if (const auto* ref = index.as<ir::VarRef>()) {
    if (const int d = dimensionOf(ref->variable); d >= 0) {
      result.of[d].constant = 1;
      return result;
    }
    if (const auto found = copies_.find(ref->variable); found != copies_.end())
      return found->second;
  }
  if (mentionsStride(index)) return std::nullopt;
  result.of[last].rest = asLong(&index);
  return result;
}

void StrideAlgebra::findChanged(const ir::Block& block) {
  for (const ir::Stmt* stmt : block.stmts) {
    if (const auto* assign = stmt->as<ir::Assign>()) changed_.insert(ir::rootOf(*assign->target));
    if (const auto* atomic = stmt->as<ir::Atomic>()) changed_.insert(atomic->result);
    if (const auto* call = stmt->as<ir::Call>()) changed_.insert(call->result);
    if (const auto* call = stmt->as<ir::BuiltinCall>()) {
      changed_.insert(call->result);
      changed_.insert(call->out);
    }
    ir::forEachBlock(*stmt, [&](const ir::Block& inner) { findChanged(inner); });
  }
}

void StrideAlgebra::findCopies(const ir::Block& block) {
  for (const ir::Stmt* stmt : block.stmts) {
    const auto* declare = stmt->as<ir::Declare>();
    if (declare != nullptr && declare->init != nullptr && !changed_.contains(declare->variable) &&
        mentionsStride(*declare->init)) {
      // Anything but constants may have changed where the variable is used.
      const auto value = decompose(*declare->init);
      const bool isMultiple = value && isConstant(*value);
      bool any = false;
      for (int d = 0; isMultiple && d + 1 < rank_; ++d) any = any || !isZero(value->of[d]);
      if (any) copies_[declare->variable] = *value;
    }
    ir::forEachBlock(*stmt, [&](const ir::Block& inner) { findCopies(inner); });
  }
}

}  // namespace hpl::kernel_stencils
