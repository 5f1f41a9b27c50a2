// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/step_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "hpl/error.h"
#include "hpl/layout/arguments.h"
#include "hpl/memory/root.h"

namespace hpl::stencils {

void throwNoValues() {
  throw ArgumentError(
      "perStep(values): there are no values; give one for each step, or a function of the step's "
      "number");
}

StepTable::StepTable(const PerStep& values, const ir::Type& type, std::int64_t steps,
                     const memory::View& like, const std::string& stencil,
                     const std::string& parameter)
    : type_(type), steps_(steps), isRankLocal_(like.root().isRankLocal()) {
  if (values.steps() >= 0 && values.steps() < steps)
    throw ArgumentError(fmt::format(
        "{}: {} has values for {} step{} (perStep), and there are {}; give a value for each step, "
        "or a function of the step's number",
        stencil, parameter, values.steps(), values.steps() == 1 ? "" : "s", steps));
  const std::size_t size = ir::sizeOf(type);
  values_.resize(static_cast<std::size_t>(steps) * size);
  for (std::int64_t step = 0; step < steps; ++step)
    layout::convertScalar(values.at(step), type,
                          values_.data() + static_cast<std::size_t>(step) * size, stencil, 0);
}

launch::Argument StepTable::at(std::int64_t step) const {
  return launch::Argument::scalarOf(
      type_, values_.data() + static_cast<std::size_t>(step) * ir::sizeOf(type_));
}

launch::Argument StepTable::array() {
  std::call_once(isMade_, [&] {
    memory::RootOptions options;
    options.shape = {steps_};
    options.elementSize = ir::sizeOf(type_);
    options.type = type_;
    options.label = "values per step";
    options.isInternal = true;
    options.isRankLocal = isRankLocal_;
    root_ = memory::Root::create(std::move(options));
    std::memcpy(root_->hostData(root_->whole().box(), true, true), values_.data(), values_.size());
  });
  launch::Argument argument;
  argument.kind = launch::Argument::Kind::Array;
  argument.type = type_;
  argument.rank = 1;
  argument.view = &root_->whole();
  return argument;
}

StepTables::Table StepTables::known(Table fresh) const {
  const auto same = std::find_if(kept_.begin(), kept_.end(),
                                 [&](const Table& kept) { return kept->hasValuesOf(*fresh); });
  return same == kept_.end() ? std::move(fresh) : *same;
}

}  // namespace hpl::stencils
