// SPDX-License-Identifier: Apache-2.0
// How programs run: all functions in one kernel, or one launch after another.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "hpl/error.h"
#include "hpl/memory/root.h"
#include "stencil_templates/detail/function_join.h"
#include "stencil_templates/detail/program_choice.h"
#include "stencil_templates/detail/program_state.h"
#include "stencil_templates/detail/tile_race.h"

namespace hpl::stencils {
namespace {

using geometry::Box;
using strategies::Lifetime;

constexpr TimeTile kByFunction{0, {}, TimeForm::Any};

}  // namespace

/// What is read before any function of the first step has written it must have been written before.
void ProgramState::checkContents() const {
  std::vector<geometry::Region> known;
  for (const ProgramField& field : fields_) {
    geometry::Region cells;
    const memory::View& view = *field.array.argument.argument.view;
    for (const Box& box : view.root().written())
      if (const Box own = intersect(box, view.box()); !own.empty()) cells.add(own);
    known.push_back(cells.translatedBack(view.box().lo()));
  }
  const Box grid = Box::ofExtents(extents_);
  for (const auto& function : functions_) {
    for (const int read : function->parts.front().reads) {
      if (field(read).temporary != nullptr || known[static_cast<std::size_t>(read)].contains(grid))
        continue;
      throw ArgumentError(fmt::format(
          "{}: {} reads {} before all of its cells have a value; fill it, or apply the function "
          "that writes it first",
          describe(), function->name, field(read).describe()));
    }
    for (const int written : function->parts.front().writes)
      known[static_cast<std::size_t>(written)].add(
          cellsWritten(extents_, function->parts, written));
  }
}

void ProgramState::checkUse() const {
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    if (fields_[f].temporary == nullptr) continue;
    const bool isRead = std::any_of(functions_.begin(), functions_.end(), [&](const auto& other) {
      return contains(other->parts.front().reads, static_cast<int>(f));
    });
    if (isRead) continue;
    throw ArgumentError(fmt::format(
        "{}: no function reads {}, whose cells nobody sees after a step; leave it out, or pass an "
        "Array to keep them",
        describe(), fields_[f].describe()));
  }
}

std::vector<TimeFunction> ProgramState::allParts() const {
  std::vector<TimeFunction> parts;
  for (const auto& function : functions_)
    parts.insert(parts.end(), function->parts.begin(), function->parts.end());
  return parts;
}

/// Whether no step sees what the one before it has written.
bool ProgramState::isChain() const {
  const std::vector<TimeFunction> parts = allParts();
  const std::vector<Lifetime> lifetimes =
      lifetimesOf(extents_, parts, std::vector<bool>(fields_.size()));
  return std::all_of(parts.begin(), parts.end(), [&](const TimeFunction& part) {
    return std::all_of(part.writes.begin(), part.writes.end(), [&](int written) {
      return lifetimes[static_cast<std::size_t>(written)] != Lifetime::Steps;
    });
  });
}

PassContents ProgramState::contentsOf(const ProgramPass& pass) const {
  PassContents contents;
  for (const ProgramFunction* function : pass.functions) {
    contents.parts.insert(contents.parts.end(), function->parts.begin(), function->parts.end());
    contents.origins.insert(contents.origins.end(), function->parts.size(), function);
  }
  std::vector<bool> isTemporary;
  for (const int number : pass.fields) {
    contents.types.push_back(field(number).array.argument.argument.type);
    isTemporary.push_back(field(number).temporary != nullptr &&
                          pass.functions.size() == functions_.size());
  }
  for (TimeFunction& part : contents.parts)
    for (std::vector<int>* list : {&part.reads, &part.writes})
      for (int& number : *list)
        number = static_cast<int>(std::find(pass.fields.begin(), pass.fields.end(), number) -
                                  pass.fields.begin());
  contents.lifetimes = lifetimesOf(extents_, contents.parts, isTemporary);
  return contents;
}

