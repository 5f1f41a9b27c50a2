// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/strategies/detail/time_builder.h"

namespace hpl::strategies::detail {

/// Writes the kernel of a time tile: load the boxes, for each step and each of its functions fill
/// the margins beyond the grid and compute, store the tile.
class OverlappedBuilder final : public TimeBuilder {
 public:
  OverlappedBuilder(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                    const TimeProgram& program, const OverlappedOptions& options)
      : TimeBuilder(kernel, summary, program, options, planOverlapped(program, options), 0) {}

  Overlapped build();

 private:
  /// A field in local memory.
  struct Buffer {
    const ir::Variable* memory = nullptr;
    /// Which of the two boxes holds the present cells; null: there is one.
    const ir::Variable* now = nullptr;
  };

  void declareBuffers(ir::Block& out);
  void load(ir::Block& out);
  void store(ir::Block& out);
  void keepUnwritten(ir::Block& out);

  const ir::Variable* memoryOf(std::size_t field) const override { return buffers_[field].memory; }
  const Expr* slotOf(std::size_t field) override;
  const Expr* other(const Expr* slot) { return minus(number(1), slot); }
  void copyWithin(ir::Block& out, std::size_t field, const Box& box);

  // A function of a step (overlapped_stage.cpp).
  void stage(ir::Block& out, std::size_t k, const Expr* remaining);
  void keepOthers(ir::Block& out, const TimeStage& stage, const LinearGrowth& line,
                  const Expr* remaining, const Box& region, std::size_t field);
  Tiles tilesAt(ir::Block& out, const TimeStage& stage, const Cell& cell) override;
  bool isInPlace(const TimeStage& stage) const override;

  std::vector<Buffer> buffers_;
};

}  // namespace hpl::strategies::detail
