// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hpl/strategies/detail/body_copies.h"
#include "hpl/strategies/detail/carry.h"
#include "hpl/strategies/detail/kernel_writer.h"
#include "hpl/strategies/detail/overlapped_plan.h"
#include "hpl/strategies/rows.h"

namespace hpl::strategies::detail {

/// Bytes of an element of each field.
std::vector<std::size_t> bytesOf(const ir::Kernel& kernel, const TimeProgram& program);

/// One grid (its number: long) of an array that has two, one after another; no number: an array of
/// one grid; no array: a field itself.
struct Half {
  const ir::Variable* array = nullptr;
  const ir::Expr* number = nullptr;
};

/// The common parts of the kernels of time tiles: loops over the cells of boxes, margins beyond the
/// grid, and functions computed in rows of vectors.
class TimeBuilder : protected KernelWriter {
 public:
  virtual ~TimeBuilder() = default;

 protected:
  using Expr = ir::Expr;
  /// Cells lo..hi-1 of each dimension, as long expressions; where hi is null, lo alone.
  struct Box {
    std::array<const Expr*, 3> lo{};
    std::array<const Expr*, 3> hi{};
  };
  using Cell = std::array<const Expr*, 3>;
  using CellCode = std::function<void(ir::Block& out, const Cell& cell, int lanes)>;

  /// `ringDims`: this many of the slowest dimensions are no dimensions of the boxes in local
  /// memory: boxes that differ in them are found by their slots.
  TimeBuilder(const ir::Kernel& kernel, const ir::AccessSummary& summary,
              const TimeProgram& program, const OverlappedOptions& options,
              const OverlappedPlan& plan, std::size_t ringDims);

  // Expressions (long unless stated).
  const Expr* number(std::int64_t value) { return builder_.number(value, kLong); }
  const Expr* plus(const Expr* a, const Expr* b);
  const Expr* minus(const Expr* a, const Expr* b);
  const Expr* less(const Expr* a, const Expr* b) { return builder_.binary(ir::BinaryOp::Lt, a, b); }
  const Expr* either(const Expr* a, const Expr* b) {
    return a == nullptr ? b : b == nullptr ? a : builder_.binary(ir::BinaryOp::LogicalOr, a, b);
  }
  /// first + count * perStep
  const Expr* line(std::int64_t first, std::int64_t perStep, const Expr* count);
  const Expr* declared(ir::Block& out, const std::string& stem, const Expr* value);
  const Expr* whole(std::size_t d) const { return whole_[d]; }
  int axisOf(std::size_t d) const { return program_.dims - 1 - static_cast<int>(d); }
  std::size_t dims() const { return static_cast<std::size_t>(program_.dims); }
  std::size_t fastest() const { return dims() - 1; }
  bool isAlone() const { return options_.local == std::array<int, 3>{1, 1, 1}; }
  /// Rows are loaded between multiples of this many cells: lines of the cache, as tiles begin
  /// there.
  std::int64_t cellsOfLine() const;
  const ir::Variable* param(int index) const {
    return source_.kernel().entry->params[static_cast<std::size_t>(index)];
  }
  const ir::Block& branch(int index) const;

  // The frame of the kernel.
  /// Local memory for `boxes` boxes of a field, and some more cells.
  const ir::Variable* declareMemory(ir::Block& out, std::size_t field, std::int64_t boxes,
                                    std::int64_t more = 0);
  void declareTile(ir::Block& out);
  /// For `further` steps after the first one, of each pass.
  void declareTile(ir::Block& out, const Expr* further);
  /// Where, along a dimension, the tile of a group (long) begins in the launch's part of the grid.
  virtual const Expr* tileBegin(std::size_t d, const Expr* group);
  void barrier(ir::Block& out);
  /// Gives the scalars that change from step to step the values of a step (long), which is counted
  /// from the launch's first one.
  void setStepScalars(ir::Block& out, const Expr* step);
  /// Loops over the cells of a box: those of a row `lanes` at a time, the rest one by one; by all
  /// work-items of the group.
  void forCells(ir::Block& out, const Box& box, int lanes, const CellCode& code);
  /// The cell that a cell beyond the ends of a periodic grid stands for; vectors lie inside of
  /// rows. `hasGhosts`: the array has cells beyond joined ends.
  Cell wrapped(const Cell& cell, bool isVector, bool hasGhosts);
  /// Loads a box into slotOf(field), from the field or from another array, which other groups
  /// write.
  void loadBox(ir::Block& out, std::size_t field, const Box& box, const Half& other = {});
  /// Writes the cells of slotOf(field) to the new field, or to another array.
  void storeBox(ir::Block& out, std::size_t field, const Box& box, const Half& other = {});
  /// Ends the kernel; `kind` says in the reason what the tiles are.
  Overlapped finished(ir::Block& body, const std::string& kind, std::size_t bytes);

  // Places of cells.
  /// The local memory of a field; null: it is in global memory only.
  virtual const ir::Variable* memoryOf(std::size_t field) const = 0;
  /// The field's box that holds the present cells; null: there is one.
  virtual const Expr* slotOf(std::size_t field) = 0;
  const Expr* inBuffer(std::size_t field, const Expr* slot, const Cell& cell, int lanes);
  /// The index (ulong) of the beginning of a cell's row, so that adding the cell's position along x
  /// gives the cell's.
  const Expr* rowIndex(const Expr* slot, const Cell& cell);
  const Expr* alongRow(const Cell& cell) { return builder_.cast(cell[fastest()], kUlong); }
  /// For the cells around one; where rows start there is up to the caller.
  Tile tileOver(const ir::Variable* memory, const Cell& cell);
  /// How far (ulong) a cell lies from the beginning of the boxes along a dimension but the fastest.
  virtual const Expr* placeAlong(std::size_t d, const Expr* at);
  const Expr* inGlobal(const ir::Variable* array, const Cell& cell, int lanes);
  /// The same in other memory, which other groups write.
  const Expr* inHalf(const Half& other, const Cell& cell, int lanes, bool isVolatile);
  int lanesFor(std::size_t field) const;

