// SPDX-License-Identifier: Apache-2.0
// Tuning of stencil programs.
#include <fmt/format.h>

#include "hpl/error.h"
#include "stencil_templates/detail/program_state.h"
#include "stencil_templates/detail/tile_bench.h"

namespace hpl::stencils {
/// Launches write to the fields' stand-ins only, which hold nothing between runs.
class ProgramState::Bench final : public TileBench {
 public:
  Bench(ProgramState& program, const TimeWish& wish, const launch::LaunchOptions& options)
      : TileBench(wish, program.wholeRecipe(), options, gridOf(program.extents_)),
        program_(program),
        options_(options),
        redirected_(program.fields_.size()) {}

 private:
  FRunner launch(const TimeTile& tile, int steps) override {
    ProgramPass& pass = passes_[tile];
    if (pass.kernel == nullptr) {
      pass = program_.wholePass(tile);
      program_.makeArrays(pass);
      redirectResults(pass);
    }
    return program_.launchPass(options_, pass, steps, redirected_);
  }

  /// Results that no step reads would go to the program's arrays.
  void redirectResults(const ProgramPass& pass) {
    const std::vector<strategies::TimeField>& uses = pass.kernel->recipe.program().fields;
    for (std::size_t i = 0; i < uses.size(); ++i) {
      if (!uses[i].isWritten() || uses[i].lifetime != strategies::Lifetime::Result) continue;
      const auto number = static_cast<std::size_t>(pass.fields[i]);
      ProgramField& field = program_.fields_[number];
      if (field.spare.owner == nullptr)
        field.spare = field.array.make(gridOf(program_.extents_), program_.memory_);
      redirected_[number] = true;
    }
  }

  ProgramState& program_;
  launch::LaunchOptions options_;
  std::map<TimeTile, ProgramPass> passes_;
  std::vector<bool> redirected_;
};

void ProgramState::tuneIfFull(const launch::LaunchOptions& options, const ProgramWish& wish) {
  if (wish.time.steps < 2 || !isTunedFirst(options)) return;
  Bench bench(*this, wish.time, options);
  layout::tuneFirst(bench);
}

TuneResult ProgramState::tune(const launch::LaunchOptions& options, const IterationPlan& plan) {
  const std::string call = fmt::format("tune({})", plan.steps);
  if (isForSeveralDevices(options))
    throw LaunchError(fmt::format(
        "{}: {} tunes for one device; leave out .devices(...), and call it for each kind of device "
        "with .device(...) and arrays of the parts' sizes",
        describe(), call));
  prepare(options, call, plan.steps);
  Bench bench(*this, wish(plan).time, options);
  TuneResult result = tuneTiles("StencilProgram::" + call, bench, plan.tuning);
  // Runs from now on look again.
  choices_->clear();
  return result;
}

TuneResult tuneProgram(ProgramState& program, const launch::LaunchOptions& options,
                       const IterationPlan& plan) {
  return program.tune(options, plan);
}

}  // namespace hpl::stencils
