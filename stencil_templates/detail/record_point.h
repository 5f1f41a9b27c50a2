// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stencil_templates/detail/point_function.h"

namespace hpl::stencils {

/// The signature of what records cells (TimeFunction::recording), which the recipe writes itself:
/// one input, and the number of the step.
class RecordPoint final : public PointFunction {
 public:
  RecordPoint(int dims, const ir::Type& type) {
    signature_.dims = dims;
    signature_.inputs = {type};
    signature_.parameters = {irType<int>()};
  }
  void record(CellReader& /*reader*/, const Node* /*cells*/,
              const Symbol* /*parameters*/) const override {}
};

}  // namespace hpl::stencils
