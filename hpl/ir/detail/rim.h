// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>

#include "hpl/ir/detail/index_value.h"
#include "hpl/ir/node.h"

namespace hpl::ir::detail {

/// Finds the value of an integer expression.
using ValueOf = std::function<Value(const Expr*)>;

/// The work-items that get into the branch of `condition`, among those of `outer`. Conjunctions of
/// comparisons of an id plus constant with a constant or with the global size of its axis narrow
/// the axis; any other condition on an axis makes its rim unknown, and any condition on something
/// else makes all rims unknown.
Rim narrowed(const Rim& outer, const Expr* condition, const ValueOf& valueOf);

/// The work-items that may get into the branch that is taken when `condition` is `truth`, among
/// those that `outer` lets in. Only comparisons as above keep work-items out.
Rim bounded(const Rim& outer, const Expr* condition, bool truth, const ValueOf& valueOf);

/// A comparison comes out alike for all work-items whose id is at least `before` from the first and
/// `after` from the last along `axis`.
struct Turn {
  int axis = 0;
  std::int64_t before = 0;
  std::int64_t after = 0;
};

/// Where the answer of a comparison changes. Empty: it is not one of an id plus constants with
/// constants or with the global size of its axis.
std::optional<Turn> turnOf(const Binary& comparison, const ValueOf& valueOf);

/// Whether the operator compares.
bool isComparison(BinaryOp op);

}  // namespace hpl::ir::detail
