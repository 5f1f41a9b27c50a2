// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/time_forms.h"

#include <algorithm>
#include <cstdint>

#include "hpl/strategies/chain.h"
#include "hpl/strategies/persistent.h"
#include "hpl/strategies/registers.h"
#include "hpl/strategies/stream.h"
#include "stencil_templates/detail/chain_cost.h"
#include "stencil_templates/detail/stream_cost.h"

namespace hpl::stencils {
namespace {

using strategies::Overlapped;
using strategies::OverlappedOptions;
using strategies::TimeProgram;
using Groups = std::array<std::int64_t, 3>;
using CandidateSizes = std::vector<std::int64_t>;

/// The strategies that do not look at the number of groups.
template <Overlapped (*write)(const ir::Kernel&, const ir::AccessSummary&, const TimeProgram&,
                              const OverlappedOptions&)>
Overlapped written(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                   const TimeProgram& program, const OverlappedOptions& options,
                   const Groups& /*groups*/) {
  return write(kernel, summary, program, options);
}

std::string nothing(const TileProblem& /*problem*/, int /*depth*/) { return ""; }
bool always(const TileProblem& /*problem*/) { return true; }
bool never(const TileProblem& /*problem*/) { return false; }
bool isNoRival(const TileProblem& /*problem*/, int /*depth*/) { return false; }
double asMuch(const TileProblem& /*problem*/, std::size_t /*d*/, double grown) { return grown; }
double noMore(const TileProblem& /*problem*/, const TimeTile& /*tile*/, std::size_t /*stage*/,
              const PointCost& /*cost*/, const std::vector<bool>& /*hasBox*/) {
  return 0;
}
double even(double /*lastPart*/) { return 1; }
double usableByBoxes(const TileProblem& problem) { return costOf(problem).usable; }
const DeviceCost& costOfBoxes(const TileProblem& /*problem*/) { return kAlone; }

/// Those of a list that are smaller than the grid, and equal parts of the grid, which keep all
/// units busy to the end.
CandidateSizes fitting(const TileProblem& problem, std::size_t d, const CandidateSizes& sizes) {
  const bool isFastest = d + 1 == dimsOf(problem);
  const std::int64_t extent = problem.extents[d];
  CandidateSizes found;
  for (const std::int64_t size : sizes)
    if (size < extent) found.push_back(size);
  for (const std::int64_t parts : {1, 2, 3, 4, 6, 8}) {
    const std::int64_t multiple = isFastest ? problem.isAlone ? problem.lanes : 32 : 1;
    const std::int64_t size = roundedUp((extent + parts - 1) / parts, multiple);
    if (size >= sizes.front() && size <= 2 * sizes.back()) found.push_back(size);
  }
  if (found.empty()) found.push_back(extent);
  return found;
}

CandidateSizes sizesOfBoxes(const TileProblem& problem, std::size_t d) {
  const std::size_t dims = dimsOf(problem);
  const bool isFastest = d + 1 == dims;
  if (!problem.isAlone)
    return fitting(problem, d,
                   dims == 1 ? CandidateSizes{128, 224, 240, 256, 480, 496, 512, 992, 1008, 1024}
                   : isFastest
                       ? CandidateSizes{32, 48, 52, 54, 56, 58, 60, 62, 64, 112, 120, 124}
                       : CandidateSizes{4, 8, 16, 24, 28, 32, 48, 52, 54, 56, 58, 60, 62, 64});
  if (dims == 1) return fitting(problem, d, {1024, 2048, 4096, 8192, 16384, 32768});
  if (dims == 2)
    return fitting(problem, d,
                   isFastest ? CandidateSizes{128, 256, 512, 1024}
                             : CandidateSizes{16, 32, 64, 128, 192, 256, 384});
  return fitting(
      problem, d,
      isFastest ? CandidateSizes{64, 128, 256, 512} : CandidateSizes{8, 12, 16, 24, 32, 48, 64});
}

/// Along the fastest dimension where a form goes through rows one after another.
CandidateSizes sizesOfRows(const TileProblem& problem, std::size_t d) {
  if (problem.program->dims != 2) return sizesOfBoxes(problem, d);
  return fitting(problem, d, {256, 512, 1024, 2048, 4096});
}

CandidateSizes sizesOfStreams(const TileProblem& problem, std::size_t d) {
  if (d == 0) return streamBands(problem);
  return problem.isAlone ? sizesOfRows(problem, d) : fitting(problem, d, groupPlanes(problem, d));
}

CandidateSizes sizesOfChains(const TileProblem& problem, std::size_t d) {
  return d == 0 ? chainBands(problem) : sizesOfRows(problem, d);
}

std::string whyNotInRegisters(const TileProblem& problem, int /*depth*/) {
  if (problem.isAlone) return "columns in registers are for groups of work-items";
  if (!problem.cost.isStraight)
    return "it cannot be computed for cells that there are not, as columns in registers need";
  return strategies::whyNotRegisters(*problem.program);
}

bool isRegisterRival(const TileProblem& problem, int depth) {
  return whyNotInRegisters(problem, depth).empty();
}

bool isOfGroups(const TileProblem& problem) { return !problem.isAlone; }

/// Sizes that fill a group of work-items with the cells that a few steps need around them.
CandidateSizes sizesOfRegisters(const TileProblem& problem, std::size_t d) {
  CandidateSizes sizes;
  for (const std::int64_t box : {32, 64, 96, 128})
    for (const std::int64_t around : {4, 6, 8, 12, 16, 24, 32})
      if (box - around >= 16 && (d == 0 || box != 96) && box - around < problem.extents[d])
        sizes.push_back(box - around);
  if (sizes.empty()) sizes.push_back(problem.extents[d]);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

/// More than there are where no group has a work-item for each cell of a row, or work-items would
/// have more cells than registers.
std::size_t bytesInRegisters(const TimeProgram& program, const std::vector<std::size_t>& bytes,
                             const OverlappedOptions& options) {
  const strategies::Growth halo = strategies::haloOf(program, options.depth);
  constexpr std::int64_t kMostCells = 24;
  if (options.local[1] < options.tile[1] + halo.before[1] + halo.after[1] ||
      strategies::registerRows(program, options) > kMostCells)
    return SIZE_MAX;
  return strategies::registerBytes(program, bytes, options);
}

constexpr TimeFormRow kForms[] = {
    {TimeForm::Boxes, "overlapped", "tiles", &nothing, &strategies::boxBytes,
     &written<&strategies::overlapped>, &isNoRival, &always, true, &sizesOfBoxes, 0, false,
     &costOfBoxes, &usableByBoxes, &never, &asMuch, &noMore, &even},
    {TimeForm::Stream, "stream", "streams", &whyNotStream, &strategies::ringBytes,
     &written<&strategies::stream>, &isStreamRival, &isStreamModelled, true, &sizesOfStreams, 1,
     false, &costOfStream, &usableByStream, &storesStraight, &asMuch, &cyclesOfStreamRows, &even},
    {TimeForm::Chain, "chain", "bands", &whyNotChain, &strategies::chainBytes,
     &written<&strategies::chain>, &isChainRival, &always, false, &sizesOfChains, 0, false,
     &costOfChain, &usableByBoxes, &never, &chainCut, &cyclesOfChainRows, &chainUnevenness},
    {TimeForm::Persistent, "persistent", "tiles", &nothing, &strategies::boxBytes,
     &strategies::persistent, &isNoRival, &always, false, &sizesOfBoxes, 0, false, &costOfBoxes,
     &usableByBoxes, &never, &asMuch, &noMore, &even},
    {TimeForm::Registers, "registers", "tiles", &whyNotInRegisters, &bytesInRegisters,
     &written<&strategies::registers>, &isRegisterRival, &isOfGroups, true, &sizesOfRegisters, 0,
     true, &costOfBoxes, &usableByBoxes, &never, &asMuch, &noMore, &even},
};

}  // namespace

std::span<const TimeFormRow> timeForms() { return kForms; }

const TimeFormRow& rowOf(TimeForm form) {
  const auto found = std::find_if(std::begin(kForms), std::end(kForms),
                                  [form](const TimeFormRow& row) { return row.form == form; });
  return found != std::end(kForms) ? *found : kForms[0];
}

const DeviceCost& costOf(const TileProblem& problem, TimeForm form) {
  return problem.isAlone ? rowOf(form).cost(problem) : kGroup;
}

}  // namespace hpl::stencils
