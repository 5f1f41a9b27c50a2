// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hpl/strategies/detail/body_copies.h"
#include "hpl/strategies/detail/hidden_params.h"
#include "hpl/strategies/detail/overlapped_plan.h"

namespace hpl::strategies::detail {

/// Bytes of an element of each field.
std::vector<std::size_t> bytesOf(const ir::Kernel& kernel, const TimeProgram& program);

/// Writes the kernel of a time tile: load the boxes, for each step and each of its functions fill
/// the margins beyond the grid and compute, store the tile.
class OverlappedBuilder {
 public:
  OverlappedBuilder(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                    const TimeProgram& program, const OverlappedOptions& options);

  Overlapped build();

 private:
  using Expr = ir::Expr;
  /// Cells lo..hi-1 of each dimension, as long expressions.
  struct Box {
    std::array<const Expr*, 3> lo{};
    std::array<const Expr*, 3> hi{};
  };
  using Cell = std::array<const Expr*, 3>;
  using CellCode = std::function<void(ir::Block& out, const Cell& cell, int lanes)>;

  /// A field in local memory.
  struct Buffer {
    const ir::Variable* memory = nullptr;
    /// Which of the two boxes holds the present cells; null: there is one.
    const ir::Variable* now = nullptr;
  };

  // Expressions (long unless stated).
  const Expr* number(std::int64_t value) { return builder_.number(value, kLong); }
  const Expr* plus(const Expr* a, const Expr* b);
  const Expr* minus(const Expr* a, const Expr* b);
  const Expr* less(const Expr* a, const Expr* b) { return builder_.binary(ir::BinaryOp::Lt, a, b); }
  const Expr* both(const Expr* a, const Expr* b) {
    return a == nullptr ? b : b == nullptr ? a : builder_.binary(ir::BinaryOp::LogicalAnd, a, b);
  }
  /// first + count * perStep
  const Expr* line(std::int64_t first, std::int64_t perStep, const Expr* count);
  const Expr* declared(ir::Block& out, const std::string& stem, const Expr* value);
  const Expr* whole(std::size_t d) const { return whole_[d]; }
  int axisOf(std::size_t d) const { return program_.dims - 1 - static_cast<int>(d); }
  std::size_t dims() const { return static_cast<std::size_t>(program_.dims); }
  std::size_t fastest() const { return dims() - 1; }
  bool isAlone() const { return options_.local == std::array<int, 3>{1, 1, 1}; }
  const ir::Variable* param(int index) const {
    return source_.kernel().entry->params[static_cast<std::size_t>(index)];
  }

  // The frame of the kernel.
  void declareBuffers(ir::Block& out);
  void declareTile(ir::Block& out);
  void barrier(ir::Block& out);
  /// Loops over the cells of a box: those of a row `lanes` at a time, the rest one by one; by all
  /// work-items of the group.
  void forCells(ir::Block& out, const Box& box, int lanes, const CellCode& code);
  void load(ir::Block& out);
  void loadWrapped(ir::Block& out, std::size_t field, const Box& box);
  void keepUnwritten(ir::Block& out);
  void store(ir::Block& out);

  // Places of cells.
  const Expr* other(const Expr* slot) { return minus(number(1), slot); }
  const Expr* nowOf(std::size_t field);
  const Expr* inBuffer(std::size_t field, const Expr* slot, const Cell& cell, int lanes);
  /// The index (ulong) of the beginning of a cell's row, so that adding the cell's position along x
  /// gives the cell's.
  const Expr* rowIndex(const Expr* slot, const Cell& cell);
  const Expr* inGlobal(const ir::Variable* array, const Cell& cell, int lanes);
  int lanesFor(std::size_t field) const;
  void copyWithin(ir::Block& out, std::size_t field, const Box& box);

  // A function of a step (overlapped_stage.cpp).
  void stage(ir::Block& out, std::size_t k, const Expr* remaining);
  Box regionOf(const TimeStage& stage, const LinearGrowth& line, const Expr* remaining);
  const Expr* isNotEmpty(const Box& box);
  void fillMargins(ir::Block& out, const TimeRead& read, const Box& region);
  void fillFace(ir::Block& out, const TimeRead& read, const Box& reads, std::size_t d, bool high);
  void keepOthers(ir::Block& out, const TimeStage& stage, const LinearGrowth& line,
                  const Expr* remaining, const Box& region, std::size_t field);
  /// The fields as the function sees them around a cell; what depends on its row is computed here.
  Tiles tilesAt(ir::Block& out, const TimeStage& stage, const Cell& cell);
  const ir::Block& branch(int index) const;
  void compute(ir::Block& out, const TimeStage& stage, const Box& region);
  bool canBeVectors(const TimeStage& stage);
  void computeRows(ir::Block& out, const TimeStage& stage, const Box& region);
  /// Throws Refused where the function cannot be written in vectors.
  void vectors(const TimeStage& stage, const Tiles& tiles, const Cell& cell, int rows,
               ir::Block& out);
  void scalars(const TimeStage& stage, const Tiles& tiles, const Cell& cell, ir::Block& out);
  ir::Block* rowLoop(ir::Block& out, const Box& region, ir::Variable* x, bool inPlace);
  BodyContext context(const Tiles& tiles, int lanes);
  Place place(const Cell& cell);

  const TimeProgram& program_;
  OverlappedOptions options_;
  OverlappedPlan plan_;
  std::shared_ptr<ir::Kernel> rewritten_;
  Builder builder_;
  Source source_;
  HiddenParams hidden_;
  Hoister hoister_;
  Interior nowhere_;
  std::vector<const ir::Block*> branches_;
  std::vector<Buffer> buffers_;
  /// Of the grid, and of the tile.
  std::array<const Expr*, 3> whole_{};
  Box tile_;
  /// The cells that are loaded.
  Box box_;
  /// The cell (ulong) that lies at the beginning of the boxes in local memory.
  std::vector<const ir::Variable*> origin_;
  /// How far cells lie apart in them along each dimension, and the two boxes of a field.
  std::vector<std::int64_t> strides_;
  std::int64_t boxCells_ = 1;
  /// Why functions are not computed in vectors.
  std::string scalarReason_;
};

}  // namespace hpl::strategies::detail
