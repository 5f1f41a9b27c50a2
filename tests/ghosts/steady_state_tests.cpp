// SPDX-License-Identifier: Apache-2.0
// A step that a program has made before costs the driver's calls and little else: it allocates
// nothing, creates no OpenCL objects but events, sets no arguments, and flushes each queue once.
// This file counts the allocations of the whole test program, and stands between the library and
// the OpenCL loader.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <new>
#include <random>

#include "hpl/runtime/detail/device_state.h"
#include "support.h"

using namespace hpl;
using namespace ghosts_tests;

namespace {

/// What the calling thread has done since counting began.
struct Counts {
  std::size_t allocations = 0;
  /// Objects made, other than events.
  std::size_t objects = 0;
  std::size_t arguments = 0;
  /// clFinish and clWaitForEvents.
  std::size_t waits = 0;
  std::size_t launches = 0;
  struct Flushed {
    cl_command_queue queue = nullptr;
    std::size_t times = 0;
  };
  std::array<Flushed, 32> flushed;

  void flush(cl_command_queue queue) {
    for (Flushed& entry : flushed) {
      if (entry.queue != nullptr && entry.queue != queue) continue;
      entry.queue = queue;
      ++entry.times;
      return;
    }
  }
  std::size_t mostFlushes() const {
    std::size_t most = 0;
    for (const Flushed& entry : flushed) most = std::max(most, entry.times);
    return most;
  }
};

thread_local Counts* counts = nullptr;

/// What an action does.
template <class Action>
Counts countsOf(Action&& action) {
  Counts result;
  counts = &result;
  action();
  counts = nullptr;
  return result;
}

/// Inside the driver: what it allocates is its own business.
class DriverCall {
 public:
  DriverCall() { counts = nullptr; }
  ~DriverCall() { counts = outside_; }
  DriverCall(const DriverCall&) = delete;
  DriverCall& operator=(const DriverCall&) = delete;

 private:
  Counts* outside_ = counts;
};

void* allocate(std::size_t size) {
  if (counts != nullptr) ++counts->allocations;
  return std::malloc(size == 0 ? 1 : size);
}

}  // namespace

void* operator new(std::size_t size) {
  if (void* memory = allocate(size)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

// The function of this name behind ours. A stand-in counts and calls it.
#define HPL_TEST_BEHIND(name, ...)                                                       \
  static const auto behind = reinterpret_cast<decltype(&name)>(dlsym(RTLD_NEXT, #name)); \
  const DriverCall inside;                                                               \
  return behind(__VA_ARGS__)
#define HPL_TEST_COUNT(member) \
  if (counts != nullptr) ++counts->member

extern "C" {
cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void* host,
                      cl_int* code) {
  HPL_TEST_COUNT(objects);
  HPL_TEST_BEHIND(clCreateBuffer, context, flags, size, host, code);
}
cl_kernel clCreateKernel(cl_program program, const char* name, cl_int* code) {
  HPL_TEST_COUNT(objects);
  HPL_TEST_BEHIND(clCreateKernel, program, name, code);
}
cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char** strings,
                                     const size_t* lengths, cl_int* code) {
  HPL_TEST_COUNT(objects);
  HPL_TEST_BEHIND(clCreateProgramWithSource, context, count, strings, lengths, code);
}
cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void* value) {
  HPL_TEST_COUNT(arguments);
  HPL_TEST_BEHIND(clSetKernelArg, kernel, index, size, value);
}
cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                              const size_t* offset, const size_t* global, const size_t* local,
                              cl_uint count, const cl_event* waits, cl_event* event) {
  HPL_TEST_COUNT(launches);
  HPL_TEST_BEHIND(clEnqueueNDRangeKernel, queue, kernel, dims, offset, global, local, count, waits,
                  event);
}
cl_int clFlush(cl_command_queue queue) {
  if (counts != nullptr) counts->flush(queue);
  HPL_TEST_BEHIND(clFlush, queue);
}
cl_int clFinish(cl_command_queue queue) {
  HPL_TEST_COUNT(waits);
  HPL_TEST_BEHIND(clFinish, queue);
}
cl_int clWaitForEvents(cl_uint count, const cl_event* events) {
  HPL_TEST_COUNT(waits);
  HPL_TEST_BEHIND(clWaitForEvents, count, events);
}
}

namespace {

void finishAll() {
  for (const Device& device : testDevices()) device.sync();
}

/// Repeats a step until everything has its memory, then checks that it needs no more.
void checkSteady(const std::function<void()>& step, std::size_t launchesPerStep) {
  constexpr int kFirstSteps = 10;
  for (int i = 0; i < kFirstSteps; ++i) {
    step();
    finishAll();
  }
  // What steps in flight share grows with their number, and on a busy machine one step may still
  // hold some of it when the next one begins.
  for (int i = 0; i < 2 * kFirstSteps; ++i) step();
  finishAll();
  for (int i = 0; i < 6; ++i) {
    CAPTURE(i);
    const Counts done = countsOf(step);
    CHECK(done.launches == launchesPerStep * static_cast<std::size_t>(deviceCount()));
    CHECK(done.allocations == 0);
    CHECK(done.objects == 0);
    CHECK(done.arguments == 0);
    CHECK(done.waits == 0);
    // Several launches are several steps of this rule.
    CHECK(done.mostFlushes() <= launchesPerStep);
    finishAll();
  }
}

/// Whether devices wait for each other without the host's help.
bool devicesWaitByThemselves() {
  const std::vector<Device> devices = testDevices();
  return std::all_of(devices.begin(), devices.end(), [&](const Device& device) {
    return device.state().sharesContextWith(devices.front().state()) ||
           device.state().honoursUserEvents();
  });
}

}  // namespace

