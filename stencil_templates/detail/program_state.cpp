// SPDX-License-Identifier: Apache-2.0
// What programs consist of; program_run.cpp runs them.
#include "stencil_templates/detail/program_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "hpl/error.h"
#include "hpl/memory/root.h"

namespace hpl::stencils {
namespace {

using geometry::Box;
using geometry::Region;

const memory::View& viewOf(const ProgramArgument& argument) {
  return *argument.argument.argument.view;
}

bool isSameArray(const ProgramArgument& a, const ProgramArgument& b) {
  return &viewOf(a).root() == &viewOf(b).root() && viewOf(a).box() == viewOf(b).box();
}

std::string textOf(const Region& cells) {
  return cells.boxCount() == 1 ? cells.begin()->toString() : cells.toString();
}

}  // namespace

ProgramState::ProgramState(const ProgramState& other)
    : label_(other.label_),
      functions_(other.functions_),
      data_(other.data_),
      owners_(other.owners_),
      boxes_(other.boxes_),
      every_(other.every_),
      isDone_(other.isDone_) {}

std::string ProgramState::describe() const {
  return label_.empty() ? "stencil program" : fmt::format("stencil program '{}'", label_);
}

int ProgramState::fieldOf(const ProgramArgument& array) {
  for (std::size_t f = 0; f < data_.fields.size(); ++f) {
    if (isSameArray(data_.fields[f].array, array)) return static_cast<int>(f);
    if (shareCells(boxes_.copiedView(data_.fields[f].array.argument),
                   boxes_.copiedView(array.argument)))
      throw ArgumentError(fmt::format(
          "{}: {} is passed as two views that share cells; pass the same view, or views that are "
          "apart: cells would belong to two fields",
          describe(), viewOf(array).root().describe()));
  }
  for (std::size_t f = 0; f < functions_.size(); ++f)
    if (functions_[f].records() &&
        shareCells(boxes_.copiedView(array.argument), *data_.scalars[f].back().argument.view))
      throw ArgumentError(fmt::format(
          "{}: {} has cells into which {} puts its samples; programs do not see samples, pass "
          "another array",
          describe(), viewOf(array).root().describe(), functions_[f].name));
  data_.fields.push_back({array, array.temporary, {}, {}});
  return static_cast<int>(data_.fields.size()) - 1;
}

/// Gives views that are no boxes arrays, which run() fills and brings back.
void ProgramState::boxViews(ProgramArgument* begin, ProgramArgument* end, bool areWritten) {
  for (ProgramArgument* argument = begin; argument != end; ++argument)
    if (BoxCopies::isNeeded(argument->argument))
      argument->argument = boxes_.replace(argument->argument, areWritten);
}

/// Gives temporaries arrays of the grid's shape, so that they are arguments like others.
void ProgramState::makeTemporaries(std::vector<ProgramArgument>& arguments) {
  if (functions_.empty())
    for (const ProgramArgument& argument : arguments)
      if (argument.argument.argument.view != nullptr && data_.extents.rank() == 0) {
        data_.extents = viewOf(argument).extents;
        data_.memory =
            HPL_NOHOST_MEM | (viewOf(argument).root().isRankLocal() ? HPL_RANK_LOCAL : 0U);
      }
  for (ProgramArgument& argument : arguments) {
    if (argument.temporary == nullptr) continue;
    const auto known =
        std::find_if(data_.fields.begin(), data_.fields.end(),
                     [&](const StepField& field) { return field.temporary == argument.temporary; });
    const std::shared_ptr<const std::string> identity = argument.temporary;
    if (known != data_.fields.end()) {
      argument = known->array;
      continue;
    }
    std::array<std::int64_t, 3> extents{1, 1, 1};
    for (int d = 0; d < argument.rank && argument.rank == data_.extents.rank(); ++d)
      extents[static_cast<std::size_t>(d)] = data_.extents[d];
    argument = argument.make(extents, data_.memory);
    argument.temporary = identity;
    viewOf(argument).root().setLabel(*identity);
    data_.fields.push_back({argument, identity, {}, {}});
  }
}

Box ProgramState::boxOf(const std::string& name, const std::vector<Range>& region) const {
  const Box grid = Box::ofExtents(data_.extents);
  if (region.empty()) return grid;
  if (static_cast<int>(region.size()) != data_.extents.rank())
    throw ArgumentError(fmt::format(
        "{}: over(...) names {} range{}, and the grid has {} dimension{}", name, region.size(),
        region.size() == 1 ? "" : "s", data_.extents.rank(), data_.extents.rank() == 1 ? "" : "s"));
  Box box = grid;
  for (int d = 0; d < data_.extents.rank(); ++d) {
    const Range& range = region[static_cast<std::size_t>(d)];
    if (range.first < 0 || range.last >= data_.extents[d] || range.last < range.first)
      throw ArgumentError(fmt::format(
          "{}: the region's range {}..{} of dimension {} does not lie in the grid, whose indices "
          "there are 0..{}",
          name, range.first, range.last, d + 1, data_.extents[d] - 1));
    box = box.withRange(d, range.first, range.last + 1);
  }
  return box;
}

std::vector<Box> ProgramState::boxesFor(const std::string& name, const ProgramCells& cells,
                                        const std::vector<int>& written) const {
  if (!cells.areElsewhere) return {boxOf(name, cells.region)};
  Region left;
  for (const int output : written) {
    Region own = Box::ofExtents(data_.extents);
    for (const auto& function : functions_)
      own.subtract(cellsWritten(data_.extents, function.parts, output));
    if (output != written.front() && !(own == left))
      throw ArgumentError(fmt::format(
          "{}: elsewhere(): its outputs miss different cells: {} misses {}, {} misses {}; apply a "
          "function for each",
          name, field(written.front()).describe(), textOf(left), field(output).describe(),
          textOf(own)));
    left = std::move(own);
  }
  if (left.empty())
    throw ArgumentError(
        fmt::format("{}: elsewhere(): the functions before it write all cells of {}; leave it out",
                    name, field(written.front()).describe()));
  return {left.begin(), left.end()};
}

/// Cells that two functions write would depend on the order of the functions alone.
void ProgramState::checkRegions(const StepFunction& fresh) const {
  for (const int written : fresh.parts.front().writes) {
    const Region own = cellsWritten(data_.extents, fresh.parts, written);
    for (const auto& other : functions_) {
      Region common = cellsWritten(data_.extents, other.parts, written);
      common.intersect(own);
      if (common.empty()) continue;
      throw ArgumentError(fmt::format(
          "{}: {} writes cells {} of {}, of which {} writes {} already; give the functions "
          "regions that do not overlap with .over(...)",
          describe(), fresh.name, textOf(own), field(written).describe(), other.name,
          textOf(common)));
    }
  }
}

/// Cells of temporaries that are read have been written by functions before this one.
void ProgramState::checkTemporaries(const StepFunction& fresh) const {
  const TimeFunction& any = fresh.parts.front();
  for (std::size_t i = 0; i < any.reads.size(); ++i) {
    const int number = any.reads[i];
    if (field(number).temporary == nullptr) continue;
    if (std::find(any.writes.begin(), any.writes.end(), number) != any.writes.end())
      throw ArgumentError(fmt::format(
          "{}: {} reads and writes {}; cells of temporaries are written once in a step: pass "
          "another one as output",
          describe(), fresh.name, field(number).describe()));
    Region written;
    for (const auto& other : functions_)
      written.add(cellsWritten(data_.extents, other.parts, number));
    if (written.empty())
      throw ArgumentError(fmt::format(
          "{}: {} reads {}, which no function before it has written; temporaries hold nothing from "
          "step to step: apply the function that writes it first, or pass an Array",
          describe(), fresh.name, field(number).describe()));
    Region missing;
    for (const TimeFunction& part : fresh.parts)
      if (const Box read = cellsRead(data_.extents, part, i); !read.empty()) missing.add(read);
    missing.subtract(written);
    if (missing.empty()) continue;
    throw ArgumentError(fmt::format(
        "{}: {} reads cells {} of {}, which no function before it has written; write them with "
        "another function (.elsewhere() applies it there), give that function boundaries, or apply "
        "this one to fewer cells with .over(...)",
        describe(), fresh.name, textOf(missing), field(number).describe()));
  }
}

template <class F>
void ProgramState::addOrNothing(F&& change) {
  const Former former{data_, owners_, boxes_};
  try {
    change();
  } catch (...) {
    data_ = former.data;
    owners_ = former.owners;
    boxes_ = former.boxes;
    throw;
  }
  steps_.reset();
}

void ProgramState::add(const std::shared_ptr<StencilState>& stencil, const ProgramCells& cells,
                       std::vector<ProgramArgument> arguments) {
  addOrNothing([&] { addChecked(stencil, cells, std::move(arguments)); });
}

void ProgramState::addRecord(const ProgramArgument& from, const ProgramArgument& samples,
                             const std::vector<RecordPlace>& places) {
  addOrNothing([&] { addRecordChecked(from, samples, places); });
}

void ProgramState::addChecked(const std::shared_ptr<StencilState>& stencil,
                              const ProgramCells& cells, std::vector<ProgramArgument> arguments) {
  StepFunction fresh;
  fresh.name = fmt::format("function {} ({})", functions_.size() + 1, stencil->describe());
  fresh.stencil = stencil.get();
  owners_.push_back(stencil);
  fresh.isEverywhere = !cells.areElsewhere && cells.region.empty();
  const std::string name = fmt::format("{}, {}", describe(), fresh.name);
  const std::size_t inputs = stencil->signature().inputs.size();
  const std::size_t arrays = inputs + stencil->signature().outputs.size();
  if (arguments.size() >= arrays) {
    boxViews(arguments.data(), arguments.data() + inputs, false);
    boxViews(arguments.data() + inputs, arguments.data() + arrays, true);
  }
  makeTemporaries(arguments);
  std::vector<StencilArgument> list;
  for (const ProgramArgument& argument : arguments) list.push_back(argument.argument);
  const StencilRecipe recipe = stencil->recipeFor(name, list.data(), list.size());
  const geometry::Extents& shape = list.front().argument.view->extents;
  if (functions_.empty()) data_.extents = shape;
  if (!(shape == data_.extents))
    throw ShapeError(fmt::format("{}: its arrays have the shape {}, but the grid has {}", name,
                                 shape.toString(), data_.extents.toString()));
  TimeFunction function;
  function.point = recipe.point;
  function.inputs = recipe.inputs;
  function.cost = stencil->cost();
  for (std::size_t i = 0; i < arrays; ++i) {
    if (i >= inputs && arguments[i].isConst)
      throw ArgumentError(fmt::format("{}: output {} is const", name, i - inputs + 1));
    (i < inputs ? function.reads : function.writes).push_back(fieldOf(arguments[i]));
  }
  std::vector<StencilArgument>& scalars = data_.scalars.emplace_back();
  for (std::size_t i = arrays; i < arguments.size(); ++i) {
    scalars.push_back(arguments[i].argument);
    owners_.push_back(arguments[i].owner);
    function.perStep.push_back(scalars.back().perStep != nullptr);
  }
  for (const Box& box : boxesFor(name, cells, function.writes)) {
    for (int d = 0; d < recipe.dims(); ++d) {
      const auto k = static_cast<std::size_t>(d);
      function.low[k] = std::max(box.lo(d), recipe.untouched(d, false));
      function.high[k] = std::max(data_.extents[d] - box.hi(d), recipe.untouched(d, true));
      function.most[k] = box.hi(d) - box.lo(d);
    }
    fresh.parts.push_back(function);
  }
  checkRegions(fresh);
  checkTemporaries(fresh);
  functions_.push_back(std::move(fresh));
}

void ProgramState::checkEvery(std::int64_t steps, std::function<bool(std::int64_t)> isDone) {
  if (steps < 1)
    throw ArgumentError(fmt::format(
        "{}: every({}, ...): the number of steps between two questions must be positive",
        describe(), steps));
  if (!isDone)
    throw ArgumentError(
        fmt::format("{}: every({}, ...): there is no function to ask", describe(), steps));
  every_ = steps;
  isDone_ = std::move(isDone);
}

std::shared_ptr<ProgramState> copyOf(const ProgramState& program) {
  return std::make_shared<ProgramState>(program);
}

std::shared_ptr<ProgramState> makeProgram() { return std::make_shared<ProgramState>(); }

void nameProgram(ProgramState& program, const std::string& name) { program.setLabel(name); }

void addFunction(ProgramState& program, const std::shared_ptr<StencilState>& stencil,
                 const ProgramCells& cells, std::vector<ProgramArgument> arguments) {
  program.add(stencil, cells, std::move(arguments));
}

void addRecord(ProgramState& program, const ProgramArgument& from, const ProgramArgument& samples,
               const std::vector<RecordPlace>& places) {
  program.addRecord(from, samples, places);
}

void checkEvery(ProgramState& program, std::int64_t steps,
                std::function<bool(std::int64_t)> isDone) {
  program.checkEvery(steps, std::move(isDone));
}

}  // namespace hpl::stencils
