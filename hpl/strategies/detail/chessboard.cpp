// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/chessboard.h"

namespace hpl::strategies::detail {
namespace {

using ir::BinaryOp;
using ir::Expr;

/// Finds the comparison. Nothing is known of borders yet, so no comparison counts as decided.
class ColourFinder {
 public:
  ColourFinder(const Source& source, int axis)
      : source_(source), axis_(axis), anywhere_(source, {false, false, false}, axis, {0, 0, 0}) {}

  /// For a block that declares values and then does everything else under one condition.
  const Expr* in(const ir::Block& block) const {
    const Expr* found = nullptr;
    for (const ir::Stmt* stmt : block.stmts) {
      if (stmt->as<ir::Declare>() != nullptr) continue;
      if (found != nullptr) return nullptr;
      if (const auto* inner = stmt->as<ir::Block>()) {
        found = in(*inner);
      } else if (const auto* branch = stmt->as<ir::If>()) {
        if (branch->otherwise != nullptr && !branch->otherwise->stmts.empty()) return nullptr;
        found = among(*branch->condition);
        if (found == nullptr) found = in(*branch->then);
      }
      if (found == nullptr) return nullptr;
    }
    return found;
  }

 private:
  /// One of the conditions that must all hold.
  const Expr* among(const Expr& condition) const {
    const auto* binary = condition.as<ir::Binary>();
    if (binary == nullptr) return nullptr;
    if (binary->op == BinaryOp::LogicalAnd) {
      const Expr* left = among(*binary->left);
      return left != nullptr ? left : among(*binary->right);
    }
    return chooses(*binary) ? &condition : nullptr;
  }

  bool chooses(const ir::Binary& comparison) const {
    if (comparison.op != BinaryOp::Eq && comparison.op != BinaryOp::Ne) return false;
    const Expr& parity = valueOf(*comparison.left);
    const auto* binary = parity.as<ir::Binary>();
    std::int64_t number = 0;
    if (binary == nullptr || !isNumber(*binary->right, number)) return false;
    if (growth(*binary->left) != 1 || growth(*comparison.right) != 0) return false;
    if (!source_.isPure(*comparison.left) || !source_.isPure(*comparison.right)) return false;
    if (binary->op == BinaryOp::BitAnd) return number == 1;
    if (binary->op != BinaryOp::Rem || number != 2) return false;
    // -1 % 2 is -1, and 1 % 2 is 1: what may be negative has no parity but by comparison with 0.
    return isNeverNegative(*binary->left) || (isNumber(*comparison.right, number) && number == 0);
  }

  std::optional<int> growth(const Expr& expr) const { return anywhere_.growth(expr, axis_); }

  const Expr& valueOf(const Expr& expr) const {
    if (const auto* ref = expr.as<ir::VarRef>())
      if (const Expr* value = source_.constantValue(ref->variable)) return valueOf(*value);
    const auto* cast = expr.as<ir::Cast>();
    const bool keeps = cast != nullptr && isWide(expr.type) && isWide(cast->operand->type);
    return keeps ? valueOf(*cast->operand) : expr;
  }

  static bool isWide(const ir::Type& type) {
    return type.isScalar() && type.isInteger() && ir::sizeOf(type) >= 4;
  }

  bool isNeverNegative(const Expr& expr) const {
    std::int64_t number = 0;
    if (expr.type.isInteger() && !expr.type.isSigned()) return true;
    if (isNumber(expr, number)) return number >= 0;
    if (const auto* ref = expr.as<ir::VarRef>()) {
      const Expr* value = source_.constantValue(ref->variable);
      return value != nullptr && isNeverNegative(*value);
    }
    // Ids and what is made of them stay below 2^31 where they are cast to int.
    if (const auto* cast = expr.as<ir::Cast>())
      return isWide(expr.type) && isWide(cast->operand->type) && isNeverNegative(*cast->operand);
    const auto* binary = expr.as<ir::Binary>();
    return binary != nullptr && (binary->op == BinaryOp::Add || binary->op == BinaryOp::Mul) &&
           isNeverNegative(*binary->left) && isNeverNegative(*binary->right);
  }

  const Source& source_;
  int axis_;
  Interior anywhere_;
};

}  // namespace

const Expr* chessboardOf(const Source& source, int axis) {
  return ColourFinder(source, axis).in(source.body());
}

}  // namespace hpl::strategies::detail