TEST_CASE("launches and exchanges that were made before allocate nothing and flush once") {
  if (!devicesWaitByThemselves()) return;
  Grid a(64, 32), b(64, 32);
  a.copyFrom(someValues(64 * 32, 1).data());
  b.copyFrom(someValues(64 * 32, 2).data());
  checkSteady(
      [&] {
        eval(fivePoint)(PART1(b, 1), PART1(a, 1));
        b.syncGhosts();
        swap(a, b);
      },
      1);
}

TEST_CASE("so do launches that compute their ghosts themselves") {
  if (!devicesWaitByThemselves()) return;
  Numbers a(256), b(256);
  a.copyFrom(someValues(256, 3).data());
  b.copyFrom(someValues(256, 4).data());
  checkSteady(
      [&] {
        for (int i = 0; i < 4; ++i) {
          eval(threePoint)(PART1(b, 4), PART1(a, 4));
          swap(a, b);
        }
        a.syncGhosts();
      },
      4);
}

TEST_CASE("launches that refresh their ghosts come to rest, too") {
  if (!devicesWaitByThemselves()) return;
  Numbers a(256), b(256);
  a.copyFrom(someValues(256, 5).data());
  b.copyFrom(someValues(256, 6).data());
  checkSteady(
      [&] {
        eval(threePoint)(PART1(b, 1, AUTO_SYNC), PART1(a, 1, AUTO_SYNC));
        swap(a, b);
      },
      1);
}

TEST_CASE("steps that repeat come out right whatever happens between them") {
  const unsigned seed = 20;
  CAPTURE(seed);
  std::mt19937 random(seed);
  constexpr int kCells = 90;
  Numbers a(kCells), b(kCells);
  std::vector<int> x = someValues(kCells, 7), y = someValues(kCells, 8);
  a.copyFrom(x.data());
  b.copyFrom(y.data());
  const auto step = [&](int ghosts) {
    eval(threePoint)(PART1(b, ghosts), PART1(a, ghosts));
    b.syncGhosts();
    y = threePointStep(x, y);
    swap(a, b);
    std::swap(x, y);
  };
  const auto cell = [&] { return static_cast<int>(random() % kCells); };
  const std::function<void()> disturbances[] = {
      [] {},
      [] {},
      [&] { static_cast<void>(a(cell())); },
      [&] {
        const int at = cell();
        a(at) = x[static_cast<std::size_t>(at)] = static_cast<int>(random() % 100);
      },
      [&] {
        const int at = static_cast<int>(random() % (kCells - 5));
        a(Range(at, at + 4)) = 3;
        std::fill_n(x.begin() + at, 5, 3);
      },
      [&] {
        b(Range(0, kCells - 1)) = a(Range(0, kCells - 1));
        y = x;
      },
      [&] {
        eval(increment)(a);
        for (int& value : x) ++value;
      },
      [&] {
        eval(increment)(PART1(a));
        for (int& value : x) ++value;
      },
      [&] { step(2); },
      [&] { b.syncGhosts(); },
  };
  for (int i = 0; i < 60; ++i) {
    for (int n = static_cast<int>(random() % 8); n >= 0; --n) step(1);
    disturbances[random() % std::size(disturbances)]();
    if (i % 10 != 9) continue;
    CAPTURE(i);
    REQUIRE(valuesOf(a) == x);
    REQUIRE(valuesOf(b) == y);
  }
}

namespace {

/// Explicit subarrays of an array of 256 numbers, each with the neighbours' first numbers.
std::vector<Range> overlappingParts() {
  std::vector<Range> parts;
  const int count = deviceCount();
  for (int d = 0; d < count; ++d)
    parts.emplace_back(std::max(256 * d / count - 1, 0), std::min(256 * (d + 1) / count, 255));
  return parts;
}

}  // namespace

TEST_CASE("explicit subarrays that repeat a step allocate nothing, too") {
  if (!devicesWaitByThemselves()) return;
  // Each device's launches are tuned for themselves, and measured for that now and then.
  const WithSettings untuned(
      [](runtime::Settings& settings) { settings.tune = runtime::TuneMode::Off; });
  Numbers a(256), b(256);
  a.copyFrom(someValues(256, 8).data());
  b.copyFrom(someValues(256, 9).data());
  const std::vector<Device> devices = testDevices();
  const std::vector<Range> parts = overlappingParts();
  checkSteady(
      [&] {
        for (std::size_t d = 0; d < parts.size(); ++d)
          eval(threePoint).device(devices[d])(b(parts[d]), a(parts[d]));
        b.syncGhosts();
        swap(a, b);
      },
      1);
}
