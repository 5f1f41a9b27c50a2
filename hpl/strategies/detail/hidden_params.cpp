// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/hidden_params.h"

namespace hpl::strategies::detail {

const char* axisName(int axis) { return axis == 0 ? "x" : axis == 1 ? "y" : "z"; }

const ir::Expr* HiddenParams::value(Hidden::Kind kind, int axis, int param) {
  for (std::size_t i = 0; i < list_.size(); ++i)
    if (list_[i].kind == kind && list_[i].axis == axis && list_[i].param == param)
      return builder_.ref(variables_[i]);
  constexpr const char* kStems[] = {"first_", "count_", "size_", "block_", "extent_"};
  std::string stem = kStems[static_cast<int>(kind)];
  if (kind == Hidden::Kind::Extent) {
    stem += entry_.params[static_cast<std::size_t>(param)]->name + '_' + std::to_string(axis);
  } else {
    stem += axisName(axis);
  }
  ir::Variable* variable = builder_.variable(stem, kUlong);
  variable->role = ir::Role::ScalarParam;
  variable->readOnly = true;
  list_.push_back({kind, axis, param});
  variables_.push_back(variable);
  return builder_.ref(variable);
}

const ir::Expr* HiddenParams::size(int axis) {
  return axis < dims_ ? value(Hidden::Kind::Whole, axis) : builder_.number(1, kUlong);
}

void HiddenParams::append(ir::Function& entry) const {
  for (ir::Variable* variable : variables_) {
    variable->paramIndex = static_cast<int>(entry.params.size());
    entry.params.push_back(variable);
  }
}

}  // namespace hpl::strategies::detail
