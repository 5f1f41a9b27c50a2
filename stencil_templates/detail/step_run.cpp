// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/step_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "hpl/memory/root.h"
#include "hpl/runtime/global_list.h"
#include "stencil_templates/detail/persistent_choice.h"
#include "stencil_templates/detail/spinning.h"

namespace hpl::stencils {
namespace {

using strategies::Lifetime;

bool isMade(const ProgramArgument& array) { return array.argument.argument.view != nullptr; }

std::vector<Range> wholeOf(const geometry::Extents& extents) {
  std::vector<Range> ranges;
  for (const std::int64_t extent : extents) ranges.emplace_back(0, extent - 1);
  return ranges;
}

}  // namespace

std::string StepField::describe() const {
  if (temporary == nullptr) return array.argument.argument.view->root().describe();
  return temporary->empty() ? "unnamed temporary" : fmt::format("temporary \"{}\"", *temporary);
}

void makeTables(StepProgram& program, StepData& data, std::int64_t steps) {
  std::vector<StencilArgument*> changing;
  std::vector<StepTables::Table> fresh;
  const memory::View& like = *data.fields.front().array.argument.argument.view;
  for (std::size_t f = 0; f < data.scalars.size(); ++f) {
    const StepFunction& function = program.functions()[f];
    for (std::size_t i = 0; i < data.scalars[f].size(); ++i) {
      StencilArgument& scalar = data.scalars[f][i];
      if (scalar.perStep == nullptr) continue;
      changing.push_back(&scalar);
      fresh.push_back(std::make_shared<StepTable>(
          *scalar.perStep, function.parts.front().point->signature().parameters[i], steps, like,
          function.name, fmt::format("parameter {}", i + 1)));
    }
  }
  const std::vector<StepTables::Table> kept = program.keepTables(fresh);
  for (std::size_t k = 0; k < changing.size(); ++k) changing[k]->table = kept[k];
}

StepRun::StepRun(StepProgram& program, StepData& data, const launch::LaunchOptions& options,
                 std::vector<std::shared_ptr<const StencilKernel>> kernels)
    : program_(program),
      data_(data),
      options_(options),
      kernels_(std::move(kernels)),
      scalars_(data.scalars),
      tile_(kByFunction),
      otherwise_(kByFunction),
      swapped_(data.fields.size()) {
  kernels_.resize(program.functions().size());
}

void StepRun::choose(const TimeChoice& choice, std::int64_t steps) {
  tile_ = otherwise_ = choice.tile;
  race_ = choice.race;
  if (!choice.kept || steps < choice.kept->leastSteps) return;
  if (choice.kept->tile.looks) {
    looked_ = choice.kept->tile;
    return;
  }
  tile_ = choice.kept->tile;
  race_ = nullptr;
  keptRace_ = choice.kept->race;
}

void StepRun::wait() {
  for (const Device& device : devicesOf(options_)) device.sync();
}

const std::vector<StepPass>& StepRun::passesFor(
    const TimeTile& tile, const std::shared_ptr<const ResidualFunction>& residual) {
  StepProgram::Passes& passes = passes_[tile];
  if (passes == nullptr) {
    passes = program_.passes(tile, residual);
    for (const StepPass& pass : *passes) makeArrays(pass);
  }
  return *passes;
}

/// Those that a pass needs besides the program's.
void StepRun::makeArrays(const StepPass& pass) {
  const std::array<std::int64_t, 3> grid = gridOf(data_.extents);
  for (std::size_t f = 0; f < pass.swaps.size(); ++f)
    if (StepField& own = data_.fields[f]; pass.swaps[f] && !isMade(own.spare))
      own.spare = own.array.make(grid, data_.memory);
  if (pass.kernel == nullptr) return;
  for (std::size_t i = 0; i < pass.fields.size(); ++i) {
    StepField& own = data_.fields[static_cast<std::size_t>(pass.fields[i])];
    if (pass.kernel->recipe.program().fields[i].isLoaded() || isMade(own.placeholder)) continue;
    own.placeholder = own.array.make != nullptr ? own.array.make({1, 1, 1}, data_.memory)  //
                                                : own.array;
  }
}

std::vector<launch::Argument> StepRun::arraysFor(const StepPass& pass) const {
  const TimeRecipe& recipe = pass.kernel->recipe;
  const std::vector<strategies::TimeField>& uses = recipe.program().fields;
  std::vector<launch::Argument> list;
  const auto push = [&](const ProgramArgument& array) { list.push_back(array.argument.argument); };
  const auto numberOf = [&](std::size_t i) { return static_cast<std::size_t>(pass.fields[i]); };
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (uses[i].isLoaded()) {
      list.push_back(recipe.shown(present(numberOf(i), false).argument.argument));
    } else {
      push(data_.fields[numberOf(i)].placeholder);
    }
  }
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (!uses[i].isWritten()) continue;
    if (uses[i].lifetime == Lifetime::Temporary) {
      push(data_.fields[numberOf(i)].placeholder);
    } else {
      push(present(numberOf(i), pass.swaps[numberOf(i)]));
    }
  }
  return list;
}

