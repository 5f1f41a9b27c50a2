// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "hpl/strategies/detail/builder.h"
#include "hpl/strategies/hidden.h"

namespace hpl::strategies::detail {

/// "x", "y", "z".
const char* axisName(int axis);

/// The additional parameters of a rewritten kernel, made where they are first used.
class HiddenParams {
 public:
  HiddenParams(Builder& builder, const ir::Function& entry, int dims)
      : builder_(builder), entry_(entry), dims_(dims) {}

  const ir::Expr* value(Hidden::Kind kind, int axis, int param = -1);
  /// The value of get_global_size(axis): 1 beyond the launch's dimensions.
  const ir::Expr* size(int axis);
  const ir::Expr* extent(const ir::Variable* array, int dimension) {
    return value(Hidden::Kind::Extent, dimension, array->paramIndex);
  }

  const std::vector<Hidden>& list() const { return list_; }
  /// Appends them to the parameters of the rewritten entry.
  void append(ir::Function& entry) const;

 private:
  Builder& builder_;
  const ir::Function& entry_;
  int dims_;
  std::vector<Hidden> list_;
  std::vector<ir::Variable*> variables_;
};

}  // namespace hpl::strategies::detail
