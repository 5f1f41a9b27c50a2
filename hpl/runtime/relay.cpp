// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/relay.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "hpl/runtime/event_watch.h"
#include "hpl/runtime/events.h"

namespace hpl::runtime {
namespace {

struct Relay {
  cl::Event source;
  EndAction action;
};

/// Waits for one event after another, of drivers that do not call back. Never destroyed: it idles
/// while the process ends.
class Relays {
 public:
  static Relays& get() {
    static auto* relays = new Relays;
    return *relays;
  }

  void add(Relay relay) {
    {
      const std::lock_guard lock(mutex_);
      work_.push_back(std::move(relay));
    }
    there_.notify_one();
  }

 private:
  Relays() {
    work_.reserve(kUsual);
    std::thread([this] { run(); }).detach();
  }

  void run() {
    // Both lists keep their memory.
    std::vector<Relay> batch;
    batch.reserve(kUsual);
    for (;;) {
      batch.clear();
      {
        std::unique_lock lock(mutex_);
        there_.wait(lock, [this] { return !work_.empty(); });
        batch.swap(work_);
      }
      for (const Relay& relay : batch) relay.action(endOf(relay.source()));
    }
  }

  // More than a few steps of a program on several devices ask for.
  static constexpr std::size_t kUsual = 256;

  std::mutex mutex_;
  std::condition_variable there_;
  std::vector<Relay> work_;
};

// Runs on a thread of the driver's.
void CL_CALLBACK tell(cl_event, cl_int status, void* data) {
  const std::unique_ptr<EndAction> action(static_cast<EndAction*>(data));
  (*action)(status < 0 ? status : CL_COMPLETE);
}

// Tells as soon as the event's end is known, from whichever source.
void tellAtEnd(const cl::Event& event, DeviceState& of, EndAction action) {
  if (of.callsBackInFailure()) {
    auto own = std::make_unique<EndAction>(action);
    if (clSetEventCallback(event(), CL_COMPLETE, tell, own.get()) == CL_SUCCESS)
      return static_cast<void>(own.release());
  } else if (of.callsBack() && EventWatch::get().tellAtEnd(event, action)) {
    return;
  }
  Relays::get().add({event, std::move(action)});
}

}  // namespace

void EndAction::operator()(cl_int status) const {
  if (done != nullptr) return done(status, data);
  if (status < 0) notePassedOn(status);
  settle(target(), status);
}

cl::Event relay(const cl::Event& event, DeviceState& of, DeviceState& into) {
  if (!into.honoursUserEvents()) return {};
  cl_int code = CL_SUCCESS;
  const cl_event target = clCreateUserEvent(into.context()(), &code);
  check(code, "clCreateUserEvent", &into);
  cl::Event result(target);
  tellAtEnd(event, of, {result});
  return result;
}

void whenEnded(const cl::Event& event, DeviceState& of, void (*done)(cl_int status, void* data),
               void* data) {
  if (event() == nullptr) return done(CL_COMPLETE, data);
  tellAtEnd(event, of, {{}, done, data});
}

}  // namespace hpl::runtime
