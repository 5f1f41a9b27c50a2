// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/stream_plan.h"

#include <algorithm>

namespace hpl::strategies::detail {
namespace {

bool writes(const TimeStage& stage, std::size_t field) {
  return std::find(stage.writes.begin(), stage.writes.end(), static_cast<int>(field)) !=
         stage.writes.end();
}

const TimeRead* readOf(const TimeStage& stage, std::size_t field) {
  for (const TimeRead& read : stage.reads)
    if (static_cast<std::size_t>(read.field) == field) return &read;
  return nullptr;
}

/// Whether the function may find its own results where it reads the field. One that is applied to a
/// row next to a face, and reads the row beside it, does not.
bool mayMeetResults(const TimeStage& stage, std::size_t field) {
  if (!OverlappedPlan::swaps(stage, static_cast<int>(field))) return false;
  const TimeRead& read = *readOf(stage, field);
  // Cells beyond faces may be copies of results.
  if (std::any_of(read.beyond.begin(), read.beyond.end(),
                  [](Beyond beyond) { return beyond != Beyond::Nothing; }))
    return true;
  // Offsets that lead from one cell of the function's to another one.
  bool isOwn = true;
  for (std::size_t d = 0; d < 3; ++d) {
    auto [lo, hi] = read.offsets[d];
    if (stage.most[d] > 0) {
      lo = std::max(lo, 1 - stage.most[d]);
      hi = std::min(hi, stage.most[d] - 1);
    }
    if (lo > hi) return false;
    isOwn = isOwn && lo == 0 && hi == 0;
  }
  return !isOwn;
}

/// True if the first plane that a function reads is of no use once the plane that comes `before`
/// planes later has read it.
bool isLastUse(const TimeRead& read, std::int64_t before) {
  // Planes that stand for others are read at other offsets than their own.
  for (const Beyond beyond : {read.beyond[0], read.beyond[1]})
    if (beyond == Beyond::Mirror || beyond == Beyond::MirrorOdd) return false;
  return read.isFirstStraight || -read.offsets[0].lo < before;
}

/// How far before the plane that is computed the new cells are written. A function that looks at
/// the planes around must not lose them, or none but those of the first plane that lie straight
/// before the new ones. Others write over the old cells, which caches hold.
StreamPlan::Back distanceOf(const TimeStage& stage, std::size_t field,
                            const OverlappedOptions& options) {
  if (!mayMeetResults(stage, field)) return {};
  const TimeRead& read = *readOf(stage, field);
  const std::int64_t first = reachOf(read)[0].lo;
  if (options.local == std::array<int, 3>{1, 1, 1} && first < 0 && isLastUse(read, -first))
    return {-first, options.lanes};
  return {std::max<std::int64_t>(0, 1 - first), 0};
}

/// lag[to] (of the next step, if `isNext`) is at least lag[from] + planes.
struct Wait {
  std::size_t from = 0;
  std::size_t to = 0;
  std::int64_t planes = 0;
  bool isNext = false;
};

/// The function whose results another one sees, and whether they are those of the step before; -1:
/// no function writes the field.
int writerBefore(const TimeProgram& program, std::size_t k, std::size_t field, bool& isNext) {
  const std::size_t count = program.stages.size();
  for (std::size_t back = 1; back <= count; ++back) {
    const std::size_t writer = (k + count - back) % count;
    isNext = writer >= k;
    if (writes(program.stages[writer], field)) return static_cast<int>(writer);
  }
  return -1;
}

/// A plane is computed when all that it reads is there, and when all have read what it overwrites.
std::vector<Wait> waitsOf(const TimeProgram& program, std::vector<std::int64_t>& least) {
  std::vector<Wait> waits;
  for (std::size_t k = 0; k < program.stages.size(); ++k) {
    const TimeStage& stage = program.stages[k];
    const auto waitForWriter = [&](std::size_t field, std::int64_t planes) {
      // The first step reads what is loaded.
      least[k] = std::max(least[k], planes);
      bool isNext = false;
      const int writer = writerBefore(program, k, field, isNext);
      if (writer >= 0) waits.push_back({static_cast<std::size_t>(writer), k, planes, isNext});
    };
    for (const TimeRead& read : stage.reads)
      waitForWriter(static_cast<std::size_t>(read.field), reachOf(read)[0].hi);
    for (const int written : stage.writes) {
      const auto field = static_cast<std::size_t>(written);
      waitForWriter(field, 0);
      for (std::size_t other = 0; other < program.stages.size(); ++other) {
        const TimeRead* read = other == k ? nullptr : readOf(program.stages[other], field);
        if (read != nullptr) waits.push_back({other, k, -reachOf(*read)[0].lo, other > k});
      }
    }
  }
  return waits;
}

/// Whether there are lags with this one per step; finds the least.
bool findLags(const std::vector<Wait>& waits, std::int64_t perStep,
              std::vector<std::int64_t>& lag) {
  for (std::size_t round = 0; round <= lag.size(); ++round) {
    bool isDone = true;
    for (const Wait& wait : waits) {
      const std::int64_t least =
          lag[wait.from] + wait.planes - (wait.isNext ? perStep : std::int64_t{0});
      if (lag[wait.to] >= least) continue;
      lag[wait.to] = least;
      isDone = false;
    }
    if (isDone) return true;
  }
  return false;
}

/// Where both look beyond a face, they see the same. Values of functions are not compared.
bool seeTheSame(const TimeRead& a, const TimeRead& b) {
  for (std::size_t face = 0; face < 6; ++face) {
    if (a.beyond[face] == Beyond::Nothing || b.beyond[face] == Beyond::Nothing) continue;
    if (a.beyond[face] != b.beyond[face] || a.beyond[face] == Beyond::Value) return false;
  }
  return true;
}

bool hasOneBeyond(const TimeProgram& program, std::size_t field) {
  std::vector<const TimeRead*> reads;
  for (const TimeStage& stage : program.stages)
    if (const TimeRead* read = readOf(stage, field)) reads.push_back(read);
  for (std::size_t a = 0; a < reads.size(); ++a)
    for (std::size_t b = a + 1; b < reads.size(); ++b)
      if (!seeTheSame(*reads[a], *reads[b])) return false;
  return true;
}

/// Where the field's states lie, and how many planes there are from the newest one that is written
/// to the oldest one that is read.
void planRing(const TimeProgram& program, const OverlappedOptions& options, std::size_t field,
              StreamPlan& plan) {
  StreamPlan::Ring& ring = plan.rings[field];
  for (std::size_t k = 0; k < program.stages.size(); ++k) {
    plan.seen[k][field] = plan.made[k][field] = ring.perStep;
    if (!writes(program.stages[k], field)) continue;
    const StreamPlan::Back further = distanceOf(program.stages[k], field, options);
    ring.perStep.planes += further.planes;
    ring.perStep.cells += further.cells;
    plan.made[k][field] = ring.perStep;
    ring.lastWriter = static_cast<int>(k);
  }
  ring.hasOneBeyond = hasOneBeyond(program, field);
  const std::int64_t further = plan.depth - 1;
  // Loaded planes are the newest; of others the first ones that a step writes.
  bool isFirst = true;
  std::int64_t newest = 0;
  std::int64_t oldest = 0;
  for (std::size_t k = 0; k < program.stages.size(); ++k) {
    const TimeStage& stage = program.stages[k];
    const TimeRead* read = readOf(stage, field);
    if (read == nullptr && !writes(stage, field)) continue;
    if (isFirst && !program.fields[field].isLoaded())
      newest = plan.lag[k] + plan.seen[k][field].planes;
    isFirst = false;
    const std::int64_t last = plan.lag[k] + further * (plan.lagPerStep + ring.perStep.planes);
    if (!plan.isLastStraight) oldest = std::max(oldest, last + plan.made[k][field].planes);
    if (read != nullptr)
      oldest = std::max(oldest, last + plan.seen[k][field].planes - reachOf(*read)[0].lo);
  }
  ring.slots = oldest - newest + 1;
  plan.isShifted = plan.isShifted || ring.perStep.cells > 0;
}

/// Cells that rows lie apart so that none that is written `shift` cells before its place meets what
/// the row before, which is computed at the same time, still reads.
std::int64_t rowLength(const OverlappedPlan& planes, std::int64_t shift, const TimeProgram& program,
                       const OverlappedOptions& options) {
  const std::size_t x = static_cast<std::size_t>(program.dims) - 1;
  const Growth& first = planes.halo.first;
  const Growth& further = planes.halo.perStep;
  const std::int64_t cells = first.before[x] + options.tile[x] + first.after[x] +
                             (options.depth - 1) * (further.before[x] + further.after[x]);
  const std::int64_t wanted = (cells + shift + options.lanes - 1) / options.lanes;
  return std::max(planes.extent[x], wanted * options.lanes);
}

/// The code for it comes on top of that of the other steps: too much for several functions.
bool mayGoStraight(const TimeProgram& program, const OverlappedOptions& options) {
  if (program.stages.size() > 1 || options.local != std::array<int, 3>{1, 1, 1}) return false;
  const TimeStage& stage = program.stages.front();
  return std::all_of(stage.writes.begin(), stage.writes.end(), [&](int written) {
    const auto field = static_cast<std::size_t>(written);
    const StreamPlan::Back distance = distanceOf(stage, field, options);
    return program.fields[field].lifetime == Lifetime::Steps && distance.planes > 0 &&
           distance.cells == 0;
  });
}

}  // namespace

StreamPlan planStream(const TimeProgram& program, const OverlappedOptions& options) {
  StreamPlan plan;
  plan.planes = planOverlapped(program, options);
  plan.depth = options.depth;
  plan.isLastStraight = mayGoStraight(program, options);
  const std::size_t count = program.stages.size();
  std::vector<std::int64_t> least(count);
  const std::vector<Wait> waits = waitsOf(program, least);
  // Functions wait for those before them in the step, and for the step before: some lag will do.
  for (plan.lag = least; !findLags(waits, plan.lagPerStep, plan.lag); ++plan.lagPerStep)
    plan.lag = least;
  plan.rings.resize(program.fields.size());
  plan.seen.assign(count, std::vector<StreamPlan::Back>(program.fields.size()));
  plan.made = plan.seen;
  for (std::size_t f = 0; f < plan.rings.size(); ++f)
    if (!plan.planes.fields[f].isGlobal) planRing(program, options, f, plan);
  if (plan.isShifted)
    plan.planes.extent[static_cast<std::size_t>(program.dims) - 1] =
        rowLength(plan.planes, options.lanes, program, options);
  for (std::size_t d = 1; d < static_cast<std::size_t>(program.dims); ++d)
    plan.planeCells *= plan.planes.extent[d];
  // The newest plane and the oldest one are neighbours, too: that has been shifted towards it.
  for (std::size_t f = 0; f < plan.rings.size(); ++f)
    plan.rings[f].slots += (plan.moreCells(f) + plan.planeCells - 1) / plan.planeCells;
  return plan;
}

}  // namespace hpl::strategies::detail
