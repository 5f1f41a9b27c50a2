// SPDX-License-Identifier: Apache-2.0
#include "hpl/strategies/plane_queue.h"

#include "hpl/strategies/detail/queue_builder.h"

namespace hpl::strategies {

using namespace detail;

PlaneQueue planeQueue(const ir::Kernel& kernel, const ir::AccessSummary& summary,
                      const PlaneQueueOptions& options) {
  PlaneQueue result;
  try {
    if (options.dims < 2)
      throw Refused{"its ids have one dimension, so that there is no column to go along"};
    if (summary.sharesWithinGroups())
      throw Refused{"its work-items share local memory or wait for each other"};
    if (summary.usesLocalIdOrGroup) throw Refused{"it asks for local or group ids"};
    const QueuePlan plan = QueueBuilder(kernel, summary, options).plan();
    return QueueBuilder(kernel, summary, options).build(plan);
  } catch (const Refused& refused) {
    result.reason = refused.reason;
    return result;
  }
}

}  // namespace hpl::strategies