void ProgramState::makeKernel(ProgramPass& pass, const TimeTile& tile) const {
  PassContents contents = contentsOf(pass);
  std::vector<TimeFunction> functions;
  for (JoinedFunction& joined :
       joinFunctions(extents_, contents.parts, contents.types, contents.lifetimes)) {
    for (const std::size_t part : joined.parts) pass.scalarsOf.push_back(contents.origins[part]);
    functions.push_back(std::move(joined.function));
  }
  pass.kernel = std::make_shared<const TimeKernel>(extents_.rank(), std::move(contents.types),
                                                   std::move(functions), tile, label_,
                                                   contents.lifetimes, ends_);
}

/// A function of all cells that are there for it, which writes nothing that it reads, is a stencil
/// like any other.
bool ProgramState::isPlainStencil(const ProgramFunction& function) const {
  const TimeFunction& part = function.parts.front();
  return function.isEverywhere &&
         std::none_of(part.writes.begin(), part.writes.end(),
                      [&](int written) { return contains(part.reads, written); });
}

ProgramPass ProgramState::passOf(const std::vector<const ProgramFunction*>& functions,
                                 const TimeTile& tile) const {
  ProgramPass pass;
  pass.functions = functions;
  std::set<int> fields;
  for (const ProgramFunction* function : functions) {
    const TimeFunction& part = function->parts.front();
    fields.insert(part.reads.begin(), part.reads.end());
    fields.insert(part.writes.begin(), part.writes.end());
  }
  pass.fields.assign(fields.begin(), fields.end());
  makeKernel(pass, tile);
  return pass;
}

ProgramPass ProgramState::wholePass(const TimeTile& tile) const {
  std::vector<const ProgramFunction*> all;
  for (const auto& function : functions_) all.push_back(function.get());
  return passOf(all, tile);
}

const std::vector<ProgramPass>& ProgramState::passesFor(const TimeTile& tile) {
  auto& passes = passes_[{tile, ends_.joined, ends_.whyNotTiled}];
  if (!passes.empty()) return passes;
  std::vector<ProgramPass> made;
  if (tile.depth > 0) {
    made.push_back(wholePass(tile));
  } else {
    for (const auto& function : functions_) {
      if (isPlainStencil(*function)) {
        made.emplace_back().stencil = function.get();
      } else {
        made.push_back(singlePass(*function));
      }
    }
  }
  passes = std::move(made);
  return passes;
}

/// Throws LaunchError where no kernel can be made of the function.
ProgramPass ProgramState::singlePass(const ProgramFunction& function) const {
  ProgramPass pass = passOf({&function}, {});
  if (const std::string why = strategies::whyNotOverlapped(pass.kernel->recipe.program());
      !why.empty())
    throw LaunchError(fmt::format(
        "{}: {} writes an array that it reads, or only some cells of it, and {}; give its inputs "
        "the same boundaries there, or let it write all cells of another array",
        describe(), function.name, why));
  return pass;
}

/// Those that a pass needs besides the program's.
void ProgramState::makeArrays(const ProgramPass& pass) {
  for (std::size_t i = 0; i < pass.fields.size(); ++i) {
    ProgramField& own = fields_[static_cast<std::size_t>(pass.fields[i])];
    const strategies::TimeField& use = pass.kernel->recipe.program().fields[i];
    if (use.isWritten() && use.lifetime == Lifetime::Steps && own.spare.owner == nullptr)
      own.spare = own.array.make(gridOf(extents_), memory_);
    if (!use.isLoaded() && own.placeholder.owner == nullptr)
      own.placeholder = own.array.make({1, 1, 1}, memory_);
  }
}

