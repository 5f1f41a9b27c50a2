// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "hpl/ir/detail/index_value.h"
#include "hpl/ir/node.h"

namespace hpl::ir::detail {

/// Numbers that an index may be; their sums do not overflow.
inline bool isSmallNumber(std::int64_t number) { return number > -(1 << 20) && number < (1 << 20); }

/// The value of a small number in its type; nothing where the expression is none.
inline std::optional<std::int64_t> numberOf(const Expr& expr) {
  if (!expr.type.isIntegerScalar()) return std::nullopt;
  std::optional<std::int64_t> number;
  if (const auto* cast = expr.as<Cast>()) {
    if (isWide(expr.type)) number = numberOf(*cast->operand);
  } else if (const auto* constant = expr.as<Constant>()) {
    number = static_cast<std::int64_t>(constant->bits);
  }
  const bool isKnown = number && isSmallNumber(*number) && (*number >= 0 || expr.type.isSigned());
  return isKnown ? number : std::nullopt;
}

}  // namespace hpl::ir::detail