const std::vector<StencilArgument>& StepRun::scalarsOf(std::size_t function) {
  std::vector<StencilArgument>& scalars = scalars_[function];
  for (StencilArgument& scalar : scalars)
    if (scalar.table != nullptr) scalar.argument = scalar.table->at(steps_);
  return scalars;
}

std::vector<launch::Argument> StepRun::scalarsFor(const StepPass& pass) {
  std::vector<StencilArgument> list;
  for (const std::size_t function : pass.scalarsOf) {
    const std::vector<StencilArgument>& own = scalarsOf(function);
    list.insert(list.end(), own.begin(), own.end());
  }
  return stepScalars(pass.kernel->recipe, list, steps_);
}

/// On one device: an array whose cells several devices write is none that the library distributes.
void StepRun::onCellsAlone(const geometry::Box& cells, launch::Argument& field,
                           launch::LaunchOptions& options) const {
  options.device = &devicesOf(options).front().state();
  options.shares.reset();
  geometry::Extents extents = data_.extents;
  for (int d = 0; d < cells.rank(); ++d) extents[d] = cells.extent(d);
  options.global = domainOf(extents);
  if (!(extents == data_.extents)) field.view = &field.view->subView(cells);
}

FRunner StepRun::launchPass(const StepPass& pass, std::int64_t steps) {
  std::vector<launch::Argument> list = arraysFor(pass);
  const int count = static_cast<int>(steps);
  list.push_back(launch::makeArgument(count));
  const std::vector<launch::Argument> scalars = scalarsFor(pass);
  list.insert(list.end(), scalars.begin(), scalars.end());
  launch::LaunchOptions own = options_;
  own.global = domainOf(data_.extents);
  if (pass.cells) onCellsAlone(*pass.cells, list.front(), own);
  return launch::launch(pass.kernel->entry, own, list);
}

/// The arguments of one function, launched as a stencil.
std::vector<StencilArgument> StepRun::argumentsFor(const StepPass& pass) {
  const StepFunction& function = program_.functions()[pass.functions.front()];
  std::vector<StencilArgument> list;
  for (const int read : function.reads())
    list.push_back(present(static_cast<std::size_t>(read), false).argument);
  for (const int written : function.writes()) {
    const auto field = static_cast<std::size_t>(written);
    list.push_back(present(field, pass.swaps[field]).argument);
  }
  const std::vector<StencilArgument>& scalars = scalars_[pass.functions.front()];
  list.insert(list.end(), scalars.begin(), scalars.end());
  return list;
}

