// SPDX-License-Identifier: Apache-2.0
// Ends of events are told once each, by the driver or the watch, however many are under way.
#include "hpl/runtime/event_watch.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "hpl/runtime/device_state.h"
#include "hpl/runtime/runtime.h"

namespace event_watch_tests {

using namespace hpl;

namespace {

struct Told {
  std::atomic<int> times{0};
  std::atomic<int> status{1};
};

void noteEnd(cl_int status, void* data) {
  auto* const told = static_cast<Told*>(data);
  told->status = status;
  ++told->times;
}

}  // namespace

TEST_CASE("each of hundreds of events under way is told once, failed ones too, again and again") {
  runtime::DeviceState& device = runtime::Runtime::get().defaultDevice();
  constexpr std::size_t kEvents = 600;
  for (int round = 0; round < 3; ++round) {
    CAPTURE(round);
    std::vector<cl::UserEvent> events;
    std::vector<std::unique_ptr<Told>> told;
    std::size_t awaited = 0;
    for (std::size_t i = 0; i < kEvents; ++i) {
      events.emplace_back(device.context());
      told.push_back(std::make_unique<Told>());
      const runtime::EndAction note{{}, &noteEnd, told.back().get()};
      if (runtime::EventWatch::get().tellAtEnd(events.back(), note)) ++awaited;
    }
    if (awaited == 0) return;  // the driver cannot call back
    REQUIRE(awaited == kEvents);
    const auto hasFailed = [&](std::size_t i) { return device.callsBack() && i % 3 == 0; };
    for (std::size_t i = 0; i < kEvents; ++i) events[i].setStatus(hasFailed(i) ? -1 : CL_COMPLETE);
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    const auto isMissing = [&] {
      for (const auto& one : told)
        if (one->times == 0) return true;
      return false;
    };
    while (isMissing() && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    // The second one to learn of an end says nothing.
    std::this_thread::sleep_for(std::chrono::milliseconds(40));
    for (std::size_t i = 0; i < kEvents; ++i) {
      CAPTURE(i);
      REQUIRE(told[i]->times == 1);
      REQUIRE((told[i]->status < 0) == hasFailed(i));
    }
  }
}

}  // namespace event_watch_tests
