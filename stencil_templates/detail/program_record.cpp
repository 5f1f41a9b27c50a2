// SPDX-License-Identifier: Apache-2.0
// What programs record in each step.
#include <fmt/format.h>

#include <algorithm>

#include "hpl/error.h"
#include "hpl/memory/root.h"
#include "stencil_templates/detail/program_state.h"
#include "stencil_templates/detail/record_point.h"

namespace hpl::stencils {
namespace {

using geometry::Box;

const memory::View& viewOf(const StencilArgument& argument) { return *argument.argument.view; }

Box cellsAt(const std::string& name, const geometry::Extents& grid,
            const std::vector<RecordPlace>& places) {
  Box cells = Box::ofExtents(grid);
  for (std::size_t d = 0; d < places.size(); ++d) {
    const Range& range = places[d].range;
    const auto dim = static_cast<int>(d);
    if (range.stride != 1)
      throw ArgumentError(fmt::format(
          "{}: the range of dimension {} has a stride of {}; record all cells of the range, and "
          "look at some of the samples",
          name, d + 1, range.stride));
    if (range.first < 0 || range.last >= grid[dim] || range.last < range.first)
      throw ArgumentError(fmt::format(
          "{}: the positions {}..{} of dimension {} do not lie in the grid, whose indices there "
          "are 0..{}",
          name, range.first, range.last, d + 1, grid[dim] - 1));
    cells = cells.withRange(dim, range.first, range.last + 1);
  }
  return cells;
}

}  // namespace

/// They are apart from the program's arrays and from other samples.
void ProgramState::checkSamples(const std::string& name, const ProgramArgument& samples) const {
  const memory::View& own = viewOf(samples.argument);
  for (const StepField& field : data_.fields)
    if (field.temporary == nullptr && shareCells(own, boxes_.copiedView(field.array.argument)))
      throw ArgumentError(
          fmt::format("{}: the samples are cells of {}, an array of the program; record into "
                      "another array",
                      name, own.root().describe()));
  for (std::size_t f = 0; f < functions_.size(); ++f) {
    if (!functions_[f].records() || !shareCells(own, viewOf(data_.scalars[f].back()))) continue;
    throw ArgumentError(fmt::format(
        "{}: the samples go to cells of {} to which those of {} go; record into another array, or "
        "into other cells",
        name, own.root().describe(), functions_[f].name));
  }
}

void ProgramState::addRecordChecked(const ProgramArgument& from, const ProgramArgument& samples,
                                    const std::vector<RecordPlace>& places) {
  std::vector<ProgramArgument> arguments{from};
  boxViews(arguments.data(), arguments.data() + 1, false);
  makeTemporaries(arguments);
  const ProgramArgument& source = arguments.front();
  StepFunction fresh;
  fresh.name = fmt::format("function {} (record of {})", functions_.size() + 1,
                           viewOf(source.argument).root().describe());
  fresh.isEverywhere = false;
  const std::string name = fmt::format("{}, {}", describe(), fresh.name);
  const geometry::Extents& shape = viewOf(source.argument).extents;
  if (functions_.empty()) data_.extents = shape;
  if (!(shape == data_.extents))
    throw ShapeError(fmt::format("{}: the array has the shape {}, but the grid has {}", name,
                                 shape.toString(), data_.extents.toString()));
  const int dims = shape.rank();
  const Box cells = cellsAt(name, shape, places);
  const ir::Type type = source.argument.argument.type;

  TimeFunction function;
  function.point = std::make_shared<const RecordPoint>(dims, type);
  function.reads = {fieldOf(source)};
  function.inputs.emplace_back().type = type;
  function.perStep = {true};
  Recording& recording = function.recording.emplace();
  recording.type = type;
  geometry::Extents wanted = geometry::Extents::filled(1, 0);
  for (int d = 0; d < dims; ++d) {
    const auto k = static_cast<std::size_t>(d);
    function.low[k] = recording.first[k] = cells.lo(d);
    function.high[k] = shape[d] - cells.hi(d);
    function.most[k] = cells.extent(d);
    if (!places.empty() && !places[k].isKept) continue;
    recording.dims.push_back(k);
    wanted.append(cells.extent(d));
  }
  if (samples.argument.argument.mapped() != nullptr)
    throw ShapeError(fmt::format(
        "{}: the samples are a view of {} with strides, of another shape or transposed; record "
        "into an array, or into a view without strides",
        name, viewOf(samples.argument).root().describe()));
  const geometry::Extents& got = viewOf(samples.argument).extents;
  wanted[0] = got[0];
  if (!(got == wanted))
    throw ShapeError(fmt::format(
        "{}: the samples have the shape {}; they need a dimension for the steps, then the extents "
        "of the ranges: {}",
        name, got.toString(), wanted.toString()));
  checkSamples(name, samples);
  fresh.parts.push_back(std::move(function));
  checkTemporaries(fresh);

  const auto number = std::make_shared<const PerStep>(
      perStep([](std::int64_t step) { return static_cast<int>(step); }));
  data_.scalars.push_back({stencilArgument(*number), samples.argument});
  owners_.insert(owners_.end(), {number, samples.owner});
  functions_.push_back(std::move(fresh));
}

void ProgramState::checkSampleCount(const std::string& call, std::int64_t steps) const {
  for (std::size_t f = 0; f < functions_.size(); ++f) {
    if (!functions_[f].records()) continue;
    const memory::View& samples = viewOf(data_.scalars[f].back());
    if (samples.extents[0] >= steps) continue;
    throw ArgumentError(fmt::format(
        "{}: {}: {} puts a sample of each step into {}, which has room for {}; give it {} in its "
        "first dimension",
        describe(), call, functions_[f].name, samples.root().describe(), samples.extents[0],
        steps));
  }
}

}  // namespace hpl::stencils
