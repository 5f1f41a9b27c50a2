// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/queue.h"

#include <algorithm>

namespace hpl::memory::detail {

Stamp Queue::representative(Stamp stamp) {
  asked_ = last_;
  if (ring_ == nullptr) ring_ = std::make_unique<Ring>();
  const Stamp oldest = last_ >= kKept ? last_ - kKept + 1 : 1;
  Stamp at = std::max(stamp, oldest);
  while (at <= last_ && (*ring_)[at % kKept]() == nullptr) ++at;
  if (at <= last_) return at;
  cl_event marker = nullptr;
  runtime::check(clEnqueueMarkerWithWaitList(commands()(), 0, nullptr, &marker),
                 "clEnqueueMarkerWithWaitList", &device_);
  return record(cl::Event(marker));
}

const cl::Event& Queue::eventFor(Stamp stamp) {
  static const cl::Event none;
  if (stamp <= done_) return none;
  const Stamp at = representative(stamp);
  const cl::Event& event = (*ring_)[at % kKept];
  cl_int status = CL_QUEUED;
  runtime::check(
      clGetEventInfo(event(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr),
      "clGetEventInfo", &device_);
  if (status == CL_COMPLETE) {
    done_ = std::max(done_, at);
    return none;
  }
  // A failed command is handed out too: waiting for it is how its failure is reported.
  flush();
  return event;
}

const cl::Event& Queue::orderFor(Stamp stamp) {
  // The latest commands are hardly ever done, and to ask costs as much as to wait in vain.
  constexpr Stamp kYoung = 4;
  if (stamp <= done_ || stamp + kYoung < last_) return eventFor(stamp);
  const Stamp at = representative(stamp);
  flush();
  return (*ring_)[at % kKept];
}

void Queue::flush() {
  if (flushed_ == last_) return;
  runtime::check(runtime::flushed(commands()), "clFlush", &device_);
  flushed_ = last_;
}

void Queue::clear() {
  ring_.reset();
  done_ = flushed_ = last_;
}

}  // namespace hpl::memory::detail