std::vector<launch::Argument> ProgramState::arraysFor(const ProgramPass& pass,
                                                      const std::vector<bool>& swapped) const {
  const std::vector<strategies::TimeField>& uses = pass.kernel->recipe.program().fields;
  std::vector<launch::Argument> list;
  const auto push = [&](const ProgramArgument& array) { list.push_back(array.argument.argument); };
  const TimeRecipe& recipe = pass.kernel->recipe;
  const auto present = [&](std::size_t i, bool other) {
    const auto number = static_cast<std::size_t>(pass.fields[i]);
    return swapped[number] != other ? fields_[number].spare : fields_[number].array;
  };
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (uses[i].isLoaded()) {
      list.push_back(recipe.shown(present(i, false).argument.argument));
    } else {
      push(field(pass.fields[i]).placeholder);
    }
  }
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (!uses[i].isWritten()) continue;
    if (uses[i].lifetime == Lifetime::Temporary) {
      push(field(pass.fields[i]).placeholder);
    } else {
      push(present(i, uses[i].lifetime == Lifetime::Steps));
    }
  }
  return list;
}

void ProgramState::makeTables(std::int64_t steps) {
  step_ = 0;
  StepTables before;
  std::vector<StepTables::Table> kept;
  for (const auto& [function, tables] : tables_)
    for (const StepTables::Table& table : tables)
      if (table != nullptr) kept.push_back(table);
  before.keep(std::move(kept));
  for (const auto& function : functions_) {
    const PointSignature& signature = function->stencil->signature();
    std::vector<StepTables::Table> tables;
    for (std::size_t i = 0; i < function->scalars.size(); ++i) {
      const PerStep* values = function->scalars[i].argument.perStep;
      StepTables::Table& table = tables.emplace_back();
      if (values == nullptr) continue;
      const memory::View& like = *fields_.front().array.argument.argument.view;
      table = before.known(std::make_shared<StepTable>(
          *values, signature.parameters[i], steps, like,
          fmt::format("{}, {}", describe(), function->name), fmt::format("parameter {}", i + 1)));
    }
    tables_[function.get()] = std::move(tables);
  }
}

std::vector<StencilArgument> ProgramState::scalarsOf(const ProgramFunction& function) const {
  std::vector<StencilArgument> list;
  const std::vector<StepTables::Table>& tables = tables_.at(&function);
  for (std::size_t i = 0; i < function.scalars.size(); ++i) {
    StencilArgument& scalar = list.emplace_back(function.scalars[i].argument);
    scalar.table = tables[i];
    if (scalar.table != nullptr) scalar.argument = scalar.table->at(step_);
  }
  return list;
}

std::vector<launch::Argument> ProgramState::scalarsFor(const ProgramPass& pass) const {
  std::vector<StencilArgument> list;
  for (const ProgramFunction* function : pass.scalarsOf)
    for (StencilArgument& scalar : scalarsOf(*function)) list.push_back(std::move(scalar));
  return stepScalars(pass.kernel->recipe, list, step_);
}

FRunner ProgramState::launchPass(const launch::LaunchOptions& options, const ProgramPass& pass,
                                 int steps, const std::vector<bool>& swapped) const {
  std::vector<launch::Argument> list = arraysFor(pass, swapped);
  list.push_back(launch::makeArgument(steps));
  const std::vector<launch::Argument> scalars = scalarsFor(pass);
  list.insert(list.end(), scalars.begin(), scalars.end());
  launch::LaunchOptions own = options;
  own.global = domainOf(extents_);
  return launch::launch(pass.kernel->entry, own, list);
}

FRunner ProgramState::launchStencil(const launch::LaunchOptions& options,
                                    const ProgramFunction& function,
                                    const std::vector<bool>& swapped) const {
  const TimeFunction& part = function.parts.front();
  std::vector<StencilArgument> list;
  for (const std::vector<int>* numbers : {&part.reads, &part.writes})
    for (const int number : *numbers)
      list.push_back(
          (swapped[static_cast<std::size_t>(number)] ? field(number).spare : field(number).array)
              .argument);
  for (StencilArgument& scalar : scalarsOf(function)) list.push_back(std::move(scalar));
  return stencils::launchStencil(*function.stencil, options, list.data(), list.size());
}

