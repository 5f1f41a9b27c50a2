// SPDX-License-Identifier: Apache-2.0
// Steps of programs that are one launch, with the loop over them in the kernel.
#include <fmt/format.h>

#include <algorithm>

#include "hpl/error.h"
#include "stencil_templates/detail/persistent_choice.h"
#include "stencil_templates/detail/persistent_steps.h"
#include "stencil_templates/detail/program_state.h"
#include "stencil_templates/detail/spinning.h"

namespace hpl::stencils {
namespace {

/// A launch leaves the new cells in stand-ins for the program's arrays; a second one brings them
/// back.
constexpr int kLaunchesPerRun = 2;

}  // namespace

std::optional<KeptTile> ProgramState::chooseKept(const launch::LaunchOptions& options,
                                                 const ProgramWish& wish, const IterationPlan& plan,
                                                 const TimeTile& otherwise) {
  std::string against;
  if (wish.fuse == std::optional(false)) {
    against = ".fuse(false) asks for a launch of each function";
  } else if (wish.form == TimeForm::Chain) {
    against = ".fuse(Fusion::Rows) asks for a kernel of one step";
  } else if (isChain()) {
    against = "no step sees what the one before it has written";
  }
  if (against.empty() || plan.steps < 2)
    return choosePersistent(wish.time, wholeRecipe(), options, gridOf(extents_), otherwise,
                            kLaunchesPerRun);
  if (wish.time.insists)
    throw LaunchError(fmt::format("{}: its steps cannot be one launch: {}; leave out .persistent()",
                                  describe(), against));
  if (wish.time.persistent == true)
    explain(wish.time.name, "its steps are not one launch: " + against);
  return std::nullopt;
}

bool ProgramState::persistOnce(const launch::LaunchOptions& options, const ProgramPass& pass,
                               std::int64_t steps, const std::vector<bool>& swapped) {
  const std::vector<Device> devices = devicesOf(options);
  if (hasGivenUp(devices)) return false;
  PersistentArguments arguments{arraysFor(pass, swapped), {}, scalarsFor(pass)};
  const std::vector<strategies::TimeField>& uses = pass.kernel->recipe.program().fields;
  for (std::size_t i = 0; i < uses.size(); ++i)
    if (uses[i].between >= 0)
      arguments.between.push_back(field(pass.fields[i]).spare.argument.argument);
  try {
    const Persisted done =
        stencils::persist(*pass.kernel, persistentSpaces_, options, arguments, steps).what;
    if (done != Persisted::GaveUp) return done == Persisted::Done;
  } catch (const BuildError& error) {
    reject(*pass.kernel, describe(), error);
    return false;
  }
  reportGivenUp(describe(), devices);
  // Runs from now on choose again.
  choices_->clear();
  return false;
}

std::int64_t ProgramState::persist(const launch::LaunchOptions& options, const TimeTile& tile,
                                   std::int64_t steps, std::vector<bool>& swapped) {
  const ProgramPass& pass = passesFor(tile).front();
  makeArrays(pass);
  const auto functions = static_cast<std::int64_t>(functions_.size());
  const std::int64_t most = std::max<std::int64_t>(1, mostSteps(gridOf(extents_)) / functions);
  std::int64_t launches = (steps + most - 1) / most;
  if (launches % kLaunchesPerRun != 0 && launches < steps) ++launches;
  std::int64_t done = 0;
  for (std::int64_t left = launches; left > 0; --left) {
    const std::int64_t now = (steps - done + left - 1) / left;
    if (pass.kernel->isRejected || !persistOnce(options, pass, now, swapped)) break;
    ++launches_;
    noteSwaps(pass, swapped);
    done += now;
    step_ += now;
  }
  return done;
}

}  // namespace hpl::stencils
