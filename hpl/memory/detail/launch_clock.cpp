// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/launch_clock.h"

#include <algorithm>

namespace hpl::memory::detail {

cl::Event LaunchClock::eventFor(Stamp stamp) {
  if (stamp <= done_) return {};
  const Stamp oldest = last_ >= kKept ? last_ - kKept + 1 : 1;
  Stamp at = std::max(stamp, oldest);
  while (at <= last_ && ring_[at % kKept]() == nullptr) ++at;
  if (at > last_) {
    cl_event marker = nullptr;
    runtime::check(clEnqueueMarkerWithWaitList(device_.computeQueue()(), 0, nullptr, &marker),
                   "clEnqueueMarkerWithWaitList", &device_);
    at = record(cl::Event(marker));
  }
  const cl::Event& event = ring_[at % kKept];
  cl_int status = CL_QUEUED;
  runtime::check(
      clGetEventInfo(event(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr),
      "clGetEventInfo", &device_);
  if (status == CL_COMPLETE) {
    done_ = std::max(done_, at);
    return {};
  }
  // A failed command is handed out too: waiting for it is how its failure is reported.
  runtime::check(clFlush(device_.computeQueue()()), "clFlush", &device_);
  return event;
}

void LaunchClock::clear() {
  for (cl::Event& event : ring_) event = cl::Event();
  done_ = last_;
}

}  // namespace hpl::memory::detail
