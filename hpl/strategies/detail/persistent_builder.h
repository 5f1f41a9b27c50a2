// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "hpl/strategies/detail/overlapped_builder.h"

namespace hpl::strategies::detail {

/// Writes the kernel whose groups keep their tiles: load the boxes; then again and again a few
/// steps, as time tiles have them, and an exchange of rims; store the tile.
class PersistentBuilder final : public OverlappedBuilder {
 public:
  PersistentBuilder(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                    const TimeProgram& program, const OverlappedOptions& options,
                    const std::array<std::int64_t, 3>& groups)
      : OverlappedBuilder(kernel, summary, program, options), groups_(groups) {}

  Overlapped build();

 private:
  using BoxCode = std::function<void(ir::Block& out, const Box& box)>;

  /// Cells before and after a tile that its group reads.
  std::int64_t before(std::size_t d) const { return haloAlong(d, false); }
  std::int64_t after(std::size_t d) const { return haloAlong(d, true); }
  std::int64_t haloAlong(std::size_t d, bool high) const;
  bool isSplit(std::size_t d) const { return groups_[d] > 1; }
  bool waits() const { return isSplit(0) || isSplit(1) || isSplit(2); }
  /// Cells beyond the tile along a dimension come from other groups, or from its own other end.
  bool isExchanged(std::size_t d) const {
    return (isSplit(d) || plan_.isPeriodic[d]) && before(d) + after(d) > 0;
  }
  bool exchanges() const { return isExchanged(0) || isExchanged(1) || isExchanged(2); }

  /// `before`: steps that were done before these.
  void steps(ir::Block& out, const Expr* count, const Expr* before);
  void exchange(ir::Block& out);
  /// The cells of the tile that others read, and those around it that it reads: box by box.
  void forOwnRims(ir::Block& out, const BoxCode& code);
  void forRims(ir::Block& out, const BoxCode& code);
  void storeRims(ir::Block& out);
  void loadRims(ir::Block& out);
  /// Whether other groups need what this one makes of the field; others are made anew in each step.
  bool goesOn(std::size_t field) const;
  /// Where the present exchange takes place.
  Half between(std::size_t field) const { return {param(program_.fields[field].between), half_}; }

  // Flags.
  void groupBarrier(ir::Block& out);
  void fence(ir::Block& out, ir::MemoryOrder order);
  const Expr* isFirstItem();
  const Expr* flag(const Expr* number);
  const Expr* groupNumber(const Cell& group);
  Cell ownGroup();
  void raiseFlag(ir::Block& out);
  void waitForNeighbours(ir::Block& out);
  void waitForFlag(ir::Block& out, const Expr* group);
  void giveUp(ir::Block& out, bool tellsOthers);

  std::array<std::int64_t, 3> groups_;
  const Expr* half_ = nullptr;
  /// What flags are raised to (int), and whether the group has given up (int): of one work-item, and, where
  /// there are several, of all.
  const Expr* round_ = nullptr;
  const Expr* failed_ = nullptr;
  const Expr* stopped_ = nullptr;
};

}  // namespace hpl::strategies::detail
