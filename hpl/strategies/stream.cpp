// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/stream.h"

#include <utility>

#include "hpl/strategies/detail/program_stream_builder.h"
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
    if (detail::isOneFunction(program, options))
      return detail::StreamBuilder(kernel, summary, program, options).build();
    return detail::ProgramStreamBuilder(kernel, summary, program, options).build();
  } catch (const detail::Refused& refused) {
    result.reason = refused.reason;
    return result;
  }
}

}  // namespace hpl::strategies
