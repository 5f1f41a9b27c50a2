// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/program_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "hpl/error.h"
#include "hpl/memory/root.h"

namespace hpl::stencils {
namespace {

using geometry::Box;

const memory::View& viewOf(const ProgramArgument& argument) {
  return *argument.argument.argument.view;
}

bool isSameArray(const ProgramArgument& a, const ProgramArgument& b) {
  return &viewOf(a).root() == &viewOf(b).root() && viewOf(a).box() == viewOf(b).box();
}

bool overlaps(const ProgramArgument& a, const ProgramArgument& b) {
  return &viewOf(a).root() == &viewOf(b).root() && viewOf(a).box().intersects(viewOf(b).box());
}

std::vector<Range> rangesOf(const geometry::Extents& extents) {
  std::vector<Range> ranges;
  for (const std::int64_t extent : extents) ranges.emplace_back(0, extent - 1);
  return ranges;
}

}  // namespace

std::string ProgramState::describe() const {
  return label_.empty() ? "stencil program" : fmt::format("stencil program '{}'", label_);
}

int ProgramState::fieldOf(const ProgramArgument& array) {
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    if (isSameArray(fields_[f].array, array)) return static_cast<int>(f);
    if (overlaps(fields_[f].array, array))
      throw ArgumentError(fmt::format(
          "{}: {} is passed as two views that share cells; pass the same view, or views that are "
          "apart: cells would belong to two fields",
          describe(), viewOf(array).root().describe()));
  }
  fields_.push_back({array, {}, false, false});
  return static_cast<int>(fields_.size()) - 1;
}

Box ProgramState::boxOf(const std::string& name, const std::vector<Range>& region) const {
  const Box grid = Box::ofExtents(extents_);
  if (region.empty()) return grid;
  if (static_cast<int>(region.size()) != extents_.rank())
    throw ArgumentError(fmt::format(
        "{}: over(...) names {} range{}, and the grid has {} dimension{}", name, region.size(),
        region.size() == 1 ? "" : "s", extents_.rank(), extents_.rank() == 1 ? "" : "s"));
  Box box = grid;
  for (int d = 0; d < extents_.rank(); ++d) {
    const Range& range = region[static_cast<std::size_t>(d)];
    if (range.first < 0 || range.last >= extents_[d] || range.last < range.first)
      throw ArgumentError(fmt::format(
          "{}: the region's range {}..{} of dimension {} does not lie in the grid, whose indices "
          "there are 0..{}",
          name, range.first, range.last, d + 1, extents_[d] - 1));
    box = box.withRange(d, range.first, range.last + 1);
  }
  return box;
}

/// Cells that two functions write would depend on the order of the functions alone.
void ProgramState::checkRegions(const Applied& fresh) const {
  for (const Applied& other : functions_)
    for (const int field : fresh.function.writes)
      for (const int written : other.function.writes)
        if (field == written && other.region.intersects(fresh.region))
          throw ArgumentError(fmt::format(
              "{}: {} writes cells {} of {}, of which {} writes {} already; give the functions "
              "regions that do not overlap with .over(...)",
              describe(), fresh.name, fresh.region.toString(),
              viewOf(fields_[static_cast<std::size_t>(field)].array).root().describe(), other.name,
              intersect(other.region, fresh.region).toString()));
}

