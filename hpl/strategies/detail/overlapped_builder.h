// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/strategies/detail/time_builder.h"

namespace hpl::strategies::detail {

/// Writes the kernel of a time tile: load the boxes, for each step and each of its functions fill
/// the margins beyond the grid and compute, store the tile.
class OverlappedBuilder : public TimeBuilder {
 public:
  OverlappedBuilder(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                    const TimeProgram& program, const OverlappedOptions& options)
      : TimeBuilder(kernel, summary, program, options, planOverlapped(program, options), 0) {
    // So that compilers see that vectors lie at multiples of their length.
    if (isAlone()) slotCells_ = options_.lanes;
  }

  Overlapped build();

 protected:
  /// A field in local memory.
  struct Buffer {
    const ir::Variable* memory = nullptr;
    /// Where the present cells begin, 0 or `distance`; null: they have one place.
    ir::Variable* now = nullptr;
    std::int64_t distance = 0;
  };

  void declareBuffers(ir::Block& out);
  void declarePlaces(ir::Block& out);
  void load(ir::Block& out);
  void store(ir::Block& out);
  void keepUnwritten(ir::Block& out);

  const ir::Variable* memoryOf(std::size_t field) const override { return buffers_[field].memory; }
  const Expr* slotOf(std::size_t field) override;
  const Expr* otherSlotOf(std::size_t field) {
    return minus(number(buffers_[field].distance), slotOf(field));
  }
  void copyWithin(ir::Block& out, std::size_t field, const Box& box, int lanes);

  // A function of a step (overlapped_stage.cpp).
  void stage(ir::Block& out, std::size_t k, const Expr* remaining);
  void betweenBarriers(ir::Block& out, const Expr* condition, const ir::Block& body);
  void keepOthers(ir::Block& out, const TimeStage& stage, std::size_t field);
  /// Whether new cells of the field take the places of old ones.
  bool slides(const TimeStage& stage, int field) const {
    return OverlappedPlan::swaps(stage, field) &&
           plan_.fields[static_cast<std::size_t>(field)].slide > 0;
  }
  static bool leavesOut(const TimeStage& stage) {
    return !stage.records && (stage.low != std::array<std::int64_t, 3>{} ||
                              stage.high != std::array<std::int64_t, 3>{});
  }
  /// The box that the function would compute if it left out nothing.
  Box wantedOf(ir::Block& out, const TimeStage& stage, const LinearGrowth& box,
               const Expr* remaining);
  void slideLeftOut(ir::Block& out, const TimeStage& stage, bool isBefore);
  const Expr* goesUp(const TimeStage& stage) override;
  void rowsDone(ir::Block& out, const TimeStage& stage, const RowsAtOnce& rows) override;
  /// Called when rows of a field that slides have got their new cells; their old ones were not
  /// overwritten yet.
  virtual void rowsMoved(ir::Block& /*out*/, int /*field*/, const Expr* /*first*/,
                         const Expr* /*count*/) {}
  /// The same where a function has no cells to compute; null: nothing.
  virtual const ir::Block* nothingMoved(int /*field*/) { return nullptr; }
  Tiles tilesAt(ir::Block& out, const TimeStage& stage, const Cell& cell) override;
  bool isInPlace(const TimeStage& stage) const override;

  std::vector<Buffer> buffers_;
  /// For the present function: the box that it computes, and the one that it would.
  Box region_;
  Box wanted_;
};

}  // namespace hpl::strategies::detail
