// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/event_watch.h"

#include <chrono>
#include <iterator>
#include <thread>
#include <utility>

namespace hpl::runtime {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks(10);
// After this many looks at nothing the thread sleeps until something comes.
constexpr int kIdleLooks = 50;
// More than what most programs have under way: on a busy machine, where threads come late, that is
// many times what it is on an idle one.
constexpr std::size_t kEntries = 256;

}  // namespace

EventWatch& EventWatch::get() {
  static auto* watch = new EventWatch;
  return *watch;
}

EventWatch::EventWatch() {
  grow(kEntries);
  looked_.reserve(kEntries);
  ended_.reserve(kEntries);
  std::thread([this] { run(); }).detach();
}

void EventWatch::grow(std::size_t count) {
  free_.resize(free_.size() + count);
  entries_ += count;
}

EventWatch::Watched& EventWatch::add(const cl::Event& event, const EndAction& action) {
  bool wakes = false;
  Watched* watched = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) grow(entries_);
    watched_.splice(watched_.end(), free_, free_.begin());
    watched = &watched_.back();
    watched->event = event;
    watched->action = action;
    watched->since = looks_;
    watched->isAwaited = true;
    watched->isToldByWatch = watched->hasCalledBack = false;
    watched->place = std::prev(watched_.end());
    wakes = std::exchange(sleeps_, false);
  }
  if (wakes) there_.notify_one();
  return *watched;
}

bool EventWatch::tellAtEnd(const cl::Event& event, const EndAction& action) {
  Watched& watched = add(event, action);
  // Drivers call back at once for an event that has ended.
  if (clSetEventCallback(event(), CL_COMPLETE, noteEnd, &watched) == CL_SUCCESS) return true;
  return !take(watched, Teller::Driver);
}

void CL_CALLBACK EventWatch::noteEnd(cl_event, cl_int status, void* watched) {
  if (const auto action = get().take(*static_cast<Watched*>(watched), Teller::Driver))
    (*action)(status < 0 ? status : CL_COMPLETE);
}

std::optional<EndAction> EventWatch::take(Watched& watched, Teller teller) {
  cl::Event ended;  // given back without the lock
  const std::lock_guard lock(mutex_);
  if (teller == Teller::Driver) watched.hasCalledBack = true;
  if (!watched.isAwaited) {
    if (watched.hasCalledBack && !watched.isLookedAt)
      free_.splice(free_.begin(), told_, watched.place);
    return std::nullopt;
  }
  watched.isAwaited = false;
  watched.isToldByWatch = teller == Teller::Watch;
  EndAction action = std::move(watched.action);
  if (!watched.isLookedAt) {
    ended = std::move(watched.event);
    free_.splice(free_.begin(), watched_, watched.place);
  }
  return action;
}

void EventWatch::run() {
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
    collect();
    lock.unlock();
    look();
    lock.lock();
    putAway();
    lock.unlock();
    ended_.clear();
    lock.lock();
  }
}

void EventWatch::collect() {
  for (Watched& one : watched_) {
    if (one.since >= looks_) continue;
    one.isLookedAt = true;
    looked_.push_back(&one);
  }
  ++looks_;
}

void EventWatch::look() {
  for (Watched* const one : looked_) {
    cl_int status = CL_QUEUED;
    const cl_int code = clGetEventInfo(one->event(), CL_EVENT_COMMAND_EXECUTION_STATUS,
                                       sizeof status, &status, nullptr);
    if (code != CL_SUCCESS || status > CL_COMPLETE) continue;
    if (const auto action = take(*one, Teller::Watch)) (*action)(status);
  }
}

void EventWatch::putAway() {
  for (Watched* const one : looked_) {
    one->isLookedAt = false;
    if (one->isAwaited) continue;
    ended_.push_back(std::move(one->event));
    std::list<Watched>& to = one->isToldByWatch && !one->hasCalledBack ? told_ : free_;
    to.splice(to.begin(), watched_, one->place);
  }
  looked_.clear();
}

}  // namespace hpl::runtime