void ProgramState::launch(const launch::LaunchOptions& options, const ProgramPass& pass, int steps,
                          std::vector<bool>& swapped) {
  const std::tuple<const ProgramPass*, int, std::vector<bool>> kind{&pass, steps, swapped};
  const auto isPerStep = [](const ProgramArgument& scalar) {
    return scalar.argument.perStep != nullptr;
  };
  // Runners repeat the values that they were made with.
  const bool changes = pass.stencil != nullptr ? std::any_of(pass.stencil->scalars.begin(),
                                                             pass.stencil->scalars.end(), isPerStep)
                                               : pass.kernel->recipe.hasStepScalars();
  if (const auto known = runners_.find(kind); known != runners_.end() && !changes) {
    known->second.run();
  } else {
    runners_[kind] = pass.stencil != nullptr ? launchStencil(options, *pass.stencil, swapped)
                                             : launchPass(options, pass, steps, swapped);
  }
  ++launches_;
  noteSwaps(pass, swapped);
}

void ProgramState::noteSwaps(const ProgramPass& pass, std::vector<bool>& swapped) {
  for (std::size_t i = 0; i < pass.fields.size(); ++i) {
    const strategies::TimeField& use = pass.kernel->recipe.program().fields[i];
    const auto number = static_cast<std::size_t>(pass.fields[i]);
    if (use.isWritten() && use.lifetime == Lifetime::Steps) swapped[number] = !swapped[number];
  }
}

/// Some steps, in an even number of launches where there are several, so that the arrays have the
/// result and not their stand-ins.
void ProgramState::stream(const launch::LaunchOptions& options, const TimeTile& tile,
                          std::int64_t steps, std::vector<bool>& swapped) {
  const bool isWhole = tile.depth > 0;
  const std::vector<ProgramPass>& passes = passesFor(tile);
  if (isWhole && passes.front().kernel->isRejected)
    return stream(options, kByFunction, steps, swapped);
  for (const ProgramPass& pass : passes) makeArrays(pass);
  const std::int64_t depth = std::max(1, tile.depth);
  std::int64_t launches = (steps + depth - 1) / depth;
  if (launches % 2 != 0 && launches < steps) ++launches;
  const std::int64_t before = launches_;
  for (std::int64_t left = launches; left > 0; --left) {
    const std::int64_t now = (steps + left - 1) / left;
    try {
      for (const ProgramPass& pass : passes) launch(options, pass, static_cast<int>(now), swapped);
      step_ += now;
    } catch (const BuildError& error) {
      // Functions by themselves are kernels as they were written.
      if (!isWhole || launches_ != before) throw;
      reject(*passes.front().kernel, describe(), error);
      return stream(options, kByFunction, steps, swapped);
    }
    steps -= now;
  }
}

void ProgramState::advance(const launch::LaunchOptions& options, const TimeTile& tile,
                           std::int64_t steps) {
  std::vector<bool> swapped(fields_.size());
  if (tile.form != TimeForm::Persistent) {
    stream(options, tile, steps, swapped);
  } else {
    if (steps > 1) steps -= persist(options, tile, steps, swapped);
    if (steps > 0) stream(options, kByFunction, steps, swapped);
  }
  std::vector<Range> all;
  for (const std::int64_t extent : extents_) all.emplace_back(0, extent - 1);
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const StencilArgument& array = fields_[f].array.argument;
    if (swapped[f]) array.copy(array.array, fields_[f].spare.argument.array, all.data());
  }
}

ProgramWish ProgramState::wish(const IterationPlan& plan) const {
  const std::int64_t joined = every_ > 0 ? std::min(plan.steps, every_) : plan.steps;
  ProgramWish wish{wishOf(describe(), plan, extents_.rank(), joined), plan.fuse};
  if (plan.fusion) wish.form = *plan.fusion == Fusion::Rows ? TimeForm::Chain : TimeForm::Boxes;
  wish.time.isRankLocal = fields_.front().array.argument.argument.view->root().isRankLocal();
  // The steps of a chain do the same, one after another.
  if (isChain()) wish.time.steps = 1;
  return wish;
}

