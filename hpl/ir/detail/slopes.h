// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "hpl/ir/kernel.h"

/// How the values in a kernel change from one work-item to the next.
namespace hpl::ir::detail {

/// By axis: how much a value grows from one global id to the next; null: by no fixed number.
using Slopes = std::array<std::optional<std::int64_t>, 3>;

constexpr Slopes kUniform{0, 0, 0};
constexpr Slopes kIrregular{};

/// Slopes of all expressions of a kernel. Flow-insensitive: a variable has one slope per axis for
/// the whole kernel, null where its assignments differ. Ignores which branches are taken, so it
/// serves estimates of cost, not proofs.
class SlopeTable {
 public:
  explicit SlopeTable(const Kernel& kernel) : kernel_(kernel) {}

  Slopes of(const Expr& expr);

 private:
  /// Follows the values of variables, when the first expression asks for one: most indices of most
  /// kernels need none.
  void solve();
  /// Null where nothing is assigned to the variable.
  const Slopes* valueOf(const Variable* variable);
  void assignAll(const Function& function);
  void assignAll(const Function& function, const Block& block);
  void assign(const Function& function, const Stmt& stmt);
  void assign(const Variable* variable, const Slopes& value);
  Slopes compute(const Expr& expr);
  Slopes compute(const Binary& binary);
  /// The slopes of an expression that depends on its operands in an unknown way.
  Slopes scattered(const Expr& expr);

  std::unordered_map<const Variable*, Slopes> variables_;
  std::unordered_map<const Function*, Slopes> results_;
  /// Expressions may share subtrees exponentially often.
  std::unordered_map<const Expr*, Slopes> known_;
  const Kernel& kernel_;
  bool solved_ = false;
  bool changed_ = false;
};

}  // namespace hpl::ir::detail