void StepRun::launchStencil(const StepPass& pass, Launched& launched) {
  std::vector<StencilArgument>& arguments = launched.arguments;
  if (arguments.empty()) arguments = argumentsFor(pass);
  std::shared_ptr<const StencilKernel>& kernel = kernels_[pass.functions.front()];
  if (kernel == nullptr) {
    const StepFunction& function = program_.functions()[pass.functions.front()];
    kernel = function.stencil->kernelFor(options_, arguments.data(), arguments.size(),
                                         function.updatesInputs());
  }
  for (StencilArgument& argument : arguments)
    if (argument.table != nullptr) argument.argument = argument.table->at(steps_);
  launched.runner = launchKernel(*kernel, options_, arguments.data());
}

void StepRun::launch(const StepPass& pass, std::int64_t steps) {
  const StepPass* const address = &pass;
  auto known = launched_.find(std::tie(address, steps, swapped_));
  const bool isNew = known == launched_.end();
  if (isNew) known = launched_.try_emplace({&pass, steps, swapped_}).first;
  Launched& launched = known->second;
  if (pass.kernel != nullptr) {
    // Runners repeat the values that they were made with.
    if (isNew || pass.kernel->recipe.hasStepScalars()) {
      launched.runner = launchPass(pass, steps);
    } else {
      launched.runner.run();
    }
  } else if (isNew || kernels_[pass.functions.front()]->changes()) {
    launchStencil(pass, launched);
  } else {
    launched.runner.run();
  }
  ++launches_;
  noteSwaps(pass);
}

FRunner StepRun::launchOnce(const StepPass& pass, std::int64_t steps) {
  makeArrays(pass);
  if (pass.kernel != nullptr) return launchPass(pass, steps);
  Launched launched;
  launchStencil(pass, launched);
  return launched.runner;
}

void StepRun::noteSwaps(const StepPass& pass) {
  for (std::size_t f = 0; f < swapped_.size(); ++f)
    if (pass.swaps[f]) swapped_[f] = !swapped_[f];
}

/// The number of launches for `steps` steps of at most `most` each. An even number, where there are
/// several and some fields cannot exchange their arrays: those have the result then, and not their
/// stand-ins.
std::int64_t StepRun::launchesOf(std::int64_t steps, std::int64_t most) const {
  const std::int64_t launches = (steps + most - 1) / most;
  const bool mayBeOdd = std::all_of(data_.fields.begin(), data_.fields.end(),
                                    [](const StepField& field) { return field.exchanges; });
  return !mayBeOdd && launches % 2 != 0 && launches < steps ? launches + 1 : launches;
}

void StepRun::stream(const TimeTile& tile, std::int64_t steps) {
  for (std::int64_t left = launchesOf(steps, std::max(1, tile.depth)); left > 0; --left) {
    const std::int64_t now = (steps + left - 1) / left;
    // A step of an iteration by itself needs no tiles.
    const auto& passes = passesFor(program_.isIteration() && now == 1 ? kByFunction : tile);
    const bool isWhole = passes.front().kernel != nullptr && tile.depth > 0;
    if (isWhole && passes.front().kernel->isRejected) return stream(kByFunction, steps);
    try {
      for (const StepPass& pass : passes) launch(pass, now);
    } catch (const BuildError& error) {
      // Functions by themselves are kernels as they were written.
      if (!isWhole) throw;
      reject(*passes.front().kernel, program_.name(), error);
      return stream(kByFunction, steps);
    }
    steps_ += now;
    steps -= now;
  }
}

void StepRun::advance(std::int64_t steps) {
  if (keptRace_ != nullptr) return keptRace_->advance(*this, {tile_, otherwise_}, steps);
  if (race_ != nullptr) return race_->advance(*this, steps);
  advance(tile_, steps);
}

void StepRun::advance(const TimeTile& tile, std::int64_t steps) {
  if (tile.form != TimeForm::Persistent) return stream(tile, steps);
  if (steps > 1) steps -= persist(tile, steps);
  stream(otherwise_, steps);
}

