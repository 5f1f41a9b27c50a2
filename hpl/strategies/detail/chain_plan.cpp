// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/detail/chain_plan.h"

#include <algorithm>

#include "hpl/strategies/chain.h"
#include "hpl/strategies/detail/source.h"

namespace hpl::strategies {
namespace detail {
namespace {

std::size_t unsignedOf(int value) { return static_cast<std::size_t>(value); }

void checkFields(const TimeProgram& program) {
  for (const TimeField& field : program.fields)
    if (field.isWritten() && field.lifetime == Lifetime::Steps)
      throw Refused{"a field is read before it is written, or goes from step to step"};
}

/// Each function waits for the rows that it reads of the others.
void planLags(ChainPlan& plan, const TimeProgram& program) {
  std::vector<std::int64_t> known(program.fields.size());
  std::int64_t kept = 0;
  for (const TimeStage& stage : program.stages) {
    std::int64_t lag = 0;
    for (const TimeRead& read : stage.reads)
      if (!plan.rows.fields[unsignedOf(read.field)].isGlobal)
        lag = std::max(lag, known[unsignedOf(read.field)] + reachOf(read)[0].hi);
    for (const TimeRead& read : stage.reads)
      if (!plan.rows.fields[unsignedOf(read.field)].isGlobal)
        kept = std::max(kept, lag - std::min<std::int64_t>(0, reachOf(read)[0].lo));
    for (const int field : stage.writes) {
      known[unsignedOf(field)] = std::max(known[unsignedOf(field)], lag);
      kept = std::max(kept, lag);
    }
    plan.lags.push_back(lag);
  }
  plan.ring = kept + plan.chunk;
}

}  // namespace

ChainPlan planChain(const TimeProgram& program, const OverlappedOptions& options) {
  if (program.dims < 2) throw Refused{"one dimension has no rows that follow each other"};
  if (options.depth != 1) throw Refused{"a pass has several steps"};
  if (options.local != std::array<int, 3>{1, 1, 1})
    throw Refused{"several work-items do not share rows"};
  checkFields(program);
  ChainPlan plan;
  // Fewer planes than rows fill the cache.
  if (program.dims == 3) plan.chunk = 4;
  if (options.jam > 0) plan.chunk = options.jam;
  plan.rows = planOverlapped(program, options);
  planLags(plan, program);
  plan.before = plan.rows.halo.first.before[0];
  for (std::size_t k = 0; k < program.stages.size(); ++k)
    plan.after = std::max(plan.after, plan.rows.boxes[k].first.after[0] + plan.lags[k]);
  plan.rows.extent[0] = plan.ring;
  plan.rows.margin[0] = plan.before + plan.ring;
  return plan;
}

}  // namespace detail

std::string whyNotChain(const TimeProgram& program) {
  try {
    detail::planChain(program, {});
    return "";
  } catch (const detail::Refused& refused) {
    return refused.reason;
  }
}

std::size_t chainBytes(const TimeProgram& program, const std::vector<std::size_t>& bytes,
                       const OverlappedOptions& options) {
  const detail::ChainPlan plan = detail::planChain(program, options);
  std::size_t total = 0;
  for (std::size_t f = 0; f < program.fields.size(); ++f) {
    if (plan.rows.fields[f].isGlobal) continue;
    std::size_t rows = bytes[f];
    for (const std::int64_t extent : plan.rows.extent) rows *= static_cast<std::size_t>(extent);
    total += rows;
  }
  return total;
}

}  // namespace hpl::strategies
