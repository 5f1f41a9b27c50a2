// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_set>

#include "hpl/strategies/detail/body_writer.h"
#include "hpl/strategies/detail/loops.h"

namespace hpl::strategies::detail {

/// Finds loops that all copies of a body go through in the same steps, whichever elements of a row
/// and whichever rows they compute: one loop does for all of them, in which rows share their loads.
/// Only such loops that no turn leaves before its end.
class JointLoops {
 public:
  /// `otherAxis`: along which copies lie apart besides the lanes' one; -1: none.
  JointLoops(const BodyContext& context, int otherAxis);

  bool contains(const ir::Stmt& loop) const { return loops_.contains(&loop); }
  bool isEmpty() const { return loops_.empty(); }
  /// Variables, counters mostly, of which one does for all copies: they are the same for all, and
  /// are only assigned where all copies are together.
  const std::unordered_set<const ir::Variable*>& common() const { return common_; }
  /// Bytes that a lane carries from turn to turn.
  std::size_t carriedBytes() const { return carriedBytes_; }
  /// How much there is to compute in all of them, in operations of a turn.
  std::size_t operations() const { return operations_; }
  /// Some go on by the number of work-items.
  bool haveStrides() const { return haveStrides_; }
  /// Rows read the same neighbours in a turn.
  bool rowsShare() const { return rowsShare_; }

 private:
  void visit(const ir::Block& block, bool isJoint, bool inLoop);
  void visit(const ir::Stmt& stmt, bool isJoint, bool inLoop);
  void note(const ir::Expr& expr);
  void countCarried();
  bool goesTogether(const ir::Stmt& loop) const;

  const BodyContext& context_;
  Variation alongRow_;
  Variation acrossRows_;
  Variation both_;
  std::unordered_set<const ir::Stmt*> loops_;
  std::unordered_set<const ir::Variable*> common_;
  /// Assigned, or declared, where copies are on their own.
  std::unordered_set<const ir::Variable*> alone_;
  std::unordered_set<const ir::Variable*> declaredInLoops_;
  std::unordered_set<const ir::Variable*> assignedInLoops_;
  std::size_t carriedBytes_ = 0;
  std::size_t operations_ = 0;
  bool rowsShare_ = false;
  bool haveStrides_ = false;
};

}  // namespace hpl::strategies::detail
