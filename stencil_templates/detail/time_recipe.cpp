// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/time_recipe.h"

#include <fmt/format.h>

#include <algorithm>

#include "hpl/runtime/settings.h"
#include "stencil_templates/detail/border.h"
#include "stencil_templates/detail/time_forms.h"

namespace hpl::stencils {
namespace {

using strategies::Beyond;

Beyond beyondOf(BoundaryKind kind) {
  switch (kind) {
    case BoundaryKind::Nearest:
      return Beyond::Nearest;
    case BoundaryKind::Mirror:
      return Beyond::Mirror;
    case BoundaryKind::MirrorOdd:
      return Beyond::MirrorOdd;
    case BoundaryKind::Periodic:
      return Beyond::Periodic;
    case BoundaryKind::Fixed:
    case BoundaryKind::Computed:
      return Beyond::Value;
    default:
      return Beyond::Nothing;
  }
}

/// A condition of branches that are none: they tell the functions apart.
Node always() { return detail::hostConstant(1); }

template <class Number>
std::size_t unsignedOf(Number value) {
  return static_cast<std::size_t>(value);
}

}  // namespace

TimeRecipe::TimeRecipe(int dims, std::vector<ir::Type> fields, std::vector<TimeFunction> functions,
                       const TimeTile& tile, const std::vector<strategies::Lifetime>& lifetimes,
                       const GridEnds& ends, std::shared_ptr<const ResidualFunction> residual)
    : fields_(std::move(fields)),
      functions_(std::move(functions)),
      tile_(tile),
      ends_(ends),
      residual_(std::move(residual)) {
  program_.dims = dims;
  program_.fields.resize(fields_.size());
  std::vector<bool> written(fields_.size());
  for (const TimeFunction& function : functions_)
    for (const int field : function.writes) written[unsignedOf(field)] = true;
  for (std::size_t f = 0; f < lifetimes.size(); ++f) program_.fields[f].lifetime = lifetimes[f];
  int parameter = 0;
  for (strategies::TimeField& field : program_.fields) field.current = parameter++;
  for (std::size_t f = 0; f < fields_.size(); ++f)
    if (written[f]) program_.fields[f].next = parameter++;
  if (isPersistent()) {
    for (std::size_t f = 0; f < fields_.size(); ++f)
      if (written[f] && program_.fields[f].lifetime == strategies::Lifetime::Steps)
        program_.fields[f].between = parameter++;
    program_.flags = parameter++;
    program_.patience = parameter++;
    program_.raised = parameter++;
    for (std::size_t d = 0; d < unsignedOf(dims); ++d) program_.firstGroup[d] = parameter++;
  }
  if (tile_.looks) {
    // The field of output 1 is number 0.
    program_.looks.field = 0;
    for (int* own : {&program_.looks.old, &program_.looks.residual, &program_.looks.values,
                     &program_.looks.every, &program_.looks.bound})
      *own = parameter++;
  }
  program_.steps = parameter;
  addScalars(parameter + 1);
  int branches = static_cast<int>(functions_.size());
  for (const TimeFunction& function : functions_) addFunction(function, branches);
  if (tile_.looks) program_.looks.body = branches;
  const strategies::Growth halo = strategies::haloOf(program_, std::max(1, tile_.depth));
  for (std::size_t d = 0; d < unsignedOf(dims); ++d) {
    program_.isJoined[d] = ends_.joined[d] && isPeriodic(static_cast<int>(d));
    if (!program_.isJoined[d]) continue;
    program_.ghostsBefore[d] = halo.before[d];
    ghostsAfter_[d] = halo.after[d];
  }
}

void TimeRecipe::addScalars(int parameter) {
  const auto changes = [](const TimeFunction& function) {
    const auto& perStep = function.perStep;
    return std::find(perStep.begin(), perStep.end(), true) != perStep.end();
  };
  if (std::none_of(functions_.begin(), functions_.end(), changes)) return;
  program_.firstStep = parameter++;
  program_.lastStep = parameter++;
  for (std::size_t f = 0; f < functions_.size(); ++f) {
    const TimeFunction& function = functions_[f];
    for (std::size_t i = 0; i < function.point->signature().parameters.size(); ++i) {
      const int scalar = parameter++;
      if (function.isPerStep(i)) program_.stepScalars.push_back({scalar, parameter++});
    }
    if (function.recording) records_.emplace(parameter++, f);
  }
}

launch::Argument TimeRecipe::shown(const launch::Argument& array) const {
  if (program_.isJoined == std::array<bool, 3>{}) return array;
  return withGhosts(array, program_.ghostsBefore, ghostsAfter_);
}

std::string TimeRecipe::whyTooFar(int depth, const std::array<std::int64_t, 3>& extents) const {
  for (std::size_t d = 0; d < unsignedOf(program_.dims); ++d) {
    if (!program_.isJoined[d]) continue;
    const auto reachOf = [&](int steps) {
      const strategies::Growth halo = strategies::haloOf(program_, steps);
      return std::max(halo.before[d], halo.after[d]);
    };
    if (reachOf(depth) <= extents[d]) continue;
    int most = depth - 1;
    while (most > 1 && reachOf(most) > extents[d]) --most;
    return fmt::format(
        "they would read {} cells beyond the ends of dimension {}, which is periodic and has {} "
        "cells; up to {} step{} reach no further than that",
        reachOf(depth), d + 1, extents[d], most, most == 1 ? "" : "s");
  }
  return "";
}

void TimeRecipe::addFunction(const TimeFunction& function, int& branches) {
  strategies::TimeStage& stage = program_.stages.emplace_back();
  stage.body = static_cast<int>(program_.stages.size()) - 1;
  stage.writes = function.writes;
  stage.low = function.low;
  stage.high = function.high;
  stage.most = function.most;
  stage.records = function.recording.has_value();
  cost_ += function.cost;
  for (std::size_t i = 0; i < function.inputs.size(); ++i) {
    const InputPlan& input = function.inputs[i];
    strategies::TimeRead& read = stage.reads.emplace_back();
    read.field = function.reads[i];
    read.offsets = input.reach.offsets;
    read.isFirstStraight = input.reach.isFirstStraight;
    for (int d = 0; d < program_.dims; ++d) {
      for (const bool high : {false, true}) {
        const auto face = unsignedOf(2 * d + (high ? 1 : 0));
        read.beyond[face] = beyondOf(input.kind(program_.dims, d, high));
        if (input.reach.beyond(d, high) == 0) read.beyond[face] = Beyond::Nothing;
        if (read.beyond[face] == Beyond::Value) read.value[face] = branches++;
      }
    }
  }
}

std::vector<PointCost> TimeRecipe::costs() const {
  std::vector<PointCost> costs;
  for (const TimeFunction& function : functions_) costs.push_back(function.cost);
  return costs;
}

std::vector<std::size_t> TimeRecipe::bytesOfFields() const {
  std::vector<std::size_t> bytes;
  for (const ir::Type& type : fields_) bytes.push_back(ir::sizeOf(type));
  return bytes;
}

bool TimeRecipe::isPeriodic(int dim) const {
  const auto d = unsignedOf(dim);
  for (const strategies::TimeStage& stage : program_.stages)
    for (const strategies::TimeRead& read : stage.reads)
      if (read.beyond[2 * d] == Beyond::Periodic || read.beyond[2 * d + 1] == Beyond::Periodic)
        return true;
  return false;
}

bool TimeRecipe::hasComputedFaces() const {
  for (const TimeFunction& function : functions_)
    for (const InputPlan& input : function.inputs)
      for (int face = 0; face < 2 * program_.dims; ++face)
        if (input.kind(program_.dims, face / 2, face % 2 != 0) == BoundaryKind::Computed)
          return true;
  return false;
}

void TimeRecipe::record() const {
  const int dims = program_.dims;
  std::vector<Symbol> current;
  std::vector<Symbol> next(fields_.size());
  for (const ir::Type& type : fields_)
    current.push_back(detail::arrayParameter(type, ir::Space::Global, dims, true));
  for (std::size_t f = 0; f < fields_.size(); ++f)
    if (program_.fields[f].next >= 0)
      next[f] = detail::arrayParameter(fields_[f], ir::Space::Global, dims, false);
  if (isPersistent()) {
    for (std::size_t f = 0; f < fields_.size(); ++f)
      if (program_.fields[f].between >= 0)
        detail::arrayParameter(fields_[f], ir::Space::Global, dims + 1, false);
    detail::arrayParameter(irType<int>(), ir::Space::Global, 1, false);
    for (int k = 0; k < 2 + dims; ++k) detail::scalarParameter(irType<int>());
  }
  Symbol old;
  Symbol residual;
  if (tile_.looks) {
    const ir::Type type = residualTypeOf(fields_.front());
    old = detail::arrayParameter(fields_.front(), ir::Space::Global, dims, false);
    residual = detail::arrayParameter(type, ir::Space::Global, dims, false);
    detail::arrayParameter(type, ir::Space::Global, 1, false);
    detail::scalarParameter(irType<int>());
    detail::scalarParameter(type);
  }
  detail::scalarParameter(irType<int>());
  Symbol firstStep;
  if (hasStepScalars()) {
    firstStep = detail::scalarParameter(irType<int>());
    detail::scalarParameter(irType<int>());
  }

  for (const TimeFunction& function : functions_)
    recordFunction(function, current, next, firstStep);
  std::vector<Node> coordinates;
  for (int d = 0; d < dims; ++d) coordinates.push_back(cast<int>(positionOf(dims, d)).node());
  for (std::size_t k = 0; k < functions_.size(); ++k) {
    for (std::size_t i = 0; i < functions_[k].inputs.size(); ++i) {
      const InputPlan& input = functions_[k].inputs[i];
      for (int face = 0; face < 2 * dims; ++face) {
        if (program_.stages[k].reads[i].value[unsignedOf(face)] < 0) continue;
        detail::beginIf(always());
        const Node value = input.value(dims, face / 2, face % 2 != 0)->at(coordinates.data(), dims);
        detail::declareVariable(input.type, ir::Space::Private, 0, nullptr,
                                detail::convertNode(value, input.type));
        detail::endBlock();
      }
    }
  }
  if (tile_.looks) recordLooks(current, old, residual);
}

/// Its scalars, and its branch.
void TimeRecipe::recordFunction(const TimeFunction& function, const std::vector<Symbol>& current,
                                const std::vector<Symbol>& next, Symbol firstStep) const {
  const int dims = program_.dims;
  KernelSymbols symbols;
  for (const int field : function.reads) symbols.inputs.push_back(current[unsignedOf(field)]);
  const std::vector<ir::Type>& parameters = function.point->signature().parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Symbol scalar = detail::scalarParameter(parameters[i]);
    symbols.scalars.push_back(scalar);
    if (!function.isPerStep(i)) continue;
    const Symbol table = detail::arrayParameter(parameters[i], ir::Space::Global, 1, true);
    const Node step = detail::variableNode(firstStep);
    detail::assignNode(detail::variableNode(scalar), detail::accessNode(table, &step, 1));
  }
  std::array<Node, 3> own{};
  for (int d = 0; d < dims; ++d) own[unsignedOf(d)] = positionOf(dims, d).node();
  if (function.recording) {
    const Recording& to = *function.recording;
    const auto rank = static_cast<int>(to.dims.size()) + 1;
    const Symbol records = detail::arrayParameter(to.type, ir::Space::Global, rank, false);
    detail::beginIf(always());
    std::vector<Node> place{detail::variableNode(symbols.scalars.front())};
    for (const std::size_t d : to.dims)
      place.push_back((positionOf(dims, static_cast<int>(d)) - unsignedOf(to.first[d])).node());
    detail::assignNode(detail::accessNode(records, place.data(), place.size()),
                       detail::accessNode(symbols.inputs.front(), own.data(), unsignedOf(dims)));
    detail::endBlock();
    return;
  }
  detail::beginIf(always());
  // Old and new cells may lie in the same place: nothing is stored before all has been read.
  std::vector<Node> cells;
  for (const int field : function.writes)
    cells.push_back(detail::variableNode(detail::declareVariable(
        fields_[unsignedOf(field)], ir::Space::Private, 0, nullptr, nullptr)));
  InteriorReader reader(dims, symbols);
  function.point->record(reader, cells.data(), symbols.scalars.data());
  for (std::size_t k = 0; k < cells.size(); ++k)
    detail::assignNode(
        detail::accessNode(next[unsignedOf(function.writes[k])], own.data(), unsignedOf(dims)),
        cells[k]);
  detail::endBlock();
}

