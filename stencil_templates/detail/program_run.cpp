// SPDX-License-Identifier: Apache-2.0
// Checks before programs run, and their runs and tuning.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "hpl/error.h"
#include "hpl/memory/root.h"
#include "stencil_templates/detail/function_join.h"
#include "stencil_templates/detail/program_state.h"
#include "stencil_templates/detail/step_choice.h"

namespace hpl::stencils {

using geometry::Box;

/// Cells that are read before any function of the first step has written them must have been
/// written before.
void ProgramState::checkContents() const {
  std::vector<geometry::Region> known;
  for (const StepField& field : data_.fields) {
    geometry::Region cells;
    const memory::View& view = *field.array.argument.argument.view;
    for (const Box& box : view.root().written())
      if (const Box own = intersect(box, view.box()); !own.empty()) cells.add(own);
    known.push_back(cells.translatedBack(view.box().lo()));
  }
  const Box grid = Box::ofExtents(data_.extents);
  for (const auto& function : functions_) {
    for (const int read : function.reads()) {
      if (field(read).temporary != nullptr || known[static_cast<std::size_t>(read)].contains(grid))
        continue;
      throw ArgumentError(fmt::format(
          "{}: {} reads {} before all of its cells have a value; fill it, or apply the function "
          "that writes it first",
          describe(), function.name, field(read).describe()));
    }
    for (const int written : function.writes())
      known[static_cast<std::size_t>(written)].add(
          cellsWritten(data_.extents, function.parts, written));
  }
}

void ProgramState::checkUse() const {
  for (std::size_t f = 0; f < data_.fields.size(); ++f) {
    if (data_.fields[f].temporary == nullptr) continue;
    const bool isRead = std::any_of(functions_.begin(), functions_.end(), [&](const auto& other) {
      return contains(other.reads(), static_cast<int>(f));
    });
    if (isRead) continue;
    throw ArgumentError(fmt::format(
        "{}: no function reads {}, whose cells are not seen after a step; leave it out, or pass an "
        "Array to keep them",
        describe(), data_.fields[f].describe()));
  }
}

std::shared_ptr<StepProgram> ProgramState::stepsWith(const GridEnds& ends) const {
  StepContents contents;
  contents.name = describe();
  contents.label = label_;
  contents.dims = data_.extents.rank();
  contents.extents = data_.extents;
  contents.functions = functions_;
  for (StepFunction& function : contents.functions)
    function.name = fmt::format("{}, {}", contents.name, function.name);
  for (const StepField& field : data_.fields) {
    contents.types.push_back(field.array.argument.argument.type);
    contents.areTemporary.push_back(field.temporary != nullptr);
  }
  contents.ends = ends;
  return std::make_shared<StepProgram>(std::move(contents));
}

void ProgramState::prepare(const launch::LaunchOptions& options, const std::string& call,
                           std::int64_t steps) {
  if (steps < 1)
    throw ArgumentError(
        fmt::format("{}: {}: the number of steps must be positive", describe(), call));
  if (functions_.empty())
    throw ArgumentError(
        fmt::format("{}: {}: there is nothing to do; add functions with apply(...)(arrays...)",
                    describe(), call));
  checkUse();
  checkContents();
  checkSampleCount(call, steps);
  std::vector<memory::View*> arrays;
  for (const StepField& field : data_.fields)
    if (field.temporary == nullptr) arrays.push_back(field.array.argument.argument.view);
  GridEnds ends = endsOf(options, arrays, data_.extents.rank());
  if (steps_ == nullptr || !(ends == ends_)) {
    ends_ = std::move(ends);
    steps_ = stepsWith(ends_);
  }
  makeTables(*steps_, data_, steps);
  if (const std::string why = impossibility(steps_->recipe()); !why.empty())
    throw LaunchError(fmt::format(
        "{}: {}: {}, so that cells that are computed twice would differ; iterate a stencil "
        "instead",
        describe(), call, why));
}

std::int64_t ProgramState::joined(std::int64_t steps) const {
  return every_ > 0 ? std::min(steps, every_) : steps;
}

StencilRun ProgramState::run(const launch::LaunchOptions& options, const IterationPlan& plan) {
  boxes_.fill();
  prepare(options, fmt::format("run({})", plan.steps), plan.steps);
  // A question may change the program.
  const std::shared_ptr<StepProgram> program = steps_;
  StepRun steps(*program, data_, options);
  steps.choose(chooseSteps(*program, data_, options, plan, joined(plan.steps)), joined(plan.steps));
  StencilRun run{0, std::numeric_limits<double>::quiet_NaN(), false, 0};
  while (run.steps < plan.steps && !run.converged) {
    const std::int64_t more = joined(plan.steps - run.steps);
    steps.advance(more);
    steps.finish();
    run.steps += more;
    boxes_.bringBack();
    if (every_ == 0 || more != every_) continue;
    run.converged = isDone_(run.steps);
    // The question may have changed cells.
    if (run.steps < plan.steps && !run.converged) boxes_.fill();
  }
  run.launches = steps.launches();
  return run;
}

TuneResult ProgramState::tune(const launch::LaunchOptions& options, const IterationPlan& plan) {
  const std::string call = fmt::format("tune({})", plan.steps);
  if (isForSeveralDevices(options))
    throw LaunchError(fmt::format(
        "{}: {} tunes for one device; leave out .devices(...), and call it for each kind of device "
        "with .device(...) and arrays of the parts' sizes",
        describe(), call));
  boxes_.fill();
  prepare(options, call, plan.steps);
  return tuneSteps("StencilProgram::" + call, *steps_, data_, options, plan, joined(plan.steps));
}

StencilRun runProgram(ProgramState& program, const launch::LaunchOptions& options,
                      const IterationPlan& plan) {
  return program.run(options, plan);
}

TuneResult tuneProgram(ProgramState& program, const launch::LaunchOptions& options,
                       const IterationPlan& plan) {
  return program.tune(options, plan);
}

}  // namespace hpl::stencils
