// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>

#include "hpl/strategies/detail/interior.h"

namespace hpl::strategies::detail {

/// A loop that goes on by the number of work-items: `for (at = idx; at < n; at += szx)`.
struct GridStride {
  const ir::Variable* counter = nullptr;
  /// Its first value, which grows with the ids.
  const ir::Expr* first = nullptr;
  /// Where the loop ends, the same for all ids.
  const ir::Expr* limit = nullptr;
  /// It goes on at the limit.
  bool isIncluded = false;
};

/// The loops that go on by the number of work-items along a row. Neighbours make as many turns of
/// them, but for two: where the ids are cut between those two, the counter always is that of the
/// first neighbour plus the distance from it.
class GridStrides {
 public:
  GridStrides() = default;
  /// `apart`: along these axes, besides the row's, work-items must not differ in first values and
  /// limits.
  GridStrides(const Source& source, const Interior& interior, int rowAxis,
              std::array<bool, 3> apart);

  /// Null: it is no such loop.
  const GridStride* of(const ir::Stmt& loop) const;
  bool counts(const ir::Variable* variable) const;
  bool isEmpty() const { return loops_.empty(); }
  void drop(const ir::Stmt& loop) { loops_.erase(&loop); }

  /// The first id (long) that makes a turn less than the ones before it. Ids are those of a
  /// work-item.
  static const ir::Expr* cut(const GridStride& stride, int rowAxis, Builder& builder,
                             const Hoister& hoister, std::array<const ir::Expr*, 3> ids,
                             const ir::Expr* size);

 private:
  std::map<const ir::Stmt*, GridStride> loops_;
};

}  // namespace hpl::strategies::detail