void ProgramState::add(const std::shared_ptr<StencilState>& stencil,
                       const std::vector<Range>& region, std::vector<ProgramArgument> arguments) {
  Applied applied;
  applied.name = fmt::format("function {} ({})", functions_.size() + 1, stencil->describe());
  const std::string name = fmt::format("{}, {}", describe(), applied.name);
  std::vector<StencilArgument> list;
  for (const ProgramArgument& argument : arguments) list.push_back(argument.argument);
  const StencilRecipe recipe = stencil->recipeFor(name, list.data(), list.size());
  const PointSignature& signature = stencil->signature();
  const geometry::Extents& shape = list.front().argument.view->extents;
  if (functions_.empty()) extents_ = shape;
  if (!(shape == extents_))
    throw ShapeError(fmt::format("{}: its arrays have the shape {}, but the grid has {}", name,
                                 shape.toString(), extents_.toString()));
  applied.region = boxOf(name, region);
  const std::vector<Field> before = fields_;
  try {
    applied.function.point = recipe.point;
    applied.function.inputs = recipe.inputs;
    applied.function.cost = stencil->cost();
    std::size_t i = 0;
    for (; i < signature.inputs.size(); ++i)
      applied.function.reads.push_back(fieldOf(arguments[i]));
    for (; i < signature.inputs.size() + signature.outputs.size(); ++i) {
      if (arguments[i].isConst)
        throw ArgumentError(
            fmt::format("{}: output {} is const", name, i - signature.inputs.size() + 1));
      const int field = fieldOf(arguments[i]);
      applied.function.writes.push_back(field);
      fields_[static_cast<std::size_t>(field)].isWritten = true;
    }
    applied.scalars.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end());
    checkRegions(applied);
  } catch (...) {
    fields_ = before;
    throw;
  }
  for (int d = 0; d < recipe.dims(); ++d) {
    const auto k = static_cast<std::size_t>(d);
    applied.function.low[k] = std::max(applied.region.lo(d), recipe.untouched(d, false));
    applied.function.high[k] =
        std::max(extents_[d] - applied.region.hi(d), recipe.untouched(d, true));
  }
  functions_.push_back(std::move(applied));
  kernels_.clear();
  choices_->clear();
  kernel_.reset();
  runners_.clear();
}

void ProgramState::checkEvery(std::int64_t steps, std::function<bool(std::int64_t)> isDone) {
  if (steps < 1)
    throw ArgumentError(fmt::format(
        "{}: every({}, ...): the number of steps between two questions must be positive",
        describe(), steps));
  every_ = steps;
  isDone_ = std::move(isDone);
}

/// What is read before any function of the first step has written it must have been written before.
void ProgramState::checkContents() const {
  std::vector<geometry::Region> known;
  for (const Field& field : fields_) {
    geometry::Region cells;
    const memory::View& view = viewOf(field.array);
    for (const Box& box : view.root().written())
      if (const Box own = intersect(box, view.box()); !own.empty()) cells.add(own);
    known.push_back(std::move(cells));
  }
  for (const Applied& applied : functions_) {
    for (const int read : applied.function.reads) {
      const auto field = static_cast<std::size_t>(read);
      const memory::View& view = viewOf(fields_[field].array);
      if (known[field].contains(view.box())) continue;
      throw ArgumentError(fmt::format(
          "{}: {} reads {} before all of its cells have a value; fill it, or apply the function "
          "that writes it first",
          describe(), applied.name, view.root().describe()));
    }
    for (const int written : applied.function.writes) {
      const auto field = static_cast<std::size_t>(written);
      const memory::View& view = viewOf(fields_[field].array);
      Box box = applied.region;
      for (int d = 0; d < box.rank(); ++d)
        box = box.withRange(
            d, view.box().lo(d) + applied.function.low[static_cast<std::size_t>(d)],
            view.box().lo(d) + extents_[d] - applied.function.high[static_cast<std::size_t>(d)]);
      if (!box.empty()) known[field].add(box);
    }
  }
}

void ProgramState::makeSpares() {
  for (Field& field : fields_)
    if (field.isWritten && field.spare.owner == nullptr)
      field.spare = field.array.another(field.array.argument.array);
}

std::shared_ptr<const TimeKernel> ProgramState::kernelFor(const TimeTile& tile) {
  auto& known = kernels_[{tile.depth, tile.cells[0], tile.cells[1], tile.cells[2]}];
  if (known == nullptr) {
    std::vector<ir::Type> types;
    for (const Field& field : fields_) types.push_back(field.array.argument.argument.type);
    std::vector<TimeFunction> functions;
    for (const Applied& applied : functions_) functions.push_back(applied.function);
    known = std::make_shared<const TimeKernel>(extents_.rank(), std::move(types),
                                               std::move(functions), tile);
  }
  return known;
}