void TimeRecipe::recordLooks(const std::vector<Symbol>& current, Symbol old,
                             Symbol residual) const {
  std::array<Node, 3> own{};
  for (int d = 0; d < program_.dims; ++d) own[unsignedOf(d)] = positionOf(program_.dims, d).node();
  const auto cellOf = [&](Symbol array) {
    return detail::accessNode(array, own.data(), unsignedOf(program_.dims));
  };
  detail::beginIf(always());
  detail::assignNode(cellOf(residual), residualNode(residual_.get(), fields_.front(),
                                                    cellOf(current.front()), cellOf(old)));
  detail::endBlock();
}

/// The groups of the whole launch.
std::array<std::int64_t, 3> TimeRecipe::groupsOf(const layout::RewriteRequest& request,
                                                 const TimeTile& tile) const {
  std::array<std::int64_t, 3> groups{1, 1, 1};
  for (std::size_t d = 0; d < unsignedOf(program_.dims); ++d) {
    const auto cells = static_cast<std::int64_t>(request.size[unsignedOf(program_.dims) - 1 - d]);
    groups[d] = tile.groups[d] > 0 ? tile.groups[d] : (cells + tile.cells[d] - 1) / tile.cells[d];
  }
  return groups;
}

strategies::Overlapped TimeRecipe::write(const layout::RewriteRequest& request,
                                         const TileEstimate& tile, bool isAlone) const {
  strategies::OverlappedOptions options;
  options.depth = tile_.depth;
  options.tile = tile.tile.cells;
  options.local = tile.local;
  options.lanes = isAlone ? request.lanes : 1;
  options.exact = request.exact;
  options.localMemory = request.localMemory;
  options.border = tile.tile.border;
  options.waitsForAll = tile.tile.waitsForAll;
  const TimeFormRow& form = rowOf(tile.tile.form);
  strategies::Overlapped made =
      form.write(request.kernel, request.summary, program_, options, groupsOf(request, tile.tile));
  if (made.kernel) made.reason = fmt::format("{}: {}", form.strategy, made.reason);
  return made;
}

