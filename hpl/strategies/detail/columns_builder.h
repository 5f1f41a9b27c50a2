// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "hpl/strategies/columns.h"
#include "hpl/strategies/detail/body_copies.h"
#include "hpl/strategies/detail/kernel_writer.h"

namespace hpl::strategies::detail {

/// Writes what columns() returns. Throws Refused for what it does not suit.
class ColumnsBuilder : private KernelWriter {
 public:
  ColumnsBuilder(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                 const ColumnsOptions& options)
      : KernelWriter(kernel, summary, options.dims),
        options_(options),
        slow_(options.order[static_cast<std::size_t>(options.dims - 1)]),
        row_(options.order[0]),
        between_(options.order[1]) {}

  Columns build();

 private:
  const ir::Expr* compare(ir::BinaryOp op, const ir::Expr* a, const ir::Expr* b) {
    return builder_.binary(op, a, b);
  }
  const ir::Expr* id(int axis) { return builder_.ref(id_[static_cast<std::size_t>(axis)]); }
  const ir::Expr* end(int axis) { return builder_.ref(end_[static_cast<std::size_t>(axis)]); }
  const ir::Expr* declareIds(ir::Block& out);
  Place place(const std::array<const ir::Variable*, 3>& ids);
  const ir::Expr* within(const BodyContext& context);
  const ir::Expr* areAligned();
  const ir::Expr* haveRoom();
  /// Ids of a work-item along an axis.
  int each(int axis) const {
    return axis == slow_          ? (options_.marches ? 1 : options_.elements)
           : axis == row_         ? options_.lanes
           : axis < options_.dims ? options_.between
                                  : 1;
  }
  ir::Variable* loopOver(ir::Block*& out, int axis, const std::array<const ir::Variable*, 3>& ids);
  ir::Block* together(ir::Block& out, Columns& result);
  void lookAround(BodyContext& context);
  ir::Block* copies(BodyContext& context, const ir::Variable* alone);
  std::vector<Place> placesTogether(const ir::Variable* onMarch, const ir::Variable* alone);
  ir::Block* rowByRow(ir::Block& out, const Interior& interior);
  /// Ids of a work-item that vectors compute (long), from the first one on and before the other
  /// one.
  struct Cut {
    ir::Variable* from = nullptr;
    ir::Variable* to = nullptr;
  };
  void declareCut(ir::Block& out, const Hoister::Bounds& bounds, const Cut& cut,
                  const ir::Expr* begin, const ir::Expr* stop);
  /// True if vectors may compute some of the rows that lie beside each other.
  bool cutsRows() const { return options_.marches && options_.dims == 3 && options_.between > 1; }
  const ir::Expr* areAllRows();
  const ir::Expr* areAllLanesAndRows();
  ir::Block* oneByOne();
  void declareRange(ir::Block& out, const BodyContext& context);
  const ir::Expr* areInRows(ir::Block& out, const BodyContext& context);
  bool isEmptyOutside(const Interior& interior, const BodyContext& context);
  const ir::Expr* pastLanes(const ir::Expr* id, const std::array<const ir::Variable*, 3>& ids);
  const ir::Expr* pastVectors(const ir::Expr* id);
  CopyOrder order() const;

  ColumnsOptions options_;
  /// The axes along which columns and rows run, and that between them in three dimensions.
  int slow_;
  int row_;
  int between_;
  /// The work-item's (first) id, and the first and the end of the launch's ids.
  std::array<ir::Variable*, 3> id_{};
  std::array<const ir::Expr*, 3> first_{};
  std::array<ir::Variable*, 3> end_{};
  /// Vectors along rows.
  AlignedRows rows_;
  ir::Variable* isFast_ = nullptr;
  bool isEmptyOutside_ = false;
  /// Along a march, and of the rows beside each other; what a row on its own asks for.
  Cut march_;
  Cut beside_;
  Hoister::Bounds alone_;
};

}  // namespace hpl::strategies::detail
