// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/joined_point.h"

namespace hpl::stencils {
namespace {

/// The reader of the second function.
class JoinedReader final : public CellReader {
 public:
  JoinedReader(CellReader& reader, const std::vector<JoinedInput>& inputs,
               const std::vector<Node>& handed)
      : reader_(reader), inputs_(inputs), handed_(handed) {}

  Node read(int input, const Offset* offsets) override {
    const JoinedInput& source = inputs_[static_cast<std::size_t>(input)];
    if (source.output >= 0) return handed_[static_cast<std::size_t>(source.output)];
    return reader_.read(source.input, offsets);
  }

 private:
  CellReader& reader_;
  const std::vector<JoinedInput>& inputs_;
  const std::vector<Node>& handed_;
};

}  // namespace

JoinedPoint::JoinedPoint(std::shared_ptr<const PointFunction> first,
                         std::shared_ptr<const PointFunction> second, std::vector<ir::Type> handed,
                         std::vector<JoinedInput> inputs)
    : first_(std::move(first)),
      second_(std::move(second)),
      handed_(std::move(handed)),
      inputs_(std::move(inputs)) {
  const PointSignature& later = second_->signature();
  signature_ = first_->signature();
  signature_.outputs = later.outputs;
  signature_.returns = later.returns;
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    if (inputs_[i].output < 0) signature_.inputs.push_back(later.inputs[i]);
  signature_.parameters.insert(signature_.parameters.end(), later.parameters.begin(),
                               later.parameters.end());
}

void JoinedPoint::record(CellReader& reader, const Node* cells, const Symbol* parameters) const {
  std::vector<Node> handed;
  for (const ir::Type& type : handed_)
    handed.push_back(detail::variableNode(
        detail::declareVariable(type, ir::Space::Private, 0, nullptr, nullptr)));
  first_->record(reader, handed.data(), parameters);
  JoinedReader rest(reader, inputs_, handed);
  second_->record(rest, cells, parameters + first_->signature().parameters.size());
}

}  // namespace hpl::stencils
