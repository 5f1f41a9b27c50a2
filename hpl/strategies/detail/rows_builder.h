// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <unordered_set>
#include <vector>

#include "hpl/strategies/detail/body_copies.h"
#include "hpl/strategies/detail/chessboard.h"
#include "hpl/strategies/detail/interior.h"
#include "hpl/strategies/detail/kernel_writer.h"
#include "hpl/strategies/detail/row_ends.h"
#include "hpl/strategies/detail/rows_checks.h"
#include "hpl/strategies/rows.h"

namespace hpl::strategies::detail {

/// Writes a kernel whose work-items run along rows, with vectors where nothing depends on the
/// border.
class RowsBuilder : private KernelWriter {
 public:
  RowsBuilder(const ir::Kernel& kernel, const ir::AccessSummary& summary,
              const RowsOptions& options, int laneBytes)
      : KernelWriter(kernel, summary, options.dims),
        options_(options),
        laneBytes_(laneBytes),
        counters_(kernel, options, builder_),
        idempotent_(isIdempotent(summary)),
        chessboard_(idempotent_ ? nullptr : chessboardOf(source_, options.order[0])) {}

  Rows build();
  /// How many vectors are handed on along rows.
  std::size_t kept() const { return kept_; }

 private:
  struct Axis {
    ir::Variable* begin = nullptr;
    ir::Variable* end = nullptr;
    ir::Variable* id = nullptr;
  };
  /// Ids for which decided comparisons are as decided.
  struct Range {
    const ir::Expr* lo = nullptr;
    const ir::Expr* hi = nullptr;
    /// Ids between them for which they are not.
    std::vector<const ir::Expr*> points{};
  };

  const ir::Expr* compare(ir::BinaryOp op, const ir::Expr* a, const ir::Expr* b) {
    return builder_.binary(op, a, b);
  }

  /// Decides comparisons of the marked axes.
  Interior interior(std::array<bool, 3> axes) const {
    Interior result(source_, axes, rowAxis(), options_.size);
    result.decidePoints();
    return result;
  }
  /// The same where vectors run.
  Interior vectorInterior(std::array<bool, 3> axes) const {
    Interior result = interior(axes);
    if (chessboard_ != nullptr) result.assume(*chessboard_);
    return result;
  }
  int laneStep() const { return chessboard_ != nullptr ? 2 : 1; }
  BodyContext context(const Interior& interior, int lanes) {
    BodyContext context =
        contextOf(interior, lanes, options_.order[0], options_.exact && lanes > 1);
    if (!counters_.isEmpty()) context.counters = &counters_;
    context.streams = options_.streams && lanes > 1;
    context.ownElements = options_.ownElements;
    context.size = sizesOf(options_);
    if (lanes > 1) context.laneBytes = laneBytes_;
    if (lanes > 1) context.laneStep = laneStep();
    return context;
  }
  Place place(const std::array<const ir::Variable*, 3>& ids);
  JamChoice chosenJam();
  void declareBlocks(ir::Block& out);
  Range range(ir::Block& out, const std::string& stem, const Axis& axis,
              const Hoister::Bounds& bounds);
  const ir::Expr* withinRange(ir::Block& out, const std::string& stem, const Axis& axis,
                              const Hoister::Bounds& bounds, Range& fit);
  const ir::Expr* differs(const ir::Expr* id, const Range& fit);
  ir::Block* betweenPoints(ir::Block& out, const BodyContext& context);
  void copies(BodyContext& context, const std::vector<Place>& places, ir::Block& out) {
    writeCopies(context, source_.body(), places, {jamAxis_, context.lanes > 1 && idempotent_}, out);
  }
  struct Loop {
    const ir::Block* body = nullptr;
    /// The id that each step computes.
    ir::Variable* x = nullptr;
    /// x, and the ids of the other axes.
    std::array<const ir::Variable*, 3> ids{};
    int width = 1;
    /// Where there is a step at least: what comes first and last.
    const ir::Block* before = nullptr;
    const ir::Block* after = nullptr;
    /// The bounds that the row must have, unless the block ends before; null: any.
    const ir::Expr* lower = nullptr;
    const ir::Expr* upper = nullptr;
  };
  void vectorLoop(ir::Block& out, const Loop& loop, const BodyContext& context, ir::Variable* from,
                  ir::Variable* to, const ir::Expr* allowed);
  const ir::Expr* beginChosen(ir::Block& out, const Loop& loop, const ir::Expr* from);
  ir::Block* fastEnds(std::array<const ir::Variable*, 3> ids, const RowEnd& known,
                      const ir::Expr* first, ir::Variable* from, ir::Variable* to,
                      const ir::Expr* end);
  ir::Block* fastRows(ir::Block& out, ir::Block& head, ir::Variable* from, ir::Variable* to);
  bool isNarrowed(const BodyContext& context) const;
  void row(ir::Block& out, ir::Variable* from, ir::Variable* to);
  void ends(ir::Block& out, const std::array<const ir::Variable*, 3>& ids, ir::Variable* from,
            ir::Variable* to);
  ir::Block* slowLoop(ir::Block& out, int axis, ir::Variable* step);
  void goBack(ir::Block& out, ir::Block& head);

  int rowAxis() const { return options_.order[0]; }
  /// Along which several rows, or planes, are computed at once.
  int slowAxis() const { return options_.dims == 3 ? options_.order[2] : options_.order[1]; }
  bool has(int axis) const { return axis < options_.dims; }
  Axis& axis(int a) { return axes_[static_cast<std::size_t>(a)]; }

  RowsOptions options_;
  /// As in BodyContext.
  int laneBytes_;
  Counters counters_;
  /// Elements may be computed twice.
  bool idempotent_;
  /// The condition that chooses every second id of a row, which vectors then consist of; null: none
  /// does. In place only: vectors of all ids would load elements that the vector before has just
  /// stored in part, which processors wait for. Out of place, rows at once and values handed on are
  /// worth more.
  const ir::Expr* chessboard_;
  std::array<Axis, 3> axes_;
  int jam_ = 1;
  int jamAxis_ = -1;
  int vectors_ = 1;
  bool usedSizes_ = false;
  std::size_t kept_ = 0;
  bool isApart_ = false;
  /// Jam: there are as many rows left away from the borders (a variable), and what says the latter.
  const ir::Expr* tall_ = nullptr;
  const ir::Expr* jamWithin_ = nullptr;
  Range jamFit_;
  /// Tests of equality at whose points rows are cut already.
  std::unordered_set<const ir::Expr*> points_;
  /// Loops for which they are.
  std::unordered_set<const ir::Stmt*> cutLoops_;
};

}  // namespace hpl::strategies::detail
