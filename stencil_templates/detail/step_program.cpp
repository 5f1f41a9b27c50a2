// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/step_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "hpl/error.h"
#include "stencil_templates/detail/function_join.h"

namespace hpl::stencils {

using strategies::Lifetime;

bool StepFunction::updatesInputs() const {
  return writes().size() <= reads().size() &&
         std::equal(writes().begin(), writes().end(), reads().begin());
}

StepProgram::StepProgram(StepContents contents)
    : contents_(std::move(contents)), whole_(wholePass({})), apart_(recipeApart()) {}

bool StepProgram::isChain() const {
  if (isIteration()) return false;
  std::vector<TimeFunction> parts;
  for (const StepFunction& function : functions())
    parts.insert(parts.end(), function.parts.begin(), function.parts.end());
  const std::vector<Lifetime> lifetimes =
      lifetimesOf(contents_.extents, parts, std::vector<bool>(fieldCount()));
  return std::all_of(parts.begin(), parts.end(), [&](const TimeFunction& part) {
    return std::all_of(part.writes.begin(), part.writes.end(), [&](int written) {
      return lifetimes[static_cast<std::size_t>(written)] != Lifetime::Steps;
    });
  });
}

bool StepProgram::records() const {
  return std::any_of(functions().begin(), functions().end(),
                     [](const StepFunction& function) { return function.records(); });
}

/// The contents of a pass with these functions and fields, with the fields in its own numbers.
StepProgram::PassContents StepProgram::contentsOf(const StepPass& pass) const {
  PassContents result;
  for (const std::size_t number : pass.functions) {
    const StepFunction& function = functions()[number];
    result.parts.insert(result.parts.end(), function.parts.begin(), function.parts.end());
    result.origins.insert(result.origins.end(), function.parts.size(), number);
  }
  std::vector<bool> areTemporary;
  for (const int number : pass.fields) {
    const auto field = static_cast<std::size_t>(number);
    result.types.push_back(contents_.types[field]);
    areTemporary.push_back(contents_.areTemporary[field] &&
                           pass.functions.size() == functions().size());
  }
  for (TimeFunction& part : result.parts)
    for (std::vector<int>* list : {&part.reads, &part.writes})
      for (int& number : *list)
        number = static_cast<int>(std::find(pass.fields.begin(), pass.fields.end(), number) -
                                  pass.fields.begin());
  // Fields that iterations write go from step to step.
  if (!isIteration()) result.lifetimes = lifetimesOf(contents_.extents, result.parts, areTemporary);
  return result;
}

TimeRecipe StepProgram::recipeApart() const {
  PassContents all = contentsOf(whole_);
  return {contents_.dims, std::move(all.types), std::move(all.parts), {},
          all.lifetimes,  contents_.ends};
}

StepPass StepProgram::passOf(std::vector<std::size_t> functions, const TimeTile& tile,
                             const std::shared_ptr<const ResidualFunction>& residual) const {
  StepPass pass;
  pass.functions = std::move(functions);
  std::set<int> fields;
  for (const std::size_t number : pass.functions)
    for (const std::vector<int>* list :
         {&this->functions()[number].reads(), &this->functions()[number].writes()})
      fields.insert(list->begin(), list->end());
  pass.fields.assign(fields.begin(), fields.end());
  PassContents all = contentsOf(pass);
  std::vector<TimeFunction> joined;
  if (isIteration()) {
    joined = all.parts;
    pass.scalarsOf = all.origins;
  } else {
    for (JoinedFunction& one :
         joinFunctions(contents_.extents, all.parts, all.types, all.lifetimes)) {
      for (const std::size_t part : one.parts) pass.scalarsOf.push_back(all.origins[part]);
      joined.push_back(std::move(one.function));
    }
  }
  pass.kernel = std::make_shared<const TimeKernel>(contents_.dims, std::move(all.types),
                                                   std::move(joined), tile, contents_.label,
                                                   all.lifetimes, contents_.ends, residual);
  pass.swaps.resize(fieldCount());
  const std::vector<strategies::TimeField>& uses = pass.kernel->recipe.program().fields;
  for (std::size_t i = 0; i < uses.size(); ++i)
    pass.swaps[static_cast<std::size_t>(pass.fields[i])] =
        uses[i].isWritten() && uses[i].lifetime == Lifetime::Steps;
  return pass;
}

StepPass StepProgram::wholePass(const TimeTile& tile,
                                const std::shared_ptr<const ResidualFunction>& residual) const {
  std::vector<std::size_t> all(functions().size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return passOf(std::move(all), tile, residual);
}

/// A function of all cells that are there for it is a stencil like any other, if it writes nothing
/// that it reads, or only output k what is input k: then it writes to the field's other array.
bool StepProgram::isPlainStencil(const StepFunction& function) const {
  if (!function.isEverywhere) return false;
  return function.updatesInputs() ||
         std::none_of(function.writes().begin(), function.writes().end(),
                      [&](int written) { return contains(function.reads(), written); });
}

StepPass StepProgram::stencilPass(std::size_t function) const {
  StepPass pass;
  pass.functions = {function};
  pass.swaps.resize(fieldCount());
  if (functions()[function].updatesInputs())
    for (const int written : functions()[function].writes())
      pass.swaps[static_cast<std::size_t>(written)] = true;
  return pass;
}

/// A launch for its few cells, not for those of the grid.
StepPass StepProgram::recordPass(std::size_t function) const {
  TimeFunction own = functions()[function].parts.front();
  StepPass pass;
  pass.functions = pass.scalarsOf = {function};
  pass.fields = own.reads;
  pass.swaps.resize(fieldCount());
  pass.cells = cellsWritten(contents_.extents, own);
  const ir::Type type = contents_.types[static_cast<std::size_t>(own.reads.front())];
  own.reads = {0};
  own.low = own.high = own.recording->first = {};
  pass.kernel = std::make_shared<const TimeKernel>(
      contents_.dims, std::vector<ir::Type>{type}, std::vector<TimeFunction>{std::move(own)},
      TimeTile(), contents_.label, std::vector<Lifetime>{Lifetime::Result});
  return pass;
}

StepPass StepProgram::singlePass(std::size_t function) const {
  StepPass pass = passOf({function}, {}, nullptr);
  if (const std::string why = strategies::whyNotOverlapped(pass.kernel->recipe.program());
      !why.empty())
    throw LaunchError(fmt::format(
        "{} writes an array that it reads, or only some cells of it, and {}; give its inputs the "
        "same boundaries there, or let it write all cells of another array",
        functions()[function].name, why));
  return pass;
}

std::vector<StepPass> StepProgram::makePasses(
    const TimeTile& tile, const std::shared_ptr<const ResidualFunction>& residual) const {
  std::vector<StepPass> passes;
  if (tile.depth > (isIteration() ? 1 : 0) || tile.form == TimeForm::Persistent) {
    passes.push_back(wholePass(tile, residual));
    return passes;
  }
  for (std::size_t f = 0; f < functions().size(); ++f)
    passes.push_back(functions()[f].records()         ? recordPass(f)
                     : isPlainStencil(functions()[f]) ? stencilPass(f)
                                                      : singlePass(f));
  return passes;
}

StepProgram::Passes StepProgram::passes(const TimeTile& tile,
                                        const std::shared_ptr<const ResidualFunction>& residual) {
  const std::lock_guard lock(mutex_);
  auto& [of, known] = passes_[tile];
  if (known == nullptr || of != residual.get()) {
    known = std::make_shared<const std::vector<StepPass>>(makePasses(tile, residual));
    of = residual.get();
  }
  return known;
}

std::vector<StepTables::Table> StepProgram::keepTables(
    const std::vector<StepTables::Table>& fresh) {
  // The end of a table may take long: not under the lock.
  std::vector<StepTables::Table> before;
  std::vector<StepTables::Table> kept;
  const std::lock_guard lock(mutex_);
  for (const StepTables::Table& table : fresh) kept.push_back(tables_.known(table));
  if (!kept.empty()) before = tables_.keep(kept);
  return kept;
}

}  // namespace hpl::stencils
