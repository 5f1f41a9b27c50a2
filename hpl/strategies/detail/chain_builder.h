// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/strategies/detail/chain_plan.h"
#include "hpl/strategies/detail/time_builder.h"

namespace hpl::strategies::detail {

/// Writes the kernel of a chain: for each few rows that come into sight, load them and let each
/// function compute as many rows of its results, fill the margins beyond the grid of what it reads,
/// and store what is a result.
class ChainBuilder final : public TimeBuilder {
 public:
  ChainBuilder(const ir::Kernel& kernel, const ir::AccessSummary& summary,
               const TimeProgram& program, const OverlappedOptions& options)
      : ChainBuilder(kernel, summary, program, options, planChain(program, options)) {}

  Overlapped build();

 private:
  ChainBuilder(const ir::Kernel& kernel, const ir::AccessSummary& summary,
               const TimeProgram& program, const OverlappedOptions& options, const ChainPlan& chain)
      : TimeBuilder(kernel, summary, program, options, chain.rows, 0),
        chain_(chain),
        memory_(program.fields.size()) {
    // Planes are many rows; of rows, functions compute as many at once as suits them.
    if (program.dims == 3) options_.jam = static_cast<int>(chain.chunk);
  }

  const ir::Variable* memoryOf(std::size_t field) const override { return memory_[field]; }
  const Expr* slotOf(std::size_t) override { return nullptr; }
  /// Rows take the places of those that are not needed any more.
  const Expr* placeAlong(std::size_t d, const Expr* at) override;
  Tiles tilesAt(ir::Block& out, const TimeStage& stage, const Cell& cell) override;
  bool isInPlace(const TimeStage&) const override { return false; }

  /// The rows of a box that come into sight now, `lag` rows behind the front.
  Box nextRows(const Box& box, std::int64_t lag);
  void load(ir::Block& out);
  /// Bounds of what a function computes in all, but for the slowest dimension as variables.
  Box declaredRegion(ir::Block& out, std::size_t k);
  void stage(ir::Block& out, std::size_t k, const Box& whole);

  ChainPlan chain_;
  std::vector<const ir::Variable*> memory_;
  /// The first row that comes into sight now.
  const Expr* front_ = nullptr;
};

}  // namespace hpl::strategies::detail
