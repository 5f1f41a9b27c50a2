// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/tile_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hpl/strategies/registers.h"
#include "stencil_templates/detail/stream_cost.h"
#include "stencil_templates/detail/time_forms.h"

namespace hpl::stencils {
namespace {

using strategies::Growth;

/// Steps per pass that are looked at.
constexpr int kDepths[] = {2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 32, 48};

bool isWritten(const TileProblem& problem, std::size_t field) {
  return problem.program->fields[field].next >= 0;
}

/// Bytes that memory moves for each cell of a field, if it is loaded and if it is stored.
double bytesOf(const TileProblem& problem, std::size_t field, bool isLoaded, bool isStored) {
  return static_cast<double>(problem.bytes[field]) *
         ((isLoaded ? 1 : 0) + (isStored ? costOf(problem).perStoredByte : 0));
}

bool isStored(const TileProblem& problem, std::size_t field) {
  return isWritten(problem, field) &&
         problem.program->fields[field].lifetime != strategies::Lifetime::Temporary;
}

/// Bytes that a pass moves for each cell.
double bytesPerCell(const TileProblem& problem) {
  double bytes = 0;
  for (std::size_t f = 0; f < problem.bytes.size(); ++f)
    bytes += bytesOf(problem, f, problem.program->fields[f].isLoaded(), isStored(problem, f));
  return bytes;
}

/// Elements that an operation, a load or a store is for.
double widthOf(const TileProblem& problem) {
  std::size_t widest = 4;
  for (const std::size_t bytes : problem.bytes) widest = std::max(widest, bytes);
  return problem.isAlone ? std::max(1.0, problem.lanes * 4.0 / static_cast<double>(widest)) : 1.0;
}

/// Bytes of a unit, in one of the form's cycles.
double bytesPerCycle(const TileProblem& problem, TimeForm form = TimeForm::Boxes) {
  return costOf(problem, form).bytesPerCycle * problem.memorySpeed;
}

double arithmeticCycles(const TileProblem& problem, TimeForm form, const PointCost& cost) {
  const DeviceCost& device = costOf(problem, form);
  return (device.perOperation * cost.operations + device.perRead * cost.reads +
          device.perWrite * cost.writes) /
         widthOf(problem);
}

/// The time of a unit for arithmetic and memory side by side: hardly more than for the longer of
/// them, unless they take about the same and each waits for the other at times.
double together(double arithmetic, double memory) {
  return std::cbrt(arithmetic * arithmetic * arithmetic + memory * memory * memory);
}

PointCost costOfStage(const TileProblem& problem, std::size_t k) {
  if (!problem.costs.empty()) return problem.costs[k];
  PointCost part = problem.cost;
  const auto stages = static_cast<double>(problem.program->stages.size());
  part.operations /= stages;
  part.reads /= stages;
  part.writes /= stages;
  return part;
}

strategies::OverlappedOptions optionsFor(const TileProblem& problem, const TileEstimate& estimate) {
  strategies::OverlappedOptions options;
  options.depth = estimate.tile.depth;
  options.tile = estimate.tile.cells;
  options.local = estimate.local;
  options.lanes = problem.isAlone ? problem.lanes : 1;
  return options;
}

/// A work-item for each cell of a row of the box, and enough rows of them that each keeps about 16
/// cells.
std::array<int, 3> groupInRegisters(const TileProblem& problem, const TimeTile& tile) {
  constexpr std::int64_t kWarp = 32, kColumn = 16;
  const Growth around = strategies::haloOf(*problem.program, tile.depth);
  const auto most = static_cast<std::int64_t>(std::max<std::size_t>(1, problem.maxGroupSize));
  const auto box = [&](std::size_t d) {
    return std::min(tile.cells[d], problem.extents[d]) + around.before[d] + around.after[d];
  };
  const std::int64_t width = std::min(most, roundedUp(box(1), kWarp));
  const std::int64_t height = std::clamp<std::int64_t>((box(0) + kColumn - 1) / kColumn, 1,
                                                       std::max<std::int64_t>(1, most / width));
  return {static_cast<int>(height), static_cast<int>(width), 1};
}

std::array<int, 3> groupFor(const TileProblem& problem, const TimeTile& tile) {
  std::array<int, 3> local{1, 1, 1};
  if (problem.isAlone) return local;
  if (rowOf(tile.form).inRegisters) return groupInRegisters(problem, tile);
  const std::size_t dims = dimsOf(problem);
  const std::size_t first = rowOf(tile.form).sharedFrom;
  std::size_t items = std::min<std::size_t>(256, std::max<std::size_t>(1, problem.maxGroupSize));
  for (std::size_t d = dims; d-- > first;) {
    const std::size_t wanted = d + 1 == dims && dims > first + 1 ? 32 : items;
    std::size_t own = 1;
    while (own * 2 <=
           std::min<std::size_t>({wanted, items, static_cast<std::size_t>(tile.cells[d])}))
      own *= 2;
    local[d] = static_cast<int>(own);
    items /= own;
  }
  return local;
}

std::size_t boxBytes(const TileProblem& problem, const TileEstimate& estimate) {
  return rowOf(estimate.tile.form)
      .bytes(*problem.program, problem.bytes, optionsFor(problem, estimate));
}

/// As good, what needs less memory is better.
bool isBetter(const TileEstimate& a, const TileEstimate& b) {
  return a.cycles < b.cycles || (a.cycles == b.cycles && a.boxBytes < b.boxBytes);
}

std::size_t limitOf(const TileProblem& problem, TimeForm form) {
  if (problem.localMemory == 0) return SIZE_MAX;
  return static_cast<std::size_t>(rowOf(form).usable(problem) *
                                  static_cast<double>(problem.localMemory));
}

/// Cycles per cell and step that the functions take in tiles; the same if no work-item were idle;
/// and if nothing were computed twice either.
struct Work {
  double cycles = 0;
  double computed = 0;
  double needed = 0;
};
/// Loads for each cell of a column of `height`, of a function that reads one field: columns of what
/// it reads are loaded once. Only those of a whole box are all as high as the reach says; of other
/// shapes one is, at least.
double readsInColumns(const strategies::TimeStage& stage, double reads, std::size_t dims,
                      double height) {
  if (stage.reads.size() != 1) return reads;
  const auto spanOf = [&](std::size_t d) {
    const ir::Interval& offsets = stage.reads.front().offsets[d];
    return static_cast<double>(offsets.hi - offsets.lo + 1);
  };
  double beside = 1;
  for (std::size_t d = 1; d < dims; ++d) beside *= spanOf(d);
  const double high = spanOf(0);
  const double columns = reads >= high * beside ? beside : 1;
  return std::max(0.0, reads - columns * high) + columns * (high + height - 1) / height;
}

/// Cells of the box that a group goes through, for each cell of the tile.
double wholeBox(const TileProblem& problem, const TileEstimate& estimate) {
  double cells = static_cast<double>(
      strategies::registerRows(*problem.program, optionsFor(problem, estimate)));
  for (std::size_t d = 0; d < dimsOf(problem); ++d)
    cells *= static_cast<double>(estimate.local[d]) /
             static_cast<double>(std::min(estimate.tile.cells[d], problem.extents[d]));
  return cells;
}

/// How many times as many cells as a tile has a group goes through in the steps of a pass: those
/// around the tile, and work-items that have none, as it goes in strides of its own size.
double stridesOf(const TileProblem& problem, const TileEstimate& estimate,
                 const strategies::LinearGrowth& box, bool isOfLastStep) {
  const TimeTile& tile = estimate.tile;
  const bool inColumns =
      strategies::areInColumns(optionsFor(problem, estimate), problem.program->dims);
  const int steps = isOfLastStep ? 1 : tile.depth;
  double all = 0;
  for (int further = 0; further < steps; ++further) {
    double cells = 1;
    for (std::size_t d = 0; d < dimsOf(problem); ++d) {
      std::int64_t own = std::min(tile.cells[d], problem.extents[d]);
      if (own < problem.extents[d])
        own += box.first.before[d] + box.first.after[d] +
               further * (box.perStep.before[d] + box.perStep.after[d]);
      const std::int64_t stride =
          std::int64_t{estimate.local[d]} * (inColumns && d == 0 ? strategies::kColumnOfGroup : 1);
      const std::int64_t turns = (own + stride - 1) / stride;
      cells *= static_cast<double>(turns * stride) /
               static_cast<double>(std::min(tile.cells[d], problem.extents[d]));
    }
    all += cells;
  }
  return all / steps;
}

/// The cost for groups of finding where cells lie in their boxes, besides their work on these:
/// passes of 3 steps over planes of 5, 5 and 5 points took 2.0 to 2.4 times as long as they would
/// without on an NVIDIA H200 (perf/RESULTS.md).
constexpr double kPlaceInBox = 2.2;

Work workOf(const TileProblem& problem, const TileEstimate& estimate,
            const std::vector<bool>& hasBox) {
  const TimeTile& tile = estimate.tile;
  const DeviceCost& device = costOf(problem, tile.form);
  const TimeFormRow& form = rowOf(tile.form);
  const std::vector<strategies::LinearGrowth> boxes =
      strategies::growthOf(*problem.program, tile.depth);
  const std::vector<bool> isOfLastStep = strategies::stagesOfLastStep(*problem.program);
  const std::size_t dims = dimsOf(problem);
  // The cost of a row is that of all functions together.
  const double perCell =
      device.perRow / static_cast<double>(tile.cells[dims - 1]) / static_cast<double>(boxes.size());
  const bool inColumns =
      form.sharedFrom == 0 &&
      strategies::areInColumns(optionsFor(problem, estimate), problem.program->dims);
  Work work;
  for (std::size_t k = 0; k < boxes.size(); ++k) {
    // The mean of all steps.
    const double further = isOfLastStep[k] ? 0 : (tile.depth - 1) / 2.0;
    const double steps = isOfLastStep[k] ? 1.0 / tile.depth : 1.0;
    double part = 1;
    double twice = 1;
    for (std::size_t d = 0; d < dims; ++d) {
      const strategies::TimeStage& stage = problem.program->stages[k];
      const auto whole = static_cast<double>(problem.extents[d]);
      part *= std::max(0.0, whole - static_cast<double>(stage.low[d] + stage.high[d])) / whole;
      if (tile.cells[d] >= problem.extents[d]) continue;
      const double first = form.cut(
          problem, d, static_cast<double>(boxes[k].first.before[d] + boxes[k].first.after[d]));
      const auto more = static_cast<double>(boxes[k].perStep.before[d] + boxes[k].perStep.after[d]);
      twice *= 1 + (first + further * more) / static_cast<double>(tile.cells[d]);
    }
    PointCost cost = costOfStage(problem, k);
    if (form.inRegisters) {
      // Cells that it has itself it need not load.
      const auto height = static_cast<double>(
          strategies::registerRows(*problem.program, optionsFor(problem, estimate)));
      cost.reads =
          std::max(0.0, readsInColumns(problem.program->stages[k], cost.reads, dims, height) - 1);
    } else if (inColumns) {
      cost.reads =
          readsInColumns(problem.program->stages[k], cost.reads, dims, strategies::kColumnOfGroup);
    }
    const double own = arithmeticCycles(problem, tile.form, cost) + perCell +
                       form.rows(problem, tile, k, cost, hasBox);
    const double cycles = steps * part * own;
    work.needed += cycles;
    work.computed += twice * cycles;
    // A stream's groups share single planes.
    const bool inStrides = !problem.isAlone && form.sharedFrom == 0;
    const double goneThrough =
        form.inRegisters ? wholeBox(problem, estimate)
        : inStrides      ? kPlaceInBox * stridesOf(problem, estimate, boxes[k], isOfLastStep[k])
                         : twice;
    work.cycles += cycles * goneThrough;
  }
  return work;
}

}  // namespace

std::size_t dimsOf(const TileProblem& problem) {
  return static_cast<std::size_t>(problem.program->dims);
}

TileEstimate estimateOf(const TileProblem& problem, const TimeTile& tile) {
  if (tile.form == TimeForm::Any) {
    TileEstimate best = estimateOf(problem, {tile.depth, tile.cells, TimeForm::Boxes});
    for (const TimeFormRow& row : timeForms()) {
      if (!row.isRival(problem, tile.depth)) continue;
      const TileEstimate other = estimateOf(problem, {tile.depth, tile.cells, row.form});
      const auto fits = [&](const TileEstimate& estimate) {
        return estimate.boxBytes <= limitOf(problem, estimate.tile.form);
      };
      if (!fits(best) || (fits(other) && row.isModelled(problem) && isBetter(other, best)))
        best = other;
    }
    return best;
  }
  const TimeFormRow& form = rowOf(tile.form);
  TileEstimate estimate{tile, groupFor(problem, tile), 0, 1, 0};
  estimate.boxBytes = boxBytes(problem, estimate);
  const std::size_t dims = dimsOf(problem);
  const Growth all = strategies::haloOf(*problem.program, tile.depth);
  const std::vector<bool> boxes =
      strategies::hasBoxes(*problem.program, optionsFor(problem, estimate));
  const Work done = workOf(problem, estimate, boxes);
  // The load traffic, and the tiles that units wait for.
  double loaded = 1;
  double tiles = 1;
  double largest = 1;
  double whole = 1;
  for (std::size_t d = 0; d < dims; ++d) {
    const auto cells = static_cast<double>(std::min(tile.cells[d], problem.extents[d]));
    largest *= cells;
    whole *= static_cast<double>(problem.extents[d]);
    const bool isWhole = tile.cells[d] >= problem.extents[d];
    const auto grown = static_cast<double>(all.before[d] + all.after[d]);
    if (!isWhole) loaded *= 1 + grown / cells;
    tiles *= std::ceil(static_cast<double>(problem.extents[d]) / cells);
  }
  estimate.redundancy = done.needed > 0 ? done.computed / done.needed : 1;
  const double units = std::max(1u, problem.units);
  const double idle =
      std::ceil(tiles / units) * units * largest / whole * form.unevenness(units * largest / whole);
  const DeviceCost& device = costOf(problem, tile.form);
  const double depth = tile.depth;
  const double copy = device.perRead + device.perWrite;
  double copied = 0;
  for (std::size_t f = 0; f < problem.bytes.size(); ++f) {
    if (!boxes[f]) continue;
    copied += (isStored(problem, f) && !form.storesStraight(problem) ? copy : 0);
    copied += (problem.program->fields[f].isLoaded() ? loaded * copy : 0);
  }
  copied /= widthOf(problem);
  const double memory = bytesPerCell(problem) * loaded / bytesPerCycle(problem, tile.form);
  // Between two functions all work-items of a group wait for each other: once for each plane.
  const std::int64_t planes = std::min(tile.cells[0], problem.extents[0]);
  const double shared = form.sharedFrom > 0 ? largest / static_cast<double>(planes) : largest;
  const double work = done.cycles + estimate.redundancy * device.perStep / shared + copied / depth;
  // Groups with columns in registers load and store in a few moments, in which others do as well:
  // this share of it is not hidden behind computation, as measured with 5-point stencils on an
  // NVIDIA H200.
  constexpr double kApart = 0.6;
  const double perStep = memory / depth;
  estimate.cycles = idle * (form.inRegisters  ? std::max(work + kApart * perStep, perStep)
                            : device.overlaps ? std::max(work, perStep)
                                              : work + perStep);
  return estimate;
}

std::span<const int> depthsLookedAt() { return kDepths; }

std::vector<TileEstimate> tilesLookedAt(const TileProblem& problem, int depth, TimeForm form) {
  const std::vector<std::int64_t> none{1};
  const std::size_t dims = dimsOf(problem);
  const std::size_t limit = problem.localMemory > 0 ? problem.localMemory : SIZE_MAX;
  std::vector<TileEstimate> tiles;
  const TimeFormRow& row = rowOf(form);
  if (!row.whyNot(problem, depth).empty()) return tiles;
  for (const std::int64_t a : row.sizes(problem, 0))
    for (const std::int64_t b : dims > 1 ? row.sizes(problem, 1) : none)
      for (const std::int64_t c : dims > 2 ? row.sizes(problem, 2) : none)
        if (const TileEstimate estimate = estimateOf(problem, {depth, {a, b, c}, form});
            estimate.boxBytes <= limit)
          tiles.push_back(estimate);
  return tiles;
}

double cyclesUntiled(const TileProblem& problem) {
  // A step by itself goes through planes like a stream.
  if (dimsOf(problem) < 3 || !isStreamRival(problem, 1) || !storesStraight(problem))
    return together(arithmeticCycles(problem, TimeForm::Boxes, problem.cost),
                    cyclesOfMemory(problem));
  const Growth reach = strategies::haloOf(*problem.program, 1);
  const auto planes = static_cast<double>(reach.before[0] + reach.after[0]);
  const double far = kPerFarPlane * std::max(0.0, planes - 2);
  return std::max(arithmeticCycles(problem, TimeForm::Stream, problem.cost),
                  cyclesOfMemory(problem) + far);
}

double cyclesOfMemory(const TileProblem& problem) {
  return bytesPerCell(problem) / bytesPerCycle(problem);
}

double cyclesOfCell(const TileProblem& problem) {
  return arithmeticCycles(problem, TimeForm::Boxes, problem.cost);
}

double cyclesUnfused(const TileProblem& problem) {
  double cycles = 0;
  for (std::size_t k = 0; k < problem.program->stages.size(); ++k) {
    const strategies::TimeStage& stage = problem.program->stages[k];
    double part = 1;
    for (std::size_t d = 0; d < dimsOf(problem); ++d) {
      const auto whole = static_cast<double>(problem.extents[d]);
      part *= std::max(0.0, whole - static_cast<double>(stage.low[d] + stage.high[d])) / whole;
    }
    double bytes = 0;
    for (std::size_t f = 0; f < problem.bytes.size(); ++f) {
      const auto field = static_cast<int>(f);
      const bool isRead =
          std::any_of(stage.reads.begin(), stage.reads.end(),
                      [field](const strategies::TimeRead& read) { return read.field == field; });
      const bool isWritten =
          std::find(stage.writes.begin(), stage.writes.end(), field) != stage.writes.end();
      bytes += bytesOf(problem, f, isRead, isWritten);
    }
    const double work = arithmeticCycles(problem, TimeForm::Boxes, costOfStage(problem, k));
    const double memory = bytes / bytesPerCycle(problem);
    cycles += part * (costOf(problem).overlaps ? std::max(work, memory) : work + memory);
  }
  return cycles;
}

std::string describe(const TileProblem& problem, const TileEstimate& estimate) {
  std::string cells;
  for (std::size_t d = 0; d < dimsOf(problem); ++d)
    cells += fmt::format("{}{}", d > 0 ? " x " : "", estimate.tile.cells[d]);
  return fmt::format(
      "{} of {} would take about {:.2f} cycles per cell and step, {:.0f} % of the work done twice, "
      "{} KiB of local memory",
      rowOf(estimate.tile.form).tiles, cells, estimate.cycles, 100 * (estimate.redundancy - 1),
      estimate.boxBytes / 1024);
}

bool isWorthwhile(const TileProblem& problem, const TileEstimate& estimate, double otherwise) {
  // The model of columns in registers is closer than that of boxes.
  const double most = rowOf(estimate.tile.form).inRegisters ? 0.85 : costOf(problem).worthwhile;
  return estimate.cycles > 0 && estimate.cycles <= most * otherwise;
}

TileEstimate bestTile(const TileProblem& problem, int depth, TimeForm form) {
  if (form == TimeForm::Any) {
    TileEstimate best = bestTile(problem, depth, TimeForm::Boxes);
    for (const TimeFormRow& row : timeForms()) {
      if (!row.isRival(problem, depth) || !row.isModelled(problem)) continue;
      const TileEstimate found = bestTile(problem, depth, row.form);
      if (found.cycles > 0 && (best.cycles == 0 || isBetter(found, best))) best = found;
    }
    return best;
  }
  TileEstimate best;
  best.tile.depth = depth;
  for (const TileEstimate& estimate : tilesLookedAt(problem, depth, form))
    if (estimate.boxBytes <= limitOf(problem, form) &&
        (best.cycles == 0 || estimate.cycles < best.cycles))
      best = estimate;
  return best;
}

TileEstimate bestDepth(const TileProblem& problem, std::int64_t steps, std::string& why) {
  // Functions that are not joined are kernels of their own.
  const double plain =
      problem.program->stages.size() == 1 ? cyclesUntiled(problem) : cyclesUnfused(problem);
  TileEstimate best;
  for (const int depth : kDepths) {
    if (depth > steps) break;
    const TileEstimate estimate = bestTile(problem, depth);
    if (estimate.cycles > 0 && (best.cycles == 0 || estimate.cycles < best.cycles)) best = estimate;
  }
  if (best.cycles == 0) {
    why = "no boxes of two steps fit into local memory";
    return {};
  }
  why = fmt::format("{} steps per pass in {}; one by one takes {:.2f}", best.tile.depth,
                    describe(problem, best), plain);
  if (!isWorthwhile(problem, best, plain)) return {};
  return best;
}

std::string describe(const TileProblem& problem, const TimeTile& tile) {
  if (tile.depth == 1) return "one step after another";
  std::string cells;
  for (std::size_t d = 0; d < dimsOf(problem); ++d)
    cells += fmt::format("{}{}", d > 0 ? " x " : "", tile.cells[d]);
  return fmt::format("{} steps per pass in {} of {}", tile.depth, rowOf(tile.form).tiles, cells);
}

std::string misfit(const TileProblem& problem, const TimeTile& tile) {
  constexpr int kDeepest = 4096;
  constexpr std::int64_t kLongest = std::int64_t{1} << 30;
  constexpr double kMost = 1LL << 40;
  const TimeFormRow& row = rowOf(tile.form);
  if (tile.depth == 1) return "";
  if (tile.depth < 1 || tile.depth > kDeepest)
    return fmt::format("a pass cannot have {} steps", tile.depth);
  // Few enough for the bytes of their boxes to be a number.
  double cells = 1;
  for (std::size_t d = 0; d < 3; ++d) {
    if (tile.cells[d] < 1 || tile.cells[d] > kLongest)
      return fmt::format("tiles cannot have {} cells along a dimension", tile.cells[d]);
    if (d >= row.sharedFrom) cells *= static_cast<double>(tile.cells[d]);
  }
  if (cells > kMost) return fmt::format("tiles cannot have {:.0f} cells", cells);
  if (const std::string why = row.whyNot(problem, tile.depth); !why.empty())
    return fmt::format("it cannot be a {}: {}", row.strategy, why);
  const std::size_t bytes = estimateOf(problem, tile).boxBytes;
  if (problem.localMemory > 0 && bytes > problem.localMemory)
    return fmt::format("{} would need {} bytes of local memory, and the device has {}",
                       describe(problem, tile), bytes, problem.localMemory);
  return "";
}

int largestDepth(const TileProblem& problem) {
  int largest = 0;
  // The boxes grow with the depth.
  for (int depth = 1; depth <= 4096; ++depth) {
    if (bestTile(problem, depth).cycles == 0) break;
    largest = depth;
  }
  return largest;
}

}  // namespace hpl::stencils
