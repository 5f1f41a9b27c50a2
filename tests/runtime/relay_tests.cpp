// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/relay.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include "hpl/runtime/events.h"
#include "hpl/runtime/runtime.h"

namespace relay_tests {

using namespace hpl::runtime;

namespace {

cl_int statusOf(const cl::Event& event) {
  return event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>();
}

}  // namespace

/// How often an event's end was told, and as what.
struct Heard {
  std::atomic<int> times{0};
  std::atomic<cl_int> status{CL_QUEUED};

  static void note(cl_int status, void* heard) {
    auto* own = static_cast<Heard*>(heard);
    own->status = status;
    ++own->times;
  }
};

bool heardSoon(const std::vector<Heard>& all) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  for (const Heard& one : all)
    while (one.times == 0) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  return true;
}

// One device stands for both: a relay does not look at the contexts.
TEST_CASE("a relay ends when the event does, and fails when it does") {
  DeviceState& device = Runtime::get().defaultDevice();
  if (!device.honoursUserEvents()) {
    MESSAGE("no user events here");
    return;
  }
  for (const cl_int end : {CL_COMPLETE, -14}) {
    CAPTURE(end);
    cl::UserEvent source(device.context());
    const cl::Event target = relay(source, device, device);
    REQUIRE(target() != nullptr);
    CHECK(statusOf(target) > CL_COMPLETE);
    source.setStatus(end);
    const cl_event handle = target();
    const cl_int code = clWaitForEvents(1, &handle);
    CHECK((code == CL_SUCCESS) == (end == CL_COMPLETE));
    CHECK(statusOf(target) == end);
  }
}

TEST_CASE("a relay of an event that has ended ends at once") {
  DeviceState& device = Runtime::get().defaultDevice();
  if (!device.honoursUserEvents()) return;
  cl::UserEvent source(device.context());
  source.setStatus(CL_COMPLETE);
  const cl::Event target = relay(source, device, device);
  wait(target, &device);
  CHECK(target.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>() == CL_COMPLETE);
}

TEST_CASE("the end of each event is told once, whenever and however it ends") {
  DeviceState& device = Runtime::get().defaultDevice();
  if (!device.honoursUserEvents()) return;
  std::mt19937 random(1);
  constexpr std::size_t kEvents = 600;
  std::vector<cl::UserEvent> events;
  std::vector<cl_int> ends;
  for (std::size_t i = 0; i < kEvents; ++i) {
    events.emplace_back(device.context());
    ends.push_back(random() % 4 == 0 ? CL_OUT_OF_RESOURCES : CL_COMPLETE);
  }
  std::vector<Heard> heard(kEvents);
  // Some end before anybody listens, some while, some some looks later.
  std::atomic<std::size_t> next{0};
  std::thread ending([&] {
    for (std::size_t i = 0; i < kEvents; ++i) {
      if (i % 3 != 0)
        while (next <= i) std::this_thread::yield();
      if (i % 100 == 99) std::this_thread::sleep_for(std::chrono::milliseconds(25));
      events[i].setStatus(ends[i]);
    }
  });
  for (std::size_t i = 0; i < kEvents; ++i) {
    whenEnded(events[i], device, Heard::note, &heard[i]);
    next = i + 1;
  }
  ending.join();
  CHECK(heardSoon(heard));
  std::this_thread::sleep_for(std::chrono::milliseconds(40));
  for (std::size_t i = 0; i < kEvents; ++i) {
    CAPTURE(i);
    CHECK(heard[i].times == 1);
    CHECK(heard[i].status == ends[i]);
  }
}

TEST_CASE("commands that wait for one that failed are told to have failed, too") {
  DeviceState& device = Runtime::get().defaultDevice();
  if (!device.honoursUserEvents()) return;
  const cl::CommandQueue& queue = device.transferQueue();
  const cl_int value = 7;
  const cl::Buffer buffer(device.context(), CL_MEM_READ_WRITE, sizeof value);
  std::vector<Heard> heard(3);
  cl::UserEvent gate(device.context());
  std::vector<cl::Event> waits{gate};
  for (Heard& one : heard) {
    cl::Event written;
    queue.enqueueWriteBuffer(buffer, CL_FALSE, 0, sizeof value, &value, &waits, &written);
    whenEnded(written, device, Heard::note, &one);
    waits = {written};
  }
  queue.flush();
  gate.setStatus(CL_OUT_OF_RESOURCES);
  CHECK(heardSoon(heard));
  for (const Heard& one : heard) CHECK(one.status < 0);
}

}  // namespace relay_tests