layout::RewriteResult TimeRecipe::rewrite(const layout::RewriteRequest& request) const {
  layout::RewriteResult result;
  result.reason = strategies::whyNotOverlapped(program_);
  if (!result.reason.empty()) return result;
  TileProblem problem;
  problem.program = &program_;
  problem.cost = cost_;
  problem.costs = costs();
  problem.bytes = bytesOfFields();
  // Asking for tiles makes CPUs run what other devices run: tests do.
  problem.isAlone = request.isCpu && runtime::settings().strategy != runtime::Strategy::Tile;
  problem.lanes = request.lanes;
  problem.units = request.units;
  problem.localMemory = request.localMemory;
  problem.maxGroupSize = request.maxGroupSize;
  for (int d = 0; d < program_.dims; ++d)
    problem.extents[unsignedOf(d)] =
        static_cast<std::int64_t>(request.size[unsignedOf(program_.dims - 1 - d)]);
  TileEstimate best =
      tile_.cells[0] > 0 ? estimateOf(problem, tile_) : bestTile(problem, tile_.depth, tile_.form);
  if (best.tile.cells[0] == 0) {
    result.reason = fmt::format(
        "the boxes of {} steps per pass do not fit into {} bytes of local memory; those of up to "
        "{} "
        "steps do: choose .timeTile({}) or leave it to the library",
        tile_.depth, problem.localMemory, largestDepth(problem),
        std::max(1, largestDepth(problem)));
    return result;
  }
  strategies::Overlapped tiled = write(request, best, problem.isAlone);
  if (!tiled.kernel && best.tile.form == TimeForm::Registers) {
    // A kernel that does not suit registers goes to boxes: of the cells that a program has asked
    // for, or of others where the library chose.
    const std::string why = tiled.reason;
    best = tile_.form == TimeForm::Any && tile_.cells[0] > 0
               ? estimateOf(problem, {tile_.depth, tile_.cells, TimeForm::Boxes})
               : bestTile(problem, tile_.depth, TimeForm::Boxes);
    if (best.tile.cells[0] == 0) {
      result.reason = why;
      return result;
    }
    tiled = write(request, best, problem.isAlone);
    if (tiled.kernel) tiled.reason += "; not in registers: " + why;
  }
  result.kernel = tiled.kernel;
  result.hidden = tiled.hidden;
  result.lanes = problem.isAlone ? request.lanes : 1;
  result.reason = tiled.reason;
  for (std::size_t d = 0; d < unsignedOf(program_.dims); ++d) {
    const std::size_t axis = unsignedOf(program_.dims) - 1 - d;
    const auto cells = static_cast<std::size_t>(best.tile.cells[d]);
    result.local[axis] = static_cast<std::size_t>(best.local[d]);
    const bool hasBorder = d == 0 && best.tile.border.cells > 0;
    result.groups[axis] = hasBorder ? static_cast<std::size_t>(best.tile.border.groups)
                                    : (request.size[axis] + cells - 1) / cells;
  }
  return result;
}

}  // namespace hpl::stencils
