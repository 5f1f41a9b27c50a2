// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hpl/ir/node.h"

/// Takes the indices of a neighbourhood apart: `p[-row - 1]` is one row up and one element left.
namespace hpl::kernel_stencils {

/// constant + rest; `rest` is null or of type long.
struct Offset {
  std::int64_t constant = 0;
  const ir::Expr* rest = nullptr;

  bool isConstant() const { return rest == nullptr; }
};

/// Offsets by dimension, slowest first.
struct Offsets {
  Offset of[3];
};

/// Reads indices as sums of multiples of the strides. Needs a capture: it makes nodes.
class StrideAlgebra {
 public:
  /// `strides` as Point::Call gets them; `body` is the code of the point function.
  StrideAlgebra(int rank, const ir::Variable* const* strides, const ir::Block& body);

  /// Empty when the index is no such sum.
  std::optional<Offsets> decompose(const ir::Expr& index);

  /// Variables that hold nothing but multiples of strides and constants, such as the point
  /// function's own copy of the row stride.
  bool isCopy(const ir::Variable* variable) const { return copies_.contains(variable); }
  bool isStride(const ir::Variable* variable) const { return dimensionOf(variable) >= 0; }

 private:
  int dimensionOf(const ir::Variable* variable) const;
  bool mentionsStride(const ir::Expr& expr);
  std::optional<Offsets> product(const ir::Expr& left, const ir::Expr& right);
  void findChanged(const ir::Block& block);
  void findCopies(const ir::Block& block);

  int rank_;
  std::vector<const ir::Variable*> strides_;
  /// Variables that are assigned to after their declaration.
  std::unordered_set<const ir::Variable*> changed_;
  std::unordered_map<const ir::Variable*, Offsets> copies_;
  std::unordered_map<const ir::Expr*, bool> mentions_;
};

}  // namespace hpl::kernel_stencils
