// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/stream_plan.h"

#include <algorithm>

#include "hpl/strategies/detail/program_stream_plan.h"
#include "hpl/strategies/detail/source.h"
#include "hpl/strategies/stream.h"

namespace hpl::strategies {
namespace detail {
bool isLastUse(const TimeRead& read, std::int64_t before) {
  // Planes that stand for others are read at other offsets than their own.
  for (const Beyond beyond : {read.beyond[0], read.beyond[1]})
    if (beyond == Beyond::Mirror || beyond == Beyond::MirrorOdd) return false;
  return read.isFirstStraight || -read.offsets[0].lo < before;
}

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

namespace {

bool allGoOn(const TimeProgram& program) {
  return std::all_of(program.fields.begin(), program.fields.end(), [](const TimeField& field) {
    return !field.isWritten() || field.lifetime == Lifetime::Steps;
  });
}

}  // namespace

bool isOneFunction(const TimeProgram& program, const OverlappedOptions& options) {
  return program.stages.size() == 1 && allGoOn(program) &&
         options.local == std::array<int, 3>{1, 1, 1};
}

StreamPlan planStream(const TimeProgram& program, const OverlappedOptions& options) {
  StreamPlan plan;
  plan.planes = planOverlapped(program, options);
  plan.depth = options.depth;
  for (const TimeRead& read : program.stages.front().reads) {
    const ir::Interval reach = reachOf(read)[0];
    plan.before = std::max(plan.before, -reach.lo);
    plan.lag = std::max(plan.lag, reach.hi);
  }
  const std::vector<TimeRead>& reads = program.stages.front().reads;
  // Cells that the function leaves out are copied from the own plane at last.
  plan.isInPlace =
      plan.before > 0 && std::all_of(reads.begin(), reads.end(), [&](const TimeRead& read) {
        const bool isWritten = program.fields[static_cast<std::size_t>(read.field)].next >= 0;
        return !isWritten || isLastUse(read, plan.before);
      });
  if (plan.isInPlace) {
    plan.shift = options.lanes;
    plan.planes.extent[static_cast<std::size_t>(program.dims) - 1] =
        rowLength(plan.planes, plan.shift, program, options);
  }
  for (std::size_t d = 1; d < static_cast<std::size_t>(program.dims); ++d)
    plan.planeCells *= plan.planes.extent[d];
  return plan;
}

}  // namespace detail

std::string whyNotStreamable(const TimeProgram& program) {
  // A stream saves what boxes compute twice along all dimensions but the slowest.
  if (program.dims < 2)
    return "one dimension has no rows that could be streamed; boxes compute next to nothing twice "
           "there";
  return whyNotOverlapped(program);
}

std::size_t ringBytes(const TimeProgram& program, const std::vector<std::size_t>& bytes,
                      const OverlappedOptions& options) {
  if (!detail::isOneFunction(program, options))
    return detail::programRingBytes(program, bytes, options);
  const detail::StreamPlan plan = detail::planStream(program, options);
  std::size_t total = 0;
  for (std::size_t f = 0; f < program.fields.size(); ++f) {
    if (plan.planes.fields[f].isGlobal) continue;
    const std::size_t plane = bytes[f] * static_cast<std::size_t>(plan.planeCells);
    total += plane * static_cast<std::size_t>(plan.slots(program.fields[f].next >= 0));
    if (program.fields[f].next >= 0)
      total += bytes[f] * static_cast<std::size_t>(plan.shift * plan.depth);
  }
  return total;
}

}  // namespace hpl::strategies