TimeChoice ProgramState::chooseTile(const launch::LaunchOptions& options,
                                    const IterationPlan& plan) {
  const ProgramWish wish = this->wish(plan);
  TimeChoice found = choices_->find(wish.time, wish.key(), options, gridOf(extents_), [&] {
    tuneIfFull(options, wish);
    const PassContents whole = contentsOf(passesFor({}).front());
    const TimeRecipe apart(extents_.rank(), whole.types, whole.parts, {}, whole.lifetimes, ends_);
    const auto streamed = [&] {
      return chooseProgramTile(wish, wholeRecipe(), apart, options, gridOf(extents_));
    };
    // Who asks for one launch does not want to hear of others.
    const bool isAsked = wish.time.persistent == true;
    TimeChoice choice;
    if (!isAsked) choice.tile = streamed();
    choice.kept = chooseKept(options, wish, plan, choice.tile);
    if (isAsked && !choice.kept) choice.tile = streamed();
    if (!wish.fuse && !plan.fusion)
      choice.race = raceFor(wish.time, wholeRecipe(), options, gridOf(extents_), choice.tile,
                            singleStepTile(wish, wholeRecipe(), apart, options, gridOf(extents_)));
    return choice;
  });
  if (found.kept && wish.time.steps >= found.kept->leastSteps) {
    found.tile = found.kept->tile;
    found.race = nullptr;
  }
  return found;
}

class ProgramState::Stepping final : public Stepper {
 public:
  Stepping(ProgramState& program, const launch::LaunchOptions& options)
      : program_(program), options_(options) {}

  void advance(const TimeTile& tile, std::int64_t steps) override {
    program_.advance(options_, tile, steps);
  }
  std::int64_t launches() const override { return program_.launches_; }
  void wait() override { devicesOf(options_).front().sync(); }

 private:
  ProgramState& program_;
  const launch::LaunchOptions& options_;
};

void ProgramState::setEnds(const launch::LaunchOptions& options) {
  std::vector<memory::View*> arrays;
  for (const ProgramField& field : fields_)
    if (field.temporary == nullptr) arrays.push_back(field.array.argument.argument.view);
  GridEnds ends = endsOf(options, arrays, extents_.rank());
  if (ends == ends_) return;
  ends_ = std::move(ends);
  choices_->clear();
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
  makeTables(steps);
  setEnds(options);
  if (const std::string why = impossibility(wholeRecipe()); !why.empty())
    throw LaunchError(fmt::format(
        "{}: {}: {}, so that cells that are computed twice would differ; iterate a stencil "
        "instead",
        describe(), call, why));
}

StencilRun ProgramState::run(const launch::LaunchOptions& options, const IterationPlan& plan) {
  prepare(options, fmt::format("run({})", plan.steps), plan.steps);
  const TimeChoice choice = chooseTile(options, plan);
  Stepping stepping(*this, options);
  // Launches of another run may have been made with other options.
  runners_.clear();
  StencilRun run{0, std::numeric_limits<double>::quiet_NaN(), false, 0};
  const std::int64_t before = launches_;
  while (run.steps < plan.steps && !run.converged) {
    const std::int64_t more =
        every_ > 0 ? std::min(every_, plan.steps - run.steps) : plan.steps - run.steps;
    if (choice.race != nullptr) {
      choice.race->advance(stepping, more);
    } else {
      advance(options, choice.tile, more);
    }
    run.steps += more;
    if (every_ > 0 && more == every_) run.converged = isDone_(run.steps);
  }
  run.launches = launches_ - before;
  return run;
}

StencilRun runProgram(ProgramState& program, const launch::LaunchOptions& options,
                      const IterationPlan& plan) {
  return program.run(options, plan);
}

}  // namespace hpl::stencils
