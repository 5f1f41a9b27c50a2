// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/ir/detail/surplus_facts.h"

namespace hpl::ir::detail {

/// The local arrays whose values groups combine, as bits of arrays.
struct Combined {
  /// A store to the array depends on its own cells, as in a tree: one value per work-item.
  Deps trees = 0;
  /// A private variable adds up cells that are the same for all work-items, one after another.
  Deps scans = 0;
  /// One of these is no sum: a cell that holds 0 changes the result.
  Deps notSums = 0;

  Deps any() const { return trees | scans; }
};

Combined findCombined(const SurplusFacts& facts);

/// Evaluates expressions for work-items whose masked loads give 0.
class ZeroTest {
 public:
  /// `axes`: which axes mask a load (SurplusLoads). Cells of `zeroArrays` count as 0.
  ZeroTest(const SurplusFacts& facts,
           const std::unordered_map<const Access*, std::uint8_t>& unmasked, Deps zeroArrays)
      : facts_(facts), unmasked_(unmasked), zeroArrays_(zeroArrays) {}

  /// The value is 0 for certain; also where an upper bound of the id has chosen it.
  bool isZero(const Expr& expr);

 private:
  bool isZeroHere(const Expr& expr);
  bool isZeroBinary(const Binary& binary);
  bool isZeroBuiltin(const BuiltinExpr& call);
  bool areZero(const Variable* variable);

  const SurplusFacts& facts_;
  const std::unordered_map<const Access*, std::uint8_t>& unmasked_;
  Deps zeroArrays_;
  std::unordered_map<const Expr*, bool> known_;
  std::unordered_map<const Variable*, bool> variables_;
};

}  // namespace hpl::ir::detail
