// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/step_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "hpl/error.h"
#include "hpl/memory/contents.h"
#include "stencil_templates/detail/persistent_choice.h"
#include "stencil_templates/detail/program_choice.h"
#include "stencil_templates/detail/tile_bench.h"
#include "stencil_templates/detail/time_findings.h"

namespace hpl::stencils {
namespace {

/// Where fields cannot exchange their arrays, a launch of all steps leaves the new cells in
/// stand-ins, and a second one brings them back.
int launchesOfKept(const StepProgram& program) { return program.isIteration() ? 1 : 2; }

ProgramWish wishOf(const StepProgram& program, const StepData& data, const IterationPlan& plan,
                   std::int64_t joined, std::int64_t looked) {
  ProgramWish wish{wishOf(program.name(), plan, program.dims(), joined), plan.fuse};
  if (plan.fusion) wish.form = *plan.fusion == Fusion::Rows ? TimeForm::Chain : TimeForm::Boxes;
  wish.time.isRankLocal = data.fields.front().array.argument.argument.view->root().isRankLocal();
  wish.time.lookedSteps = looked;
  // The steps of a chain do the same, one after another.
  if (program.isChain()) wish.time.steps = 1;
  return wish;
}

/// Measured launches read the fields and write to scratch arrays.
class StepBench final : public TileBench {
 public:
  StepBench(StepProgram& program, const StepData& data, const TimeWish& wish,
            const launch::LaunchOptions& options)
      : TileBench(wish, program.recipe(), options, gridOf(data.extents)),
        program_(program),
        data_(data),
        isRedirected_(data.fields.size()) {
    for (const StepFunction& function : program.functions())
      for (const int written : function.writes()) redirect(static_cast<std::size_t>(written));
    for (std::size_t f = 0; f < program.functions().size(); ++f)
      if (program.functions()[f].records()) {
        memory::View*& samples = data_.scalars[f].back().argument.view;
        scratch_.push_back(memory::scratchLike(samples->root(), samples->extents));
        samples = &scratch_.back()->whole();
      }
    run_.emplace(program, data_, options);
  }

 private:
  FRunner launch(const TimeTile& tile, int steps) override {
    std::vector<StepPass>& passes = passes_[tile];
    if (passes.empty()) {
      passes = program_.makePasses(tile);
      for (std::size_t f = 0; f < data_.fields.size(); ++f)
        if (isRedirected_[f]) passes.front().swaps[f] = true;
    }
    return run_->launchOnce(passes.front(), steps);
  }

  /// The new cells of the field go to an array that lies as its own does.
  void redirect(std::size_t number) {
    StepField& field = data_.fields[number];
    if (field.temporary != nullptr || isRedirected_[number]) return;
    isRedirected_[number] = true;
    memory::View*& view = (field.spare = field.array).argument.argument.view;
    memory::Root& root = view->root();
    scratch_.push_back(memory::scratchLike(root, root.whole().extents));
    memory::Root& copy = *scratch_.back();
    view = view == &root.whole() ? &copy.whole() : &copy.view(view->box());
  }

  StepProgram& program_;
  StepData data_;
  std::vector<std::shared_ptr<memory::Root>> scratch_;
  std::vector<bool> isRedirected_;
  /// Knows the scratch arrays.
  std::optional<StepRun> run_;
  std::map<TimeTile, std::vector<StepPass>> passes_;
};

std::optional<KeptTile> chooseKept(StepProgram& program, const StepData& data,
                                   const launch::LaunchOptions& options, const ProgramWish& wish,
                                   const IterationPlan& plan, const TimeTile& otherwise) {
  std::string against;
  if (wish.fuse == std::optional(false)) {
    against = ".fuse(false) asks for a launch of each function";
  } else if (wish.form == TimeForm::Chain) {
    against = ".fuse(Fusion::Rows) asks for a kernel of one step";
  } else if (program.isChain()) {
    against = "no step sees what the one before it has written";
  } else if (program.records() && isForSeveralDevices(options)) {
    against = "it records cells in each step, which kernels of several devices do not do";
  }
  if (against.empty() || plan.steps < 2)
    return choosePersistent(wish.time, program.recipe(), options, gridOf(data.extents), otherwise,
                            launchesOfKept(program));
  if (wish.time.insists)
    throw LaunchError(fmt::format("{}: its steps cannot be one launch: {}; leave out .persistent()",
                                  program.name(), against));
  if (wish.time.persistent == true)
    explain(program.name(), "its steps are not one launch: " + against);
  return std::nullopt;
}

TimeTile chooseStreamed(StepProgram& program, const StepData& data,
                        const launch::LaunchOptions& options, const ProgramWish& wish) {
  const std::array<std::int64_t, 3> grid = gridOf(data.extents);
  return program.isIteration()
             ? chooseTimeTile(wish.time, program.recipe(), options, grid)
             : chooseProgramTile(wish, program.recipe(), program.apart(), options, grid);
}

}  // namespace

TimeChoice chooseSteps(StepProgram& program, const StepData& data,
                       const launch::LaunchOptions& options, const IterationPlan& plan,
                       std::int64_t joined, std::int64_t looked) {
  const ProgramWish wish = wishOf(program, data, plan, joined, looked);
  const std::array<std::int64_t, 3> grid = gridOf(data.extents);
  return program.choices().find(wish.time, wish.key(), options, grid, [&] {
    if (wish.time.steps > 1 && isTunedFirst(options)) {
      StepBench bench(program, data, wish.time, options);
      layout::tuneFirst(bench);
    }
    const auto streamed = [&] { return chooseStreamed(program, data, options, wish); };
    // Users who ask for one launch do not want to hear of others.
    const bool isAsked = wish.time.persistent == true;
    TimeChoice choice;
    choice.tile = isAsked ? kByFunction : streamed();
    choice.kept = chooseKept(program, data, options, wish, plan, choice.tile);
    if (isAsked && !choice.kept) choice.tile = streamed();
    if (!wish.fuse && !plan.fusion) {
      const TimeTile single =
          program.isIteration()
              ? TimeTile()
              : singleStepTile(wish, program.recipe(), program.apart(), options, grid);
      choice.race = raceFor(wish.time, program.recipe(), options, grid, choice.tile, single);
    }
    return choice;
  });
}

TuneResult tuneSteps(const std::string& call, StepProgram& program, const StepData& data,
                     const launch::LaunchOptions& options, const IterationPlan& plan,
                     std::int64_t joined) {
  StepBench bench(program, data, wishOf(program, data, plan, joined, 0).time, options);
  TuneResult result = tuneTiles(call, bench, plan.tuning);
  // Runs from now on look again.
  program.choices().clear();
  return result;
}

std::string findingKey(const StepProgram& program, const StepData& data,
                       const launch::LaunchOptions& options, const IterationPlan& plan,
                       std::int64_t joined) {
  return timeTileKey(wishOf(program, data, plan, joined, 0).time, program.recipe(), options,
                     devicesOf(options).front(), gridOf(data.extents));
}

}  // namespace hpl::stencils
