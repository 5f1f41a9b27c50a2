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

 protected:
  const Expr* tileBegin(std::size_t d, const Expr* group) override;
  Tiles tilesAt(ir::Block& out, const TimeStage& stage, const Cell& cell) override;
  void rowsMoved(ir::Block& out, int field, const Expr* first, const Expr* count) override;
  const ir::Block* nothingMoved(int field) override;

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

  /// `before`: steps that were done before these; `isLook`: there is a look after the last one.
  void steps(ir::Block& out, const Expr* count, const Expr* before, const Expr* isLook);
  void exchange(ir::Block& out);
  void declareState(ir::Block& out);
  void passes(ir::Block& out);
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
  void waitForOthers(ir::Block& out);
  void waitForAll(ir::Block& out);
  void waitForNeighbours(ir::Block& out);
  /// For another group's flag, unless this group has given up.
  void waitForGroup(ir::Block& out, const Expr* number);
  /// Until the flag is as high.
  void waitForFlag(ir::Block& out, const Expr* number, const Expr* height);
  void giveUp(ir::Block& out, bool tellsOthers);
  /// Ends the kernel if the group has given up.
  void leaveIfStopped(ir::Block& out);

  // Looks (persistent_looks.cpp).
  bool looks() const { return program_.looks.areWanted(); }
  std::int64_t groupCount() const { return groups_[0] * groups_[1] * groups_[2]; }
  void declareLooks(ir::Block& out);
  /// The place of the cells before a step that is looked at.
  enum class OldCells : std::uint8_t { AreCopied, LieBeside, LastForRows };
  static std::size_t index(int field) { return static_cast<std::size_t>(field); }
  OldCells oldCells() const;
  void keepOld(ir::Block& out);
  void declareMost(ir::Block& out);
  /// The boxes of the field that hold the cells before a step and after it; null: the old ones were
  /// copied.
  struct Looked {
    const Expr* before = nullptr;
    const Expr* after = nullptr;
  };
  void residualsOf(ir::Block& out, const Box& box, const Looked& looked);
  void look(ir::Block& out);
  const Expr* largestOfTile(ir::Block& out);
  const Expr* largestOfGroup(ir::Block& out, const Expr* own);
  void publish(ir::Block& out, const Expr* most);
  void judge(ir::Block& out);
  void report(ir::Block& out, const Expr* done);
  const Expr* lookValue(const Expr* look, const Expr* group);
  /// `most` becomes the larger of both; a NaN stays.
  void take(ir::Block& out, const Expr* most, const Expr* value);
  const Expr* zero(const ir::Type& type) { return builder_.make(type, ir::Constant{}); }

  std::array<std::int64_t, 3> groups_;
  const Expr* half_ = nullptr;
  /// The value to which flags are raised (int), and whether the group has given up (int): for one
  /// work-item, and, where there are several, for all.
  const Expr* round_ = nullptr;
  const Expr* failed_ = nullptr;
  const Expr* stopped_ = nullptr;
  /// Steps to the next look, looks so far, and whether a residual was below the bound (ints); the
  /// last one of all work-items of the group.
  const Expr* toLook_ = nullptr;
  const Expr* looksDone_ = nullptr;
  const Expr* wasBelow_ = nullptr;
  /// Whether the present step is looked at; null: it is not known where the code stands.
  const Expr* isLookedAt_ = nullptr;
  /// The cells from which residuals are computed, while their code is written.
  Looked looked_;
  /// The largest residual of a work-item since the last look: of single cells, and of vectors.
  const Expr* most_ = nullptr;
  std::vector<const Expr*> mostOfLanes_;
  /// Local memory: what each of several work-items has found.
  const ir::Variable* mostOfItems_ = nullptr;
};

}  // namespace hpl::strategies::detail