  // Regions.
  Box regionOf(const TimeStage& stage, const LinearGrowth& line, const Expr* remaining);
  const Expr* isNotEmpty(const Box& box);
  const Expr* isBetween(const Expr* value, const Expr* lo, const Expr* hi) {
    return both(builder_.binary(ir::BinaryOp::Ge, value, lo), less(value, hi));
  }
  /// As variables.
  Box declaredBox(ir::Block& out, const Box& box);
  /// The box with one plane alone.
  static Box onPlane(Box box, const Expr* plane) {
    box.lo[0] = plane;
    box.hi[0] = nullptr;
    return box;
  }
  /// Calls code(slab, lanes) for the slabs of a plane that a function leaves out around its region.
  void forLeftOut(const TimeStage& stage, const Box& plane, const Box& region,
                  const std::function<void(const Box& slab, int lanes)>& code);
  /// The cells that are read to compute a box.
  Box grown(const Box& region, const std::array<ir::Interval, 3>& offsets);
  /// Fills what is read beyond the faces of the boxes' dimensions.
  void fillMargins(ir::Block& out, const TimeRead& read, const Box& region);
  /// Writes the value beyond a face to cells in a slot.
  void fillValue(ir::Block& out, const TimeRead& read, std::size_t face, const Expr* slot,
                 const Box& cells);

  // A function of a step (time_rows.cpp).
  /// The fields as the function sees them around a cell; what depends on its row is computed here.
  virtual Tiles tilesAt(ir::Block& out, const TimeStage& stage, const Cell& cell) = 0;
  /// Whether some results take the places of cells that are still read, or were.
  virtual bool isInPlace(const TimeStage& stage) const = 0;
  void compute(ir::Block& out, const TimeStage& stage, const Box& region);
  /// How many rows the function computes at once; 0: it goes cell by cell.
  int rowsOf(const TimeStage& stage);
  /// Rows (planes) that are worked on together.
  struct RowsAtOnce {
    ir::Block* body = nullptr;
    const Expr* first = nullptr;
    const Expr* count = nullptr;
    /// Whether they are as many as were asked for, or one; null: that is the same.
    const Expr* areAll = nullptr;
  };
  struct RowOrder {
    /// Several at once need it.
    const Expr* isWide = nullptr;
    int rows = 1;
    /// Whether to begin with the first ones or with the last ones; null: with the first ones.
    const Expr* upwards = nullptr;
  };
  /// A loop over the rows of a box.
  RowsAtOnce rowsInOrder(ir::Block& out, std::size_t d, const Box& box, const RowOrder& order);
  /// RowOrder::upwards for the rows of a function.
  virtual const Expr* goesUp(const TimeStage&) { return nullptr; }
  /// Called after rows were computed.
  virtual void rowsDone(ir::Block&, const TimeStage&, const RowsAtOnce&) {}

  const TimeProgram& program_;
  OverlappedOptions options_;
  OverlappedPlan plan_;
  Interior nowhere_;
  /// For arrays of which kernels take the values instead of writing them.
  Sinks sinks_;
  std::vector<const ir::Block*> branches_;
  /// Sizes of the grid, and of the tile.
  std::array<const Expr*, 3> whole_{};
  Box tile_;
  /// The cells that are loaded.
  Box box_;
  /// The cell (ulong) that lies at the beginning of the boxes in local memory.
  std::vector<const ir::Variable*> origin_;
  std::size_t ringDims_;
  /// How far cells lie apart in the boxes along each dimension, and cells per box.
  std::vector<std::int64_t> strides_;
  std::int64_t boxCells_ = 1;
  /// Slots are counted in units of this many cells.
  std::int64_t slotCells_ = 1;
  /// Rows at once, of the present function.
  int jam_ = 1;
  /// Why functions are not computed in vectors.
  std::string scalarReason_;

 private:
  void fillFace(ir::Block& out, const TimeRead& read, const Box& reads, const Box& shown,
                std::size_t d, bool high);
  bool canBeVectors(const TimeStage& stage);
  void computeRows(ir::Block& out, const TimeStage& stage, const Box& region);
  void computeColumns(ir::Block& out, const TimeStage& stage, const Box& region);
  /// Throws Refused where the function cannot be written in vectors.
  void vectors(const TimeStage& stage, const Tiles& tiles, const Cell& cell, int rows,
               ir::Block& out);
  void scalars(const TimeStage& stage, const Tiles& tiles, const Cell& cell, ir::Block& out);
  ir::Block* rowLoop(ir::Block& out, const Box& region, ir::Variable* x, bool inPlace);
  Tiles joined(Tiles tiles);
  Tiles inBox(Tiles tiles, const ir::Variable* at);
  Carried carriedStep(const TimeStage& stage, const Tiles& tiles, const Cell& cell,
                      const ir::Variable* at, int rows);
  bool canHandOn(const TimeStage& stage, int rows);
  void vectorRows(ir::Block& out, const TimeStage& stage, const Tiles& tiles, const Cell& cell,
                  const Box& region, ir::Variable* x, int rows);
  int rowsAtOnce(const TimeStage& stage, const JamChoice& choice);
  BodyContext context(const Tiles& tiles, int lanes);
  Place place(const Cell& cell);

  /// The place in the row of the present cell, where that is what a loop counts.
  const ir::Variable* along_ = nullptr;
  /// Some functions' rows hand on values.
  bool handsOn_ = false;
};

}  // namespace hpl::strategies::detail