std::optional<PersistentResult> StepRun::persistOnce(const StepPass& pass, std::int64_t steps,
                                                     const PersistentLooks& looks) {
  const bool isRankLocal = data_.fields.front().array.argument.argument.view->root().isRankLocal();
  const Spinners on(devicesOf(options_), isRankLocal);
  if (hasGivenUp(on) || pass.kernel->isRejected) return std::nullopt;
  PersistentArguments arguments{arraysFor(pass), {}, scalarsFor(pass)};
  const std::vector<strategies::TimeField>& uses = pass.kernel->recipe.program().fields;
  for (std::size_t i = 0; i < uses.size(); ++i)
    if (uses[i].between >= 0)
      arguments.between.push_back(
          data_.fields[static_cast<std::size_t>(pass.fields[i])].spare.argument.argument);
  try {
    const PersistentResult done =
        stencils::persist(*pass.kernel, program_.spaces(), options_, arguments, steps, looks);
    if (done.what == Persisted::Busy) return std::nullopt;
    if (done.what == Persisted::Done) {
      ++launches_;
      steps_ += done.steps;
      noteSwaps(pass);
      return done;
    }
  } catch (const BuildError& error) {
    reject(*pass.kernel, program_.name(), error);
    return std::nullopt;
  }
  reportGivenUp(program_.name(), on);
  // The flags that groups have left mean nothing, and runs from now on choose again.
  program_.spaces().clear();
  program_.choices().clear();
  return std::nullopt;
}

/// All steps in one launch, or in few where they are very many; returns the number of steps done,
/// from the front.
std::int64_t StepRun::persist(const TimeTile& tile, std::int64_t steps) {
  const StepPass& pass = passesFor(tile).front();
  const auto functions = static_cast<std::int64_t>(program_.functions().size());
  const std::int64_t most = std::max<std::int64_t>(1, mostSteps(gridOf(data_.extents)) / functions);
  std::int64_t done = 0;
  for (std::int64_t left = launchesOf(steps, most); left > 0; --left) {
    const std::int64_t now = (steps - done + left - 1) / left;
    if (!persistOnce(pass, now)) break;
    done += now;
  }
  return done;
}

std::int64_t StepRun::mostLooked(const Until& until) const {
  return looked_ ? mostSteps(gridOf(data_.extents)) / until.every * until.every : 0;
}

std::optional<PersistentResult> StepRun::advanceLooking(std::int64_t steps, const Until& until) {
  const std::optional<PersistentResult> done =
      persistOnce(passesFor(*looked_, until.residual).front(), steps, {until.every, until.bound});
  if (!done) looked_.reset();
  return done;
}

/// Copies of the host take one core; a kernel takes all of a device that computes in its memory.
void StepRun::copyBack(std::size_t field) {
  const auto known = copies_.find(field);
  if (known != copies_.end()) return known->second.run();
  const StencilArgument& array = data_.fields[field].array.argument;
  const StencilArgument& spare = data_.fields[field].spare.argument;
  constexpr std::size_t kWorthALaunch = std::size_t{1} << 20;
  std::size_t bytes = ir::sizeOf(array.argument.type);
  for (int d = 0; d < data_.extents.rank(); ++d)
    bytes *= static_cast<std::size_t>(data_.extents[d]);
  const std::vector<Device> devices = devicesOf(options_);
  if (array.copyOnDevice == nullptr || bytes < kWorthALaunch || devices.size() != 1 ||
      devices.front().getProperties().type != CPU || runtime::hasRanks())
    return array.copy(array.array, spare.array, wholeOf(data_.extents).data());
  copies_.emplace(field, array.copyOnDevice(array.array, spare.array, devices.front()));
}

void StepRun::finish() {
  for (std::size_t f = 0; f < swapped_.size(); ++f) {
    if (!swapped_[f]) continue;
    const StencilArgument& array = data_.fields[f].array.argument;
    const StencilArgument& spare = data_.fields[f].spare.argument;
    if (data_.fields[f].exchanges) {
      array.exchange(array.array, spare.array);
    } else {
      copyBack(f);
    }
    swapped_[f] = false;
  }
}

}  // namespace hpl::stencils
