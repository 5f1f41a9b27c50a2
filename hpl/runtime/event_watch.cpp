// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/event_watch.h"

#include <chrono>
#include <thread>

namespace hpl::runtime {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks(10);
// After so many looks at nothing the thread sleeps until something comes.
constexpr int kIdleLooks = 50;

}  // namespace

EventWatch& EventWatch::get() {
  static auto* watch = new EventWatch;
  return *watch;
}

EventWatch::EventWatch() {
  std::thread([this] { run(); }).detach();
}

bool EventWatch::tellAtEnd(const cl::Event& event, const EndAction& action) {
  auto own = std::make_shared<Watched>(Watched{event, action});
  Watched* const watched = own.get();
  bool wakes = false;
  {
    const std::lock_guard lock(mutex_);
    watched->since = looks_;
    watched->place = watched_.insert(watched_.end(), std::move(own));
    wakes = sleeps_;
    sleeps_ = false;
  }
  if (wakes) there_.notify_one();
  // Drivers call back at once for an event that has ended.
  if (clSetEventCallback(event(), CL_COMPLETE, noteEnd, watched) == CL_SUCCESS) return true;
  return take(watched) == nullptr;
}

void CL_CALLBACK EventWatch::noteEnd(cl_event, cl_int status, void* watched) {
  const auto own = get().take(static_cast<Watched*>(watched));
  if (own != nullptr) own->action(status < 0 ? status : CL_COMPLETE);
}

std::shared_ptr<EventWatch::Watched> EventWatch::take(Watched* watched) {
  const std::lock_guard lock(mutex_);
  if (watched->place == watched_.end()) return nullptr;
  std::shared_ptr<Watched> own = std::move(*watched->place);
  watched_.erase(watched->place);
  own->place = watched_.end();
  return own;
}

void EventWatch::run() {
  std::vector<std::shared_ptr<Watched>> some;
  std::unique_lock lock(mutex_);
  for (int idle = 0;;) {
    if (idle < kIdleLooks) {
      there_.wait_for(lock, kBetweenLooks);
    } else {
      sleeps_ = true;
      there_.wait(lock, [this] { return !sleeps_; });
      idle = 0;
    }
    idle = watched_.empty() ? idle + 1 : 0;
    // Most events end well before the next look.
    for (const std::shared_ptr<Watched>& one : watched_)
      if (one->since < looks_) some.push_back(one);
    ++looks_;
    lock.unlock();
    look(some);
    some.clear();
    lock.lock();
  }
}

void EventWatch::look(const std::vector<std::shared_ptr<Watched>>& some) {
  for (const std::shared_ptr<Watched>& one : some) {
    cl_int status = CL_QUEUED;
    const cl_int code = clGetEventInfo(one->event(), CL_EVENT_COMMAND_EXECUTION_STATUS,
                                       sizeof status, &status, nullptr);
    if (code != CL_SUCCESS || status > CL_COMPLETE || take(one.get()) == nullptr) continue;
    one->action(status);
    one->event = {};
    one->action = {};
    const std::lock_guard lock(mutex_);
    told_.push_back(one);
  }
}

}  // namespace hpl::runtime
