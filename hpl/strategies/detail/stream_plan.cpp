// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/stream_plan.h"

#include <algorithm>

#include "hpl/strategies/detail/source.h"
#include "hpl/strategies/stream.h"

namespace hpl::strategies {
namespace detail {

namespace {

bool allGoOn(const TimeProgram& program) {
  return std::all_of(program.fields.begin(), program.fields.end(), [](const TimeField& field) {
    return !field.isWritten() || field.lifetime == Lifetime::Steps;
  });
}

}  // namespace

StreamPlan planStream(const TimeProgram& program, const OverlappedOptions& options) {
  if (program.dims < 2) throw Refused{"one dimension has no rows that could be streamed"};
  if (program.stages.size() != 1) throw Refused{"a step has several functions"};
  if (!allGoOn(program)) throw Refused{"not all that is written goes from step to step"};
  if (options.local != std::array<int, 3>{1, 1, 1})
    throw Refused{"several work-items do not share a stream"};
  StreamPlan plan;
  plan.planes = planOverlapped(program, options);
  plan.depth = options.depth;
  for (const TimeRead& read : program.stages.front().reads) {
    const ir::Interval reach = reachOf(read)[0];
    plan.before = std::max(plan.before, -reach.lo);
    plan.lag = std::max(plan.lag, reach.hi);
  }
  return plan;
}

}  // namespace detail

bool isStreamable(const TimeProgram& program) {
  return program.dims > 1 && program.stages.size() == 1 && detail::allGoOn(program);
}

std::size_t ringBytes(const TimeProgram& program, const std::vector<std::size_t>& bytes,
                      const OverlappedOptions& options) {
  const detail::StreamPlan plan = detail::planStream(program, options);
  std::size_t total = 0;
  for (std::size_t f = 0; f < program.fields.size(); ++f) {
    if (plan.planes.fields[f].isGlobal) continue;
    std::size_t plane = bytes[f];
    for (std::size_t d = 1; d < static_cast<std::size_t>(program.dims); ++d)
      plane *= static_cast<std::size_t>(plan.planes.extent[d]);
    total += plane * static_cast<std::size_t>(plan.slots(program.fields[f].next >= 0));
  }
  return total;
}

}  // namespace hpl::strategies
