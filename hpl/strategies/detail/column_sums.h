// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_set>

#include "hpl/strategies/detail/forms.h"

namespace hpl::strategies::detail {

/// A body whose sums have been regrouped: those of a column are computed once for its neighbours on
/// either side. Integers of any width wrap around, so that the sums are the same ones. Sums of
/// floating-point numbers keep their order, but for masks that are the product of a column and a
/// row: they are added column by column.
struct ColumnSums {
  /// Null: the statements branch, read what the kernel writes, or would not gain.
  ir::Block* body = nullptr;
  /// Constants of the body that are sums of columns, one for each place along the row: worth it
  /// only where one vector hands them on to the next one.
  std::unordered_set<const ir::Variable*> columns{};
};

/// Rewrites a body as carry() takes it. The new one has other variables in place of those that it
/// sums up in, which nothing after it may read. `exact`: all sums of floating-point numbers keep
/// their order.
ColumnSums columnSums(const Source& source, Builder& builder, const ir::Block& body,
                      const Neighbours& neighbours, bool exact);

}  // namespace hpl::strategies::detail