TimeTile ProgramState::chooseTile(const launch::LaunchOptions& options, const IterationPlan& plan) {
  std::array<std::int64_t, 3> extents{1, 1, 1};
  for (int d = 0; d < extents_.rank(); ++d) extents[static_cast<std::size_t>(d)] = extents_[d];
  const std::int64_t joined = every_ > 0 ? std::min(plan.steps, every_) : plan.steps;
  const TimeWish wish = wishOf(describe(), plan, extents_.rank(), joined);
  return choices_->find(wish, nullptr, options, extents, [&] {
    return chooseTimeTile(wish, kernelFor({})->recipe, options, extents);
  });
}

FRunner ProgramState::launch(const launch::LaunchOptions& options, int steps, bool back) const {
  std::vector<launch::Argument> list;
  for (const Field& field : fields_)
    list.push_back((back && field.isWritten ? field.spare : field.array).argument.argument);
  for (const Field& field : fields_)
    if (field.isWritten) list.push_back((back ? field.array : field.spare).argument.argument);
  list.push_back(launch::makeArgument(steps));
  for (const Applied& applied : functions_)
    for (const ProgramArgument& scalar : applied.scalars) list.push_back(scalar.argument.argument);
  return launch::launch(kernel_->entry, options, list.data(), list.size());
}

/// Some steps, in an even number of launches where there are several, so that the arrays have the
/// result and not their stand-ins.
void ProgramState::advance(const launch::LaunchOptions& options, std::int64_t steps) {
  const std::int64_t depth = kernel_->recipe.tile().depth;
  std::int64_t launches = (steps + depth - 1) / depth;
  if (launches % 2 != 0 && launches < steps) ++launches;
  bool back = false;
  for (std::int64_t left = launches; left > 0; --left) {
    const std::int64_t now = (steps + left - 1) / left;
    const std::pair<bool, std::int64_t> kind{back, now};
    if (const auto known = runners_.find(kind); known != runners_.end()) {
      known->second.run();
    } else {
      runners_[kind] = launch(options, static_cast<int>(now), back);
    }
    steps -= now;
    back = !back;
  }
  if (!back) return;
  const std::vector<Range> all = rangesOf(extents_);
  for (const Field& field : fields_)
    if (field.isWritten)
      field.array.argument.copy(field.array.argument.array, field.spare.argument.array, all.data());
}

StencilRun ProgramState::run(const launch::LaunchOptions& options, const IterationPlan& plan) {
  if (plan.steps < 1)
    throw ArgumentError(
        fmt::format("{}: run({}): the number of steps must be positive", describe(), plan.steps));
  if (functions_.empty())
    throw ArgumentError(
        fmt::format("{}: run({}): there is nothing to do; add functions with apply(...)(arrays...)",
                    describe(), plan.steps));
  checkContents();
  makeSpares();
  if (const std::string why = impossibility(kernelFor({})->recipe, false); !why.empty())
    throw LaunchError(fmt::format(
        "{}: run({}): {}, so that cells that are computed twice would differ; iterate a stencil "
        "instead",
        describe(), plan.steps, why));
  const auto kernel = kernelFor(chooseTile(options, plan));
  // Launches of another run may have been made with other options.
  runners_.clear();
  kernel_ = kernel;
  StencilRun run{0, std::numeric_limits<double>::quiet_NaN(), false};
  while (run.steps < plan.steps && !run.converged) {
    const std::int64_t more =
        every_ > 0 ? std::min(every_, plan.steps - run.steps) : plan.steps - run.steps;
    advance(options, more);
    run.steps += more;
    if (every_ > 0 && more == every_) run.converged = isDone_(run.steps);
  }
  return run;
}

std::shared_ptr<ProgramState> makeProgram() { return std::make_shared<ProgramState>(); }

void nameProgram(ProgramState& program, const std::string& name) { program.setLabel(name); }

void addFunction(ProgramState& program, const std::shared_ptr<StencilState>& stencil,
                 const std::vector<Range>& region, std::vector<ProgramArgument> arguments) {
  program.add(stencil, region, std::move(arguments));
}

void checkEvery(ProgramState& program, std::int64_t steps,
                std::function<bool(std::int64_t)> isDone) {
  program.checkEvery(steps, std::move(isDone));
}

StencilRun runProgram(ProgramState& program, const launch::LaunchOptions& options,
                      const IterationPlan& plan) {
  return program.run(options, plan);
}

}  // namespace hpl::stencils
