// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "stencil_templates/detail/point_function.h"

namespace hpl::stencils {

/// Where an input of the second of two functions comes from.
struct JoinedInput {
  /// The output of the first one, at the same cell; -1: none of them.
  int output = -1;
  /// Else: the input of both together.
  int input = -1;
};

/// Two point functions one after the other: the second one reads what the first one has computed
/// for the same cell. Inputs are those of the first one and what else the second one reads, scalars
/// are those of both, outputs are those of the second one.
class JoinedPoint final : public PointFunction {
 public:
  /// `handed`: the types of the first one's outputs; `inputs`: of the second one.
  JoinedPoint(std::shared_ptr<const PointFunction> first,
              std::shared_ptr<const PointFunction> second, std::vector<ir::Type> handed,
              std::vector<JoinedInput> inputs);

  void record(CellReader& reader, const Node* cells, const Symbol* parameters) const override;

 private:
  std::shared_ptr<const PointFunction> first_;
  std::shared_ptr<const PointFunction> second_;
  std::vector<ir::Type> handed_;
  std::vector<JoinedInput> inputs_;
};

}  // namespace hpl::stencils
