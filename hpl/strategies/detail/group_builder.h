// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hpl/strategies/detail/group_uniformity.h"
#include "hpl/strategies/detail/kernel_writer.h"
#include "hpl/strategies/group_loops.h"

namespace hpl::strategies::detail {

/// Writes a kernel whose work-items compute groups. Throws Refused.
class GroupBuilder : private KernelWriter {
 public:
  GroupBuilder(const ir::Kernel& kernel, const ir::AccessSummary& summary, int dims,
               const std::array<int, 3>& local)
      : KernelWriter(kernel, summary, dims), dims_(dims), local_(local), uniformity_(source_) {}

  GroupLoops build();

 private:
  /// The work-items that a piece of the kernel is for, as bounds (ulong).
  struct Lanes {
    const ir::Expr* begin = nullptr;
    const ir::Expr* end = nullptr;
    const ir::Block* body = nullptr;
  };

  // Pieces: what lies between two barriers, or between statements of the group.
  void number(const ir::Block& block);
  void note(const ir::Stmt& stmt);
  void note(const ir::Expr& expr);
  bool isOfGroup(const ir::Stmt& stmt) const;
  /// Each work-item has one from piece to piece.
  bool isKept(const ir::Variable* variable) const { return kept_.contains(variable); }

  void declareMemory(const ir::Block& block, ir::Block& out);
  void checkMemory() const;
  void write(const ir::Block& block, ir::Block& out);
  void writeControl(const ir::Stmt& stmt, ir::Block& out);
  const ir::Block* together(const ir::Block* block);
  void flush(ir::Block& out);
  Lanes lanesOf(const std::vector<const ir::Stmt*>& piece);
  void copy(const ir::Block& block, ir::Block& out);
  void copy(const ir::Stmt& stmt, ir::Block& out);
  const ir::Expr* expr(const ir::Expr& original);
  const ir::Expr* query(const ir::Expr& original, const ir::WorkItem& item);
  const ir::Expr* lane(int axis);
  /// The number of work-items along an axis.
  std::int64_t local(int axis) const { return local_[static_cast<std::size_t>(axis)]; }
  const ir::Variable* copyOf(const ir::Variable* variable);
  const ir::Expr* kept(const ir::Variable* variable, std::vector<const ir::Expr*> indices);

  int dims_;
  std::array<int, 3> local_;
  GroupUniformity uniformity_;
  int piece_ = 0;
  std::unordered_map<const ir::Variable*, int> pieceOf_;
  std::unordered_set<const ir::Variable*> kept_;
  std::unordered_map<const ir::Variable*, ir::Variable*> copies_;
  std::vector<const ir::Stmt*> pending_;
  /// Along each axis.
  std::array<const ir::Variable*, 3> group_{};
  std::array<const ir::Variable*, 3> groups_{};
  /// Within a loop over work-items.
  std::array<const ir::Variable*, 3> lane_{};
};

}  // namespace hpl::strategies::detail
