// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "hpl/ir/node.h"

/// Between which numbers the integers of a kernel lie.
namespace hpl::strategies::detail {

struct ValueRange {
  std::int64_t lo = 0;
  std::int64_t hi = 0;

  ValueRange operator|(const ValueRange& other) const {
    return {lo < other.lo ? lo : other.lo, hi > other.hi ? hi : other.hi};
  }
};

/// All values of an integer type of at most 32 bits; nothing for other types.
std::optional<ValueRange> rangeOfType(const ir::Type& type);

/// The ranges of all expressions and of the private scalars of a kernel, each over all times that
/// the kernel computes it. Loops are not followed: what they assign may be anything.
class ValueRanges {
 public:
  explicit ValueRanges(const ir::Block& body);

  /// Nothing is known: it is no integer of at most 32 bits.
  std::optional<ValueRange> of(const ir::Expr& expr) const;
  /// The range of all values that the variable gets; nothing also for variables that get none.
  std::optional<ValueRange> of(const ir::Variable* variable) const;

 private:
  using Values = std::unordered_map<const ir::Variable*, ValueRange>;

  void visit(const ir::Block& block);
  void visit(const ir::Stmt& stmt);
  void visitLoop(const ir::Stmt& stmt);
  void assign(const ir::Variable* variable, const ir::Expr& value);
  std::optional<ValueRange> visit(const ir::Expr& expr);
  std::optional<ValueRange> find(const ir::Expr& expr);

  /// At the statement that is visited.
  Values now_;
  Values all_;
  std::unordered_map<const ir::Expr*, ValueRange> ranges_;
};

}  // namespace hpl::strategies::detail
