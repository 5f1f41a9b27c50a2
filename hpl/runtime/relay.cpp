// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/relay.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "hpl/runtime/events.h"

namespace hpl::runtime {
namespace {

struct Relay {
  cl::Event source;
  cl::Event target;  // null: `done` is called
  void (*done)(cl_int status, void* data) = nullptr;
  void* data = nullptr;
};

/// The thread and its work. Never destroyed: it idles while the process ends.
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
      for (const Relay& relay : batch) pass(relay);
    }
  }

  static void pass(const Relay& relay) {
    const cl_int status = endOf(relay.source());
    if (relay.done != nullptr) return relay.done(status, relay.data);
    if (status < 0) notePassedOn(status);
    settle(relay.target(), status);
  }

  // More than a few steps of a program on several devices ask for.
  static constexpr std::size_t kUsual = 256;

  std::mutex mutex_;
  std::condition_variable there_;
  std::vector<Relay> work_;
};

// Runs on a thread of the driver's; the target was retained for it.
void CL_CALLBACK passOn(cl_event, cl_int status, void* target) {
  auto* event = static_cast<cl_event>(target);
  if (status < 0) notePassedOn(status);
  settle(event, status < 0 ? status : CL_COMPLETE);
  clReleaseEvent(event);
}

bool passesByCallback(const cl::Event& event, const cl::Event& target) {
  if (retained(clRetainEvent, target()) != CL_SUCCESS) return false;
  if (clSetEventCallback(event(), CL_COMPLETE, passOn, target()) == CL_SUCCESS) return true;
  clReleaseEvent(target());
  return false;
}

// What a driver is to call.
struct Call {
  void (*done)(cl_int status, void* data);
  void* data;
};

void CL_CALLBACK makeCall(cl_event, cl_int status, void* data) {
  const std::unique_ptr<Call> call(static_cast<Call*>(data));
  call->done(status < 0 ? status : CL_COMPLETE, call->data);
}

}  // namespace

cl::Event relay(const cl::Event& event, DeviceState& of, DeviceState& into) {
  if (!into.honoursUserEvents()) return {};
  cl_int code = CL_SUCCESS;
  const cl_event target = clCreateUserEvent(into.context()(), &code);
  check(code, "clCreateUserEvent", &into);
  cl::Event result(target);
  if (!of.callsBack() || !passesByCallback(event, result)) Relays::get().add({event, result});
  return result;
}

void whenEnded(const cl::Event& event, DeviceState& of, void (*done)(cl_int status, void* data),
               void* data) {
  if (event() == nullptr) return done(CL_COMPLETE, data);
  if (of.callsBack()) {
    auto call = std::make_unique<Call>(done, data);
    if (clSetEventCallback(event(), CL_COMPLETE, makeCall, call.get()) == CL_SUCCESS)
      return static_cast<void>(call.release());
  }
  Relays::get().add({event, {}, done, data});
}

}  // namespace hpl::runtime
