// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/stream.h"

#include "hpl/strategies/detail/stream_builder.h"

namespace hpl::strategies {

Overlapped stream(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                  const TimeProgram& program, const OverlappedOptions& options) {
  Overlapped result;
  try {
    if (summary.sharesWithinGroups() || summary.usesLocalIdOrGroup)
      throw detail::Refused{"its functions ask for groups or share local memory"};
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

}  // namespace hpl::strategies
