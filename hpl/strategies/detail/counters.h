// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_map>
#include <vector>

#include "hpl/strategies/detail/builder.h"
#include "hpl/strategies/rows.h"

namespace hpl::strategies::detail {

/// Arrays that a kernel only counts in, by atomics whose results are not used: histograms. Each
/// work-item counts in copies of its own and adds them to the arrays when it is done. Several
/// copies, which neighbours use in turns: elements that count in the same place need not wait for
/// each other.
class Counters {
 public:
  /// The copies for the arrays that options name. `kernel` must have passed checkCounters.
  Counters(const ir::Kernel& kernel, const RowsOptions& options, Builder& builder);

  bool isEmpty() const { return copies_.empty(); }
  bool contains(const ir::Variable* array) const { return copies_.contains(array); }

  /// Sets all to 0.
  void begin(ir::Block& out);
  /// Adds an amount to the element with these indices, in the copy of this lane.
  void add(ir::Block& out, const ir::Variable* array, std::vector<const ir::Expr*> indices,
           const ir::Expr* amount, int lane);
  /// Adds the copies to the arrays.
  void end(ir::Block& out);

 private:
  struct Copy {
    const ir::Variable* array = nullptr;
    ir::Variable* memory = nullptr;
    std::vector<std::int64_t> extents;
    std::int64_t elements = 1;
  };
  const ir::Expr* element(const Copy& copy, int which, const ir::Expr* at);

  Builder& builder_;
  int copiesOfEach_ = 1;
  std::unordered_map<const ir::Variable*, Copy> copies_;
  /// In the order of the parameters.
  std::vector<const ir::Variable*> order_;
};

/// Throws Refused unless all of a kernel's atomics count in arrays that the options name.
void checkCounters(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                   const RowsOptions& options);

}  // namespace hpl::strategies::detail
