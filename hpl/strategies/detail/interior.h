// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "hpl/strategies/detail/source.h"

/// Kernels treat the border of a domain apart by comparing ids with sizes. Away from the border the
/// outcome of such a comparison is always the same: rewritten kernels assume it in their fast part,
/// and collect what ids must satisfy for it to hold.
namespace hpl::strategies::detail {

/// The condition on an id under which a comparison has the outcome `truth`.
struct Decision {
  bool truth = false;
  int axis = 0;
  /// The comparison is id + rest <op> limit.
  ir::BinaryOp op = ir::BinaryOp::Lt;
  const ir::Expr* sum = nullptr;
  const ir::Expr* limit = nullptr;
  /// The id must be large enough (else: small enough).
  bool isLower = false;
  /// The id must differ from a number: that may be anywhere.
  bool isPoint = false;
};

/// Finds comparisons that are decided by staying away from the border along some axes.
class Interior {
 public:
  /// Decides comparisons of the ids of the axes that are marked. Those of `fastAxis` may be
  /// compared with what depends on the others.
  /// `sizes` are those of the domain (0: not known): they tell which end a number is near.
  Interior(const Source& source, std::array<bool, 3> axes, int fastAxis,
           const std::array<std::uint64_t, 3>& sizes)
      : source_(source), axes_(axes), fastAxis_(fastAxis), sizes_(sizes) {}

  /// From now on tests of equality that are not about an end of the domain (a source somewhere in
  /// it) are decided, too: ids differ.
  void decidePoints() { decidesPoints_ = true; }

  /// From now on decides these comparisons only: they have these outcomes.
  void restrict(const std::unordered_map<const ir::Expr*, bool>& outcomes) {
    outcomes_ = &outcomes;
  }

  /// From now on this expression is true: only ids for which it is are computed.
  void assume(const ir::Expr& condition) { assumed_ = &condition; }

  /// Whether the sizes have made a difference to what was decided.
  bool usedSizes() const { return usedSizes_; }

  /// How much the value grows from one id of the axis to the next: 0 or 1; nothing when that is
  /// not known. Decided comparisons are taken as decided.
  std::optional<int> growth(const ir::Expr& expr, int axis) const;

  /// The comparison's outcome, if the expression is one that is decided.
  std::optional<Decision> decision(const ir::Expr& expr) const;
  /// The truth of a condition that decided comparisons settle.
  std::optional<bool> truth(const ir::Expr& expr) const;

 private:
  std::optional<Decision> decide(const ir::Expr& expr) const;
  bool isSettledBefore(const ir::Binary& binary, int axis) const;
  std::optional<Decision> compare(ir::BinaryOp op, const ir::Expr& sum, const ir::Expr& limit,
                                  int axis) const;
  std::optional<int> findGrowth(const ir::Expr& expr, int axis) const;
  bool isPoint(ir::BinaryOp op, const ir::Expr& sum, const ir::Expr& limit) const;
  bool isComputable(const ir::Expr& expr) const;

  const Source& source_;
  std::array<bool, 3> axes_;
  int fastAxis_;
  std::array<std::uint64_t, 3> sizes_;
  const std::unordered_map<const ir::Expr*, bool>* outcomes_ = nullptr;
  bool decidesPoints_ = false;
  const ir::Expr* assumed_ = nullptr;
  mutable bool usedSizes_ = false;
  mutable std::unordered_map<const ir::Expr*, std::optional<Decision>> decisions_;
  mutable std::array<std::unordered_map<const ir::Expr*, std::optional<int>>, 3> growths_;
};

/// Copies an expression that is a scalar wherever the ids are `ids` (ulong, one per axis), so that
/// it can be computed ahead of the code that it comes from: variables are replaced by what they
/// were initialised with, and elements of arrays are read only where the array has them.
class Hoister {
 public:
  using ExtentOf = std::function<const ir::Expr*(const ir::Variable*, int dimension)>;
  using SizeOf = std::function<const ir::Expr*(int axis)>;

  Hoister(const Source& source, Builder& builder, ExtentOf extentOf, SizeOf sizeOf)
      : source_(source),
        builder_(builder),
        extentOf_(std::move(extentOf)),
        sizeOf_(std::move(sizeOf)) {}

  const ir::Expr* copy(const ir::Expr& expr, const std::array<const ir::Expr*, 3>& ids) const;

  /// Bounds (long) of the ids for which the decision holds: id >= lower, id < upper, id != point.
  /// Appends them.
  struct Bounds {
    std::vector<const ir::Expr*> lower;
    std::vector<const ir::Expr*> upper;
    std::vector<const ir::Expr*> points;

    bool isEmpty() const { return lower.empty() && upper.empty() && points.empty(); }
  };
  void bound(const Decision& decision, std::array<const ir::Expr*, 3> ids, Bounds& bounds) const;

 private:
  const Source& source_;
  Builder& builder_;
  ExtentOf extentOf_;
  SizeOf sizeOf_;
};

/// Many copies of a body find the same bounds, a number apart: only the tightest of them counts.
std::vector<const ir::Expr*> tightest(Builder& builder, const std::vector<const ir::Expr*>& bounds,
                                      bool isLower);
/// Each of them once.
std::vector<const ir::Expr*> distinct(const std::vector<const ir::Expr*>& points);

}  // namespace hpl::strategies::detail
