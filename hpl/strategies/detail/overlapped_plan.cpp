// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/overlapped_plan.h"

#include <algorithm>

#include "hpl/strategies/detail/source.h"

namespace hpl::strategies {
namespace detail {
namespace {

bool isMirror(Beyond beyond) { return beyond == Beyond::Mirror || beyond == Beyond::MirrorOdd; }

bool isOwnCell(const TimeRead& read) {
  return std::all_of(read.offsets.begin(), read.offsets.end(),
                     [](const ir::Interval& i) { return i.lo == 0 && i.hi == 0; });
}

std::vector<TileFunction> functionsOf(const TimeProgram& program) {
  const std::vector<bool> isOfLastStep = stagesOfLastStep(program);
  std::vector<TileFunction> functions;
  for (const TimeStage& stage : program.stages) {
    TileFunction& function = functions.emplace_back();
    function.writes = stage.writes;
    function.isOfLastStep = isOfLastStep[functions.size() - 1];
    function.isOfTile = stage.records;
    for (const TimeRead& read : stage.reads) function.reads.push_back({read.field, reachOf(read)});
  }
  return functions;
}

std::array<bool, 3> periodicDims(const TimeProgram& program) {
  std::array<bool, 3> isPeriodic{};
  for (const TimeStage& stage : program.stages)
    for (const TimeRead& read : stage.reads)
      for (std::size_t f = 0; f < 6; ++f)
        isPeriodic[f / 2] = isPeriodic[f / 2] || read.beyond[f] == Beyond::Periodic;
  for (const TimeStage& stage : program.stages) {
    // Tiles do not reach beyond the grid.
    for (std::size_t d = 0; d < 3 && !stage.records; ++d) {
      if (!isPeriodic[d]) continue;
      if (stage.low[d] != 0 || stage.high[d] != 0)
        throw Refused{"a dimension is periodic, but one of its functions leaves out its ends"};
      for (const TimeRead& read : stage.reads) {
        const bool low = read.offsets[d].lo >= 0 || read.beyond[2 * d] == Beyond::Periodic;
        const bool high = read.offsets[d].hi <= 0 || read.beyond[2 * d + 1] == Beyond::Periodic;
        if (!low || !high)
          throw Refused{"a dimension is periodic for some inputs of its functions only"};
      }
    }
  }
  return isPeriodic;
}

/// Bounds what is loaded for any number of steps up to `depth`: what the first stages compute, and
/// what all of them read around it.
LinearGrowth haloLine(const TimeProgram& program, const std::vector<TileFunction>& functions,
                      const std::vector<LinearGrowth>& boxes) {
  LinearGrowth halo;
  for (std::size_t k = 0; k < program.stages.size(); ++k) {
    halo.perStep = hull(halo.perStep, boxes[k].perStep);
    halo.first = hull(halo.first, boxes[k].first);
    for (const TileFunction::Read& read : functions[k].reads)
      halo.first = hull(halo.first, grownBy(boxes[k].first, read.offsets));
  }
  return halo;
}

LinearGrowth haloAndBoxes(const TimeProgram& program, int depth, std::vector<LinearGrowth>& boxes) {
  const std::vector<TileFunction> functions = functionsOf(program);
  // Two steps show the slope already, but fields may join the hull one step after another.
  const int looked = std::max(depth, static_cast<int>(program.fields.size()) + 2);
  const TileRegions regions =
      tileRegions(functions, static_cast<int>(program.fields.size()), looked);
  boxes = linearGrowth(regions, functions);
  return haloLine(program, functions, boxes);
}

std::int64_t roundedUp(std::int64_t value, std::int64_t to) { return (value + to - 1) / to * to; }

bool isAlone(const OverlappedOptions& options) {
  return options.local == std::array<int, 3>{1, 1, 1};
}

bool reachesBeyond(const TimeRead& read) {
  return std::any_of(read.beyond.begin(), read.beyond.end(),
                     [](Beyond beyond) { return beyond != Beyond::Nothing; });
}

bool isUsed(const TimeProgram& program, int field) {
  return std::any_of(program.stages.begin(), program.stages.end(), [field](const TimeStage& stage) {
    return std::find(stage.writes.begin(), stage.writes.end(), field) != stage.writes.end() ||
           std::any_of(stage.reads.begin(), stage.reads.end(),
                       [field](const TimeRead& read) { return read.field == field; });
  });
}

/// Whether the kernel reads the field where it is. Brought into a box it would be read but once by
/// a pass of one step, which copying costs more than it saves.
bool isReadInPlace(const TimeProgram& program, const OverlappedOptions& options, int field) {
  if (program.fields[static_cast<std::size_t>(field)].isWritten()) return false;
  for (const TimeStage& stage : program.stages)
    for (const TimeRead& read : stage.reads)
      if (read.field == field && !isOwnCell(read) &&
          (options.depth > 1 || !isAlone(options) || reachesBeyond(read)))
        return false;
  return true;
}

/// Whether the stages store the field's cells where they belong, each of them once. Tiles must not
/// write each other's cells.
bool isWrittenInPlace(const TimeProgram& program, const OverlappedPlan& plan, int field) {
  if (program.fields[static_cast<std::size_t>(field)].lifetime != Lifetime::Result) return false;
  for (std::size_t k = 0; k < program.stages.size(); ++k) {
    const TimeStage& stage = program.stages[k];
    for (const TimeRead& read : stage.reads)
      if (read.field == field) return false;
    if (std::find(stage.writes.begin(), stage.writes.end(), field) == stage.writes.end()) continue;
    if (!plan.isOfLastStep[k] || !(plan.boxes[k].first == Growth{})) return false;
  }
  return true;
}

}  // namespace

std::array<ir::Interval, 3> reachOf(const TimeRead& read) {
  std::array<ir::Interval, 3> reach = read.offsets;
  for (std::size_t d = 0; d < 3; ++d) {
    const ir::Interval own = read.offsets[d];
    const Beyond low = own.lo < 0 ? read.beyond[2 * d] : Beyond::Nothing;
    const Beyond high = own.hi > 0 ? read.beyond[2 * d + 1] : Beyond::Nothing;
    if (low == Beyond::Nearest) reach[d].hi = std::max<std::int64_t>(own.hi, 0);
    if (high == Beyond::Nearest) reach[d].lo = std::min<std::int64_t>(own.lo, 0);
    if (isMirror(low)) reach[d].hi = std::max(own.hi, -own.lo - 1);
    if (isMirror(high)) reach[d].lo = std::min(reach[d].lo, 1 - own.hi);
  }
  return reach;
}

bool OverlappedPlan::swaps(const TimeStage& stage, int field) {
  if (std::find(stage.writes.begin(), stage.writes.end(), field) == stage.writes.end())
    return false;
  return std::any_of(stage.reads.begin(), stage.reads.end(), [field](const TimeRead& read) {
    return read.field == field && !isOwnCell(read);
  });
}

std::int64_t OverlappedPlan::rowsReach(const TimeStage& stage) {
  std::int64_t reach = 0;
  for (const TimeRead& read : stage.reads)
    if (swaps(stage, read.field))
      reach = std::max({reach, -read.offsets[0].lo, read.offsets[0].hi});
  return reach;
}

OverlappedPlan planOverlapped(const TimeProgram& program, const OverlappedOptions& options) {
  OverlappedPlan plan;
  plan.isPeriodic = periodicDims(program);
  plan.halo = haloAndBoxes(program, options.depth, plan.boxes);
  plan.isOfLastStep = stagesOfLastStep(program);
  plan.fields.resize(program.fields.size());
  // Cells of a periodic box do not lie where they lie in global memory.
  const bool wraps = plan.isPeriodic[0] || plan.isPeriodic[1] || plan.isPeriodic[2];
  for (std::size_t f = 0; f < plan.fields.size(); ++f) {
    const auto field = static_cast<int>(f);
    plan.fields[f].isGlobal =
        !isUsed(program, field) || (!wraps && (isReadInPlace(program, options, field) ||
                                               isWrittenInPlace(program, plan, field)));
  }
  for (const TimeStage& stage : program.stages) {
    for (const int written : stage.writes) {
      FieldPlan& field = plan.fields[static_cast<std::size_t>(written)];
      ++field.writers;
      field.hasTwo = field.hasTwo || OverlappedPlan::swaps(stage, written);
    }
  }

  const bool alone = isAlone(options);
  // Others of a group would still read what one of them overwrites. In one dimension there are no
  // rows, and where several functions write a field their slides would not be the same.
  for (const TimeStage& stage : program.stages) {
    for (const int written : stage.writes) {
      FieldPlan& field = plan.fields[static_cast<std::size_t>(written)];
      if (alone && program.dims > 1 && field.hasTwo && field.writers == 1)
        field.slide = OverlappedPlan::rowsReach(stage) + std::max(kMostRows, options.jam);
    }
  }
  for (std::size_t d = 0; d < static_cast<std::size_t>(program.dims); ++d) {
    const bool isFastest = d + 1 == static_cast<std::size_t>(program.dims);
    const std::int64_t further = options.depth - 1;
    plan.margin[d] = plan.halo.first.before[d] + further * plan.halo.perStep.before[d];
    const std::int64_t after = plan.halo.first.after[d] + further * plan.halo.perStep.after[d];
    // Tiles begin at cache lines; rows of groups do not share the banks of local memory.
    if (isFastest && alone) plan.margin[d] = roundedUp(plan.margin[d], options.lanes);
    plan.extent[d] = plan.margin[d] + options.tile[d] + after;
    if (isFastest && alone) plan.extent[d] = roundedUp(plan.extent[d], options.lanes);
    if (isFastest && !alone && plan.extent[d] % 32 == 0) ++plan.extent[d];
  }
  return plan;
}

}  // namespace detail

bool hasRecords(const TimeProgram& program) {
  return std::any_of(program.stages.begin(), program.stages.end(),
                     [](const TimeStage& stage) { return stage.records; });
}

std::vector<bool> stagesOfLastStep(const TimeProgram& program) {
  std::vector<bool> isOfLastStep(program.stages.size(), true);
  // Whether something that other steps need is made from the field, by the stages looked at so far.
  std::vector<bool> isNeeded(program.fields.size());
  for (std::size_t f = 0; f < isNeeded.size(); ++f)
    isNeeded[f] = program.fields[f].lifetime == Lifetime::Steps;
  // Fields that do not go from step to step are written before they are read.
  for (std::size_t k = program.stages.size(); k-- > 0;) {
    if (program.stages[k].records) isOfLastStep[k] = false;
    for (const int field : program.stages[k].writes)
      if (isNeeded[static_cast<std::size_t>(field)]) isOfLastStep[k] = false;
    if (isOfLastStep[k]) continue;
    for (const TimeRead& read : program.stages[k].reads)
      isNeeded[static_cast<std::size_t>(read.field)] = true;
  }
  return isOfLastStep;
}

std::vector<LinearGrowth> growthOf(const TimeProgram& program, int depth) {
  std::vector<LinearGrowth> boxes;
  detail::haloAndBoxes(program, depth, boxes);
  return boxes;
}

std::string whyNotOverlapped(const TimeProgram& program) {
  try {
    detail::planOverlapped(program, {});
    return "";
  } catch (const detail::Refused& refused) {
    return refused.reason;
  }
}

std::vector<bool> hasBoxes(const TimeProgram& program, const OverlappedOptions& options) {
  std::vector<bool> has;
  for (const detail::FieldPlan& field : detail::planOverlapped(program, options).fields)
    has.push_back(!field.isGlobal);
  return has;
}

bool areInColumns(const OverlappedOptions& options, int dims) {
  return dims > 1 && !detail::isAlone(options) &&
         options.tile[0] >= std::int64_t{kColumnOfGroup} * options.local[0];
}

Growth haloOf(const TimeProgram& program, int depth) {
  std::vector<LinearGrowth> boxes;
  const LinearGrowth halo = detail::haloAndBoxes(program, depth, boxes);
  Growth total;
  for (std::size_t d = 0; d < 3; ++d) {
    total.before[d] = halo.first.before[d] + (depth - 1) * halo.perStep.before[d];
    total.after[d] = halo.first.after[d] + (depth - 1) * halo.perStep.after[d];
  }
  return total;
}

std::size_t boxBytes(const TimeProgram& program, const std::vector<std::size_t>& bytes,
                     const OverlappedOptions& options) {
  const detail::OverlappedPlan plan = detail::planOverlapped(program, options);
  std::size_t total = 0;
  for (std::size_t f = 0; f < program.fields.size(); ++f) {
    if (plan.fields[f].isGlobal) continue;
    const detail::FieldPlan& field = plan.fields[f];
    std::size_t row = bytes[f];
    for (std::size_t d = 1; d < 3; ++d) row *= static_cast<std::size_t>(plan.extent[d]);
    const std::int64_t rows = plan.extent[0] + field.slide;
    total += row * static_cast<std::size_t>(field.hasTwo && field.slide == 0 ? 2 * rows : rows);
  }
  return total;
}

}  // namespace hpl::strategies
