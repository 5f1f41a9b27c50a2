// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/detail/colour.h"

#include <algorithm>

#include "hpl/ir/detail/literal.h"

namespace hpl::ir::detail {
namespace {

/// Longer conditions are not followed.
constexpr int kMostNodes = 256;

/// Numbers that keep their last bit where they are converted, added or multiplied: they wrap.
bool isWhole(const Type& type) { return type.isIntegerScalar() && type.scalar != Scalar::Bool; }

}  // namespace

std::optional<ColourFinder::Parity> ColourFinder::parityOf(const Variable* variable) {
  if (!once_) once_.emplace(entry_);
  const auto& params = entry_.params;
  if (std::find(params.begin(), params.end(), variable) != params.end())
    return once_->isAssigned(variable) ? std::nullopt : std::optional(Parity{});
  const Expr* value = once_->valueOf(variable);
  return value != nullptr ? parityOf(*value) : std::nullopt;
}

std::optional<ColourFinder::Parity> ColourFinder::parityOf(const Expr& expr) {
  if (!isWhole(expr.type) || --nodesLeft_ < 0) return std::nullopt;
  if (const auto number = numberOf(expr)) return Parity{0, *number == 0 || *number == 1, false};
  if (const auto* item = expr.as<WorkItem>()) {
    if (item->query == Query::GlobalId) return Parity{1U << item->dim};
    // The same for the whole launch.
    if (item->query == Query::GlobalSize || item->query == Query::Origin) return Parity{};
    return std::nullopt;
  }
  if (const auto* ref = expr.as<VarRef>()) return parityOf(ref->variable);
  if (const auto* cast = expr.as<Cast>()) {
    auto parity = parityOf(*cast->operand);
    // -1 is a large number in an unsigned type.
    if (parity && !expr.type.isSigned()) parity->isSignedBit = false;
    return parity;
  }
  if (const auto* unary = expr.as<Unary>()) {
    auto parity = parityOf(*unary->operand);
    if (!parity || unary->op == UnaryOp::Plus) return parity;
    if (unary->op == UnaryOp::Negate) return Parity{parity->axes};
    return std::nullopt;
  }
  const auto* binary = expr.as<Binary>();
  return binary != nullptr ? parityOf(*binary) : std::nullopt;
}

std::optional<ColourFinder::Parity> ColourFinder::remainderOf(const Binary& binary) {
  const auto parity = parityOf(*binary.left);
  const auto number = numberOf(*binary.right);
  const std::int64_t wanted = binary.op == BinaryOp::Rem ? 2 : 1;
  if (!parity || number != wanted) return std::nullopt;
  const bool mayBeNegative = binary.op == BinaryOp::Rem && binary.left->type.isSigned();
  return Parity{parity->axes, !mayBeNegative, true};
}

std::optional<ColourFinder::Parity> ColourFinder::parityOf(const Binary& binary) {
  switch (binary.op) {
    case BinaryOp::Add:
    case BinaryOp::Sub:
    case BinaryOp::BitXor: {
      const auto left = parityOf(*binary.left), right = parityOf(*binary.right);
      if (!left || !right) return std::nullopt;
      const bool isBit = binary.op == BinaryOp::BitXor && left->isBit && right->isBit;
      return Parity{left->axes ^ right->axes, isBit, isBit};
    }
    case BinaryOp::Mul: {
      const bool isLeft = numberOf(*binary.left).has_value();
      const auto number = numberOf(isLeft ? *binary.left : *binary.right);
      if (!number) return std::nullopt;
      if (*number % 2 == 0) return Parity{};
      const auto parity = parityOf(isLeft ? *binary.right : *binary.left);
      return parity ? std::optional(Parity{parity->axes}) : std::nullopt;
    }
    case BinaryOp::Rem:
    case BinaryOp::BitAnd:
      return remainderOf(binary);
    default:
      return std::nullopt;
  }
}

unsigned ColourFinder::axesOf(const Binary& comparison, bool truth) {
  const bool isEqual = (comparison.op == BinaryOp::Eq) == truth;
  const auto left = parityOf(*comparison.left), right = parityOf(*comparison.right);
  if (!left || !right) return 0;
  // Equal numbers have equal last bits; two different bits are 0 and 1.
  if (isEqual || (left->isBit && right->isBit)) return left->axes ^ right->axes;
  const auto isZero = [](const Expr& side) { return numberOf(side) == 0; };
  if (left->isSignedBit && isZero(*comparison.right)) return left->axes;
  if (right->isSignedBit && isZero(*comparison.left)) return right->axes;
  return 0;
}

unsigned ColourFinder::axesOf(const Expr& condition, bool truth) {
  if (const auto* unary = condition.as<Unary>(); unary != nullptr)
    return unary->op == UnaryOp::LogicalNot ? axesOf(*unary->operand, !truth) : 0;
  const auto* binary = condition.as<Binary>();
  if (binary != nullptr && (binary->op == BinaryOp::Eq || binary->op == BinaryOp::Ne))
    return axesOf(*binary, truth);
  // `if_((idx + idy) % 2)`.
  const auto parity = parityOf(condition);
  return parity && (parity->isBit || parity->isSignedBit) ? parity->axes : 0;
}

std::vector<Colour> ColourFinder::coloursOf(const Expr& condition, bool truth) {
  nodesLeft_ = kMostNodes;
  std::vector<Colour> colours;
  addColours(condition, truth, colours);
  return colours;
}

void ColourFinder::addColours(const Expr& condition, bool truth, std::vector<Colour>& colours) {
  if (--nodesLeft_ < 0) return;
  const auto* binary = condition.as<Binary>();
  if (binary != nullptr && binary->op == (truth ? BinaryOp::LogicalAnd : BinaryOp::LogicalOr)) {
    addColours(*binary->left, truth, colours);
    addColours(*binary->right, truth, colours);
    return;
  }
  const unsigned axes = axesOf(condition, truth);
  if (axes == 0) return;
  const auto found = std::find(numbered_.begin(), numbered_.end(), std::pair(&condition, truth));
  colours.push_back({static_cast<int>(found - numbered_.begin()), axes});
  if (found == numbered_.end()) numbered_.emplace_back(&condition, truth);
}

}  // namespace hpl::ir::detail
