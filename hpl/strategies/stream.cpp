// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/stream.h"

#include <utility>

#include "hpl/strategies/detail/stream_builder.h"

namespace hpl::strategies {

Overlapped stream(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                  const TimeProgram& program, const OverlappedOptions& options) {
  Overlapped result;
  try {
    if (std::string why = whyNotStreamable(program); !why.empty())
      throw detail::Refused{std::move(why)};
    if (summary.sharesWithinGroups() || summary.usesLocalIdOrGroup)
      throw detail::Refused{"its functions ask for groups or share local memory"};
    if (options.local[0] != 1)
      throw detail::Refused{"the work-items of a group share planes, and none has its own"};
    result.bytes = ringBytes(program, detail::bytesOf(kernel, program), options);
    if (options.localMemory > 0 && result.bytes > options.localMemory)
      throw detail::Refused{"its planes would need " + std::to_string(result.bytes) +
                            " bytes of local memory, and the device has " +
                            std::to_string(options.localMemory)};
    return detail::StreamBuilder(kernel, summary, program, options).build();
  } catch (const detail::Refused& refused) {
    result.reason = refused.reason;
    return result;
  }
}

std::string whyNotStreamable(const TimeProgram& program) {
  // A stream saves what boxes compute twice along all dimensions but the slowest.
  if (program.dims < 2)
    return "one dimension has no rows that could be streamed; boxes compute next to nothing twice "
           "there";
  return whyNotOverlapped(program);
}

std::size_t ringBytes(const TimeProgram& program, const std::vector<std::size_t>& bytes,
                      const OverlappedOptions& options) {
  const detail::StreamPlan plan = detail::planStream(program, options);
  std::size_t total = 0;
  for (std::size_t f = 0; f < plan.rings.size(); ++f)
    total += bytes[f] *
             static_cast<std::size_t>(plan.rings[f].slots * plan.planeCells + plan.moreCells(f));
  return total;
}

}  // namespace hpl::strategies
