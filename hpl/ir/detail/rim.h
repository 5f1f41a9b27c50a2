// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "hpl/ir/detail/index_value.h"

namespace hpl::ir::detail {

/// Which work-items get into the branch of `condition`, among those of `outer`: conjunctions of
/// comparisons of an id plus constant with a constant or with the global size of its axis narrow
/// the axis; whatever else is said about an axis makes its rim unknown, whatever else is said at
/// all, everybody's. `valueOf` gives what is known of an integer expression.
Rim narrowed(const Rim& outer, const Expr* condition,
             const std::function<Value(const Expr*)>& valueOf);

}  // namespace hpl::ir::detail
