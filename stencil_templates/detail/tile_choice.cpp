// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/tile_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hpl/strategies/stream.h"

namespace hpl::stencils {
namespace {

using strategies::Growth;

/// Steps per pass that are looked at.
constexpr int kDepths[] = {2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 32};
/// What a kind of device costs, in cycles of one unit; bytes are those that memory moves per cycle
/// of a unit when all units ask for them.
struct DeviceCost {
  double perOperation;
  double perRead;
  double perWrite;
  double bytesPerCycle;
  /// Bytes that storing an element moves for each of its own: caches load what is overwritten.
  double perStoredByte;
  /// To begin a row of vectors, or to wait for the other work-items of a group.
  double perRow;
  double perStep;
  /// The part of local memory that boxes may take, so that the rest of what is at work has a place.
  double usable;
  /// What must be won for tiling to be chosen.
  double worthwhile;
  /// One group computes while memory serves another one.
  bool overlaps;
};
/// One work-item per tile: a vector's operations, loads and stores in the second-level cache,
/// measured on an x86 CPU with 512-bit vectors.
constexpr DeviceCost kAlone{0.4, 0.4, 1.2, 11.5, 2, 12, 0, 0.75, 0.93, false};
/// A group per tile: 128 operations and 32 accesses of local memory per cycle, as GPUs' data sheets
/// have it; not measured.
constexpr DeviceCost kGroup{1.0 / 128, 1.0 / 32, 1.0 / 32, 15, 1, 0, 100, 0.5, 0.75, true};

/// Streams of planes share most loads, but wait for the planes of each result; those of rows
/// compute each row alone and share none.
constexpr DeviceCost kPlanes{0.1, 0.2, 3.2, 11.5, 2, 12, 0, 0.75, 0.93, false};
constexpr DeviceCost kRows{0.4, 1.1, 1.2, 11.5, 2, 12, 0, 0.75, 0.93, false};

const DeviceCost& costOf(const TileProblem& problem, TimeForm form = TimeForm::Boxes) {
  if (!problem.isAlone) return kGroup;
  if (form != TimeForm::Stream) return kAlone;
  return problem.program->dims == 3 ? kPlanes : kRows;
}

std::size_t dimsOf(const TileProblem& problem) {
  return static_cast<std::size_t>(problem.program->dims);
}

bool isWritten(const TileProblem& problem, std::size_t field) {
  return problem.program->fields[field].next >= 0;
}

/// Bytes that a pass moves for each cell.
double bytesPerCell(const TileProblem& problem) {
  double bytes = 0;
  for (std::size_t f = 0; f < problem.bytes.size(); ++f)
    bytes += static_cast<double>(problem.bytes[f]) *
             (isWritten(problem, f) ? 1 + costOf(problem).perStoredByte : 1);
  return bytes;
}

/// Elements that an operation, a load or a store is for.
double widthOf(const TileProblem& problem) {
  std::size_t widest = 4;
  for (const std::size_t bytes : problem.bytes) widest = std::max(widest, bytes);
  return problem.isAlone ? std::max(1.0, problem.lanes * 4.0 / static_cast<double>(widest)) : 1.0;
}

double arithmeticCycles(const TileProblem& problem, TimeForm form) {
  const PointCost& cost = problem.cost;
  const DeviceCost& device = costOf(problem, form);
  return (device.perOperation * cost.operations + device.perRead * cost.reads +
          device.perWrite * cost.writes) /
         widthOf(problem);
}

strategies::OverlappedOptions optionsFor(const TileProblem& problem, const TileEstimate& estimate) {
  strategies::OverlappedOptions options;
  options.depth = estimate.tile.depth;
  options.tile = estimate.tile.cells;
  options.local = estimate.local;
  options.lanes = problem.isAlone ? problem.lanes : 1;
  return options;
}

std::int64_t roundedUp(std::int64_t value, std::int64_t to) { return (value + to - 1) / to * to; }

/// Sizes of tiles along a dimension: few, so that all combinations can be looked at.
std::vector<std::int64_t> sizesFor(const TileProblem& problem, TimeForm form, std::size_t d) {
  const std::size_t dims = dimsOf(problem);
  const bool isFastest = d + 1 == dims;
  std::vector<std::int64_t> sizes;
  if (form == TimeForm::Stream && d == 0) {
    for (const std::int64_t bands : {16, 8, 4, 2, 1})
      sizes.push_back((problem.extents[0] + bands - 1) / bands);
    return sizes;
  }
  if (form == TimeForm::Stream && dims == 2) {
    sizes = {256, 512, 1024, 2048, 4096};
  } else if (!problem.isAlone) {
    sizes = dims == 1   ? std::vector<std::int64_t>{128, 256, 512, 1024}
            : isFastest ? std::vector<std::int64_t>{32, 64}
                        : std::vector<std::int64_t>{4, 8, 16, 32, 64};
  } else if (dims == 1) {
    sizes = {1024, 2048, 4096, 8192, 16384, 32768};
  } else if (dims == 2) {
    sizes = isFastest ? std::vector<std::int64_t>{128, 256, 512, 1024}
                      : std::vector<std::int64_t>{16, 32, 64, 128, 192, 256, 384};
  } else {
    sizes = isFastest ? std::vector<std::int64_t>{64, 128, 256, 512}
                      : std::vector<std::int64_t>{8, 12, 16, 24, 32, 48, 64};
  }
  const std::int64_t extent = problem.extents[d];
  std::vector<std::int64_t> fitting;
  for (const std::int64_t size : sizes)
    if (size < extent) fitting.push_back(size);
  // Equal parts of the grid keep all units busy to the end.
  for (const std::int64_t parts : {1, 2, 3, 4, 6, 8}) {
    const std::int64_t multiple = isFastest ? problem.isAlone ? problem.lanes : 32 : 1;
    const std::int64_t size = roundedUp((extent + parts - 1) / parts, multiple);
    if (size >= sizes.front() && size <= 2 * sizes.back()) fitting.push_back(size);
  }
  if (fitting.empty()) fitting.push_back(extent);
  return fitting;
}

std::array<int, 3> groupFor(const TileProblem& problem, const TimeTile& tile) {
  std::array<int, 3> local{1, 1, 1};
  if (problem.isAlone) return local;
  const std::size_t dims = dimsOf(problem);
  std::size_t items = std::min<std::size_t>(256, std::max<std::size_t>(1, problem.maxGroupSize));
  for (std::size_t d = dims; d-- > 0;) {
    const std::size_t wanted = d + 1 == dims && dims > 1 ? 32 : items;
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
  const auto bytes =
      estimate.tile.form == TimeForm::Stream ? &strategies::ringBytes : &strategies::boxBytes;
  return bytes(*problem.program, problem.bytes, optionsFor(problem, estimate));
}

/// As good, what needs less memory is better.
bool isBetter(const TileEstimate& a, const TileEstimate& b) {
  return a.cycles < b.cycles || (a.cycles == b.cycles && a.boxBytes < b.boxBytes);
}

std::size_t limitOf(const TileProblem& problem) {
  if (problem.localMemory == 0) return SIZE_MAX;
  return static_cast<std::size_t>(costOf(problem).usable *
                                  static_cast<double>(problem.localMemory));
}

bool mayStream(const TileProblem& problem) {
  return problem.isAlone && strategies::isStreamable(*problem.program);
}

}  // namespace

TileEstimate estimateOf(const TileProblem& problem, const TimeTile& tile) {
  if (tile.form == TimeForm::Any) {
    const TileEstimate boxes = estimateOf(problem, {tile.depth, tile.cells, TimeForm::Boxes});
    if (!mayStream(problem)) return boxes;
    const TileEstimate stream = estimateOf(problem, {tile.depth, tile.cells, TimeForm::Stream});
    return boxes.boxBytes > limitOf(problem) || isBetter(stream, boxes) ? stream : boxes;
  }
  TileEstimate estimate{tile, groupFor(problem, tile), 0, 1, 0};
  estimate.boxBytes = boxBytes(problem, estimate);
  const std::size_t dims = dimsOf(problem);
  const Growth one = strategies::haloOf(*problem.program, 1);
  const Growth all = strategies::haloOf(*problem.program, tile.depth);
  // The mean of what the steps compute, what is loaded, and the tiles that units wait for.
  double computed = 1;
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
    const auto last = static_cast<double>(one.before[d] + one.after[d]);
    if (!isWhole) computed *= 1 + (grown - last) / 2 / cells;
    if (!isWhole) loaded *= 1 + grown / cells;
    tiles *= std::ceil(static_cast<double>(problem.extents[d]) / cells);
  }
  estimate.redundancy = computed;
  const double units = std::max(1u, problem.units);
  const double idle = std::ceil(tiles / units) * units * largest / whole;
  const DeviceCost& device = costOf(problem, tile.form);
  const auto row = static_cast<double>(tile.cells[dims - 1]);
  const double depth = tile.depth;
  const double copy = device.perRead + device.perWrite;
  double copied = 0;
  for (std::size_t f = 0; f < problem.bytes.size(); ++f)
    copied += (isWritten(problem, f) ? copy : 0) + loaded * copy;
  copied /= widthOf(problem);
  const double compute =
      arithmeticCycles(problem, tile.form) + device.perRow / row + device.perStep / largest;
  const double memory = bytesPerCell(problem) * loaded / device.bytesPerCycle;
  const double work = computed * compute + copied / depth;
  estimate.cycles =
      idle * (device.overlaps ? std::max(work, memory / depth) : work + memory / depth);
  return estimate;
}

double cyclesUntiled(const TileProblem& problem) {
  return std::max(arithmeticCycles(problem, TimeForm::Boxes),
                  bytesPerCell(problem) / costOf(problem).bytesPerCycle);
}

TileEstimate bestTile(const TileProblem& problem, int depth, TimeForm form) {
  if (form == TimeForm::Any) {
    const TileEstimate boxes = bestTile(problem, depth, TimeForm::Boxes);
    if (!mayStream(problem)) return boxes;
    const TileEstimate stream = bestTile(problem, depth, TimeForm::Stream);
    if (stream.cycles == 0) return boxes;
    return boxes.cycles == 0 || isBetter(stream, boxes) ? stream : boxes;
  }
  TileEstimate best;
  best.tile.depth = depth;
  const std::vector<std::int64_t> none{1};
  const std::size_t dims = dimsOf(problem);
  for (const std::int64_t a : sizesFor(problem, form, 0)) {
    for (const std::int64_t b : dims > 1 ? sizesFor(problem, form, 1) : none) {
      for (const std::int64_t c : dims > 2 ? sizesFor(problem, form, 2) : none) {
        const TileEstimate estimate = estimateOf(problem, {depth, {a, b, c}, form});
        if (estimate.boxBytes > limitOf(problem)) continue;
        if (best.cycles == 0 || estimate.cycles < best.cycles) best = estimate;
      }
    }
  }
  return best;
}

TileEstimate bestDepth(const TileProblem& problem, std::int64_t steps, std::string& why) {
  const double plain = cyclesUntiled(problem);
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
  std::string cells;
  for (std::size_t d = 0; d < dimsOf(problem); ++d)
    cells += fmt::format("{}{}", d > 0 ? " x " : "", best.tile.cells[d]);
  why = fmt::format(
      "{} steps per pass in {} of {} would take about {:.2f} cycles per cell and step, {:.0f} % "
      "of the work done twice, {} KiB of local memory; one by one takes {:.2f}",
      best.tile.depth, best.tile.form == TimeForm::Stream ? "streams" : "tiles", cells, best.cycles,
      100 * (best.redundancy - 1), best.boxBytes / 1024, plain);
  if (best.cycles > costOf(problem).worthwhile * plain) return {};
  return best;
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
