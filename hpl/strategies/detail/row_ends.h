// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_map>

#include "hpl/strategies/detail/interior.h"

/// Beyond the ids for which all comparisons are decided, at the ends of rows, most of them are
/// decided too: the others' outcome is the same, and that of the one that ends the ids is not.
namespace hpl::strategies::detail {

struct DecidedComparison {
  Decision decision;
  /// Bounds of the ids along the decision's axis.
  Hoister::Bounds bounds;
};
/// By comparison.
using Decided = std::unordered_map<const ir::Expr*, DecidedComparison>;

struct RowEnd {
  /// The ids before all of those, the ids after them, or some of them with the ids after them.
  enum class Which { First, Last, Rest };
  std::unordered_map<const ir::Expr*, bool> outcomes;
  /// The outcomes hold where this (long) is what bounds the ids; null: in any case.
  const ir::Expr* border = nullptr;
};

/// The comparisons that are decided at an end of a row, for the ids of the other axes for which all
/// are.
RowEnd rowEnd(const Source& source, const Decided& decided, int rowAxis, RowEnd::Which which);

}  // namespace hpl::strategies::detail
