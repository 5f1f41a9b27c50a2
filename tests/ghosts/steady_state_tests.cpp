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
  std::size_t writes = 0;
  /// Reads of a device's buffer that were enqueued after a write into one.
  std::size_t lateReads = 0;
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
  void read() {
    if (writes > 0) ++lateReads;
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
cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                           size_t size, void* host, cl_uint count, const cl_event* waits,
                           cl_event* event) {
  if (counts != nullptr) counts->read();
  HPL_TEST_BEHIND(clEnqueueReadBuffer, queue, buffer, blocking, offset, size, host, count, waits,
                  event);
}
cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                            size_t size, const void* host, cl_uint count, const cl_event* waits,
                            cl_event* event) {
  HPL_TEST_COUNT(writes);
  HPL_TEST_BEHIND(clEnqueueWriteBuffer, queue, buffer, blocking, offset, size, host, count, waits,
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

void repeatUntilSteady(const std::function<void()>& step) {
  constexpr int kFirstSteps = 10;
  for (int i = 0; i < kFirstSteps; ++i) {
    step();
    finishAll();
  }
  // What steps in flight share grows with their number, and on a busy machine one step may still
  // hold some of it when the next one begins.
  for (int i = 0; i < 2 * kFirstSteps; ++i) step();
  finishAll();
}

/// Repeats a step until everything has its memory, then checks that it needs no more. Several
/// launches, and every assignment between views, are steps of their own.
void checkSteady(const std::function<void()>& step, std::size_t launchesPerStep,
                 std::size_t assignments = 0) {
  // Parts are tuned while they run, and measured for that now and then.
  const WithSettings untuned(
      [](runtime::Settings& settings) { settings.tune = runtime::TuneMode::Off; });
  repeatUntilSteady(step);
  for (int i = 0; i < 6; ++i) {
    CAPTURE(i);
    const Counts done = countsOf(step);
    CHECK(done.launches == launchesPerStep * static_cast<std::size_t>(deviceCount()));
    CHECK(done.allocations == 0);
    CHECK(done.objects == 0);
    CHECK(done.arguments == 0);
    CHECK(done.waits == 0);
    CHECK(done.mostFlushes() <= launchesPerStep + assignments);
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

/// How many numbers the arrays with explicit parts have: one to four devices get equal ones.
constexpr int kNumbers = 240;

/// Explicit subarrays of such an array, each with the neighbours' first numbers.
std::vector<Range> overlappingParts() {
  std::vector<Range> parts;
  const int share = kNumbers / deviceCount();
  for (int begin = 0; begin < kNumbers; begin += share)
    parts.emplace_back(std::max(begin - 1, 0), std::min(begin + share, kNumbers - 1));
  return parts;
}

/// Gives the first and last numbers of overlapping parts the values of their owners, by hand.
void updateByHand(const Numbers& a, const std::vector<Range>& parts) {
  for (std::size_t d = 1; d < parts.size(); ++d) {
    Numbers &lower = a(parts[d - 1]), &upper = a(parts[d]);
    const auto end = parts[d - 1].last - parts[d - 1].first;
    upper(Range(0, 0)) = lower(Range(end - 1, end - 1));
    lower(Range(end, end)) = upper(Range(1, 1));
  }
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

TEST_CASE("so do launches that the library divides, though cells move before each of them") {
  if (!devicesWaitByThemselves() || devicesShareHostMemory()) return;
  Grid a(64, 32), b(64, 32);
  a.copyFrom(someValues(64 * 32, 13).data());
  b.copyFrom(someValues(64 * 32, 14).data());
  // Kernels that pack columns are launches, too.
  const WithSettings unpacked(
      [](runtime::Settings& settings) { settings.pack = runtime::Pack::Off; });
  for (int columns = 1; columns <= 2; ++columns) {
    if (deviceCount() % columns != 0) continue;
    const Domain blocks(static_cast<std::size_t>(columns),
                        static_cast<std::size_t>(deviceCount() / columns));
    // To name devices takes memory.
    FRunner forth = eval(fivePoint).devices(deviceCount()).blocks(blocks)(b, a);
    FRunner back = eval(fivePoint).devices(deviceCount()).blocks(blocks)(a, b);
    checkSteady(
        [&] {
          forth.run();
          back.run();
        },
        2);
  }
}

TEST_CASE("steps that repeat come out right whatever happens between them") {
  const unsigned seed = 20;
  CAPTURE(seed);
  std::mt19937 random(seed);
  constexpr int kCells = kNumbers;
  const std::vector<Range> parts = overlappingParts();
  Numbers a(kCells), b(kCells);
  std::vector<int> x = someValues(kCells, 7), y = someValues(kCells, 8);
  a.copyFrom(x.data());
  b.copyFrom(y.data());
  bool updatesByHand = false;
  const auto step = [&](int ghosts) {
    eval(threePoint)(PART1(b, ghosts), PART1(a, ghosts));
    if (updatesByHand && ghosts == 1) {
      updateByHand(b, parts);
    } else {
      b.syncGhosts();
    }
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
      [&] { updateByHand(b, parts); },
      [&] { updatesByHand = !updatesByHand; },
  };
  for (int i = 0; i < 90; ++i) {
    for (int n = static_cast<int>(random() % 8); n >= 0; --n) step(1);
    disturbances[random() % std::size(disturbances)]();
    if (i % 10 != 9) continue;
    CAPTURE(i);
    REQUIRE(valuesOf(a) == x);
    REQUIRE(valuesOf(b) == y);
  }
}

TEST_CASE("explicit subarrays that repeat a step allocate nothing, too") {
  if (!devicesWaitByThemselves()) return;
  // Each device's launches are tuned for themselves, and measured for that now and then.
  const WithSettings untuned(
      [](runtime::Settings& settings) { settings.tune = runtime::TuneMode::Off; });
  Numbers a(kNumbers), b(kNumbers);
  a.copyFrom(someValues(kNumbers, 8).data());
  b.copyFrom(someValues(kNumbers, 9).data());
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

TEST_CASE("ghosts that are updated by hand allocate nothing, too") {
  if (!devicesWaitByThemselves()) return;
  const WithSettings untuned(
      [](runtime::Settings& settings) { settings.tune = runtime::TuneMode::Off; });
  Numbers a(kNumbers), b(kNumbers);
  std::vector<int> x = someValues(kNumbers, 10);
  a.copyFrom(x.data());
  b.copyFrom(x.data());
  const std::vector<Device> devices = testDevices();
  const std::vector<Range> parts = overlappingParts();
  const std::size_t assignments = 2 * parts.size();
  int steps = 0;
  const auto annotated = [&] {
    eval(threePoint)(PART1(b, 1), PART1(a, 1));
    updateByHand(b, parts);
    swap(a, b);
    ++steps;
  };
  const auto explicitly = [&] {
    for (std::size_t d = 0; d < parts.size(); ++d)
      eval(threePoint).device(devices[d])(b(parts[d]), a(parts[d]));
    updateByHand(b, parts);
    swap(a, b);
    ++steps;
  };
  SUBCASE("of annotated arrays") { checkSteady(annotated, 1, assignments); }
  SUBCASE("of explicit subarrays") { checkSteady(explicitly, 1, assignments); }
  SUBCASE("of both in turns") {
    for (int i = 0; i < 20; ++i) i % 5 < 3 ? annotated() : explicitly();
  }
  for (int i = 0; i < steps; ++i) x = threePointStep(x, x);
  CHECK(valuesOf(a) == x);
}

TEST_CASE("assignments between views on a device and on the host allocate nothing, too") {
  Grid a(64, 32), b(64, 32);
  a.copyFrom(someValues(64 * 32, 11).data());
  b.copyFrom(someValues(64 * 32, 12).data());
  const auto assign = [&] {
    b(Range(3, 20), Range(0, 31)) = a(Range(40, 57), Range(0, 31));
    a(Range(5, 6), Range(7, 9)) = b(Range(9, 10), Range(20, 22));
    b(Range(0, 63), Range(2, 2)) = b(Range(0, 63), Range(5, 5));
  };
  SUBCASE("on a device") {
    const Device device = testDevices().front();
    // In the host's memory either may make the assignment, whoever is idle.
    if (device.state().sharesHostMemory()) return;
    const auto step = [&] {
      eval(fivePoint).device(device)(a, b);
      eval(fivePoint).device(device)(b, a);
      assign();
    };
    repeatUntilSteady(step);
    const Counts done = countsOf(step);
    CHECK(done.launches >= 2);
    CHECK(done.allocations == 0);
    CHECK(done.objects == 0);
    CHECK(done.waits == 0);
  }
  SUBCASE("on the host") {
    repeatUntilSteady(assign);
    const Counts done = countsOf(assign);
    CHECK(done.allocations == 0);
    CHECK(done.launches == 0);
  }
  const std::vector<int> after = valuesOf(b);
  for (int row = 0; row < 64; ++row) CHECK(after[row * 32 + 2] == after[row * 32 + 5]);
}

TEST_CASE("assignments from arrays that come and go take the values of those that are there") {
  const Device device = testDevices().back();
  Numbers b(100);
  b = -5;
  for (int i = 0; i < 40; ++i) {
    // A new array often gets the memory of the one before; the pieces have other places and sizes.
    Numbers fresh(100 + i % 3);
    fresh = i;
    eval(increment).device(device)(fresh);
    eval(increment).device(device)(b);
    const int first = i % 4, last = first + 50 + i % 3;
    b(Range(first, last)) = fresh(Range(first + i % 2, last + i % 2));
    CAPTURE(i);
    REQUIRE(b(first) == i + 1);
    REQUIRE(b(last) == i + 1);
    REQUIRE(b(last + 1) != i + 1);
    b(Range(0, 99)) = -5;
  }
}

TEST_CASE("an exchange reads the ghosts of all devices before it writes any") {
  if (!devicesWaitByThemselves()) return;
  Grid a(64, 32), b(64, 32);
  a.copyFrom(someValues(64 * 32, 13).data());
  b.copyFrom(someValues(64 * 32, 14).data());
  const auto step = [&] {
    eval(fivePoint)(PART1(b, 1), PART1(a, 1));
    b.syncGhosts();
    swap(a, b);
  };
  repeatUntilSteady(step);
  const Counts done = countsOf(step);
  CHECK(done.lateReads == 0);
  const bool isStaged = !ghostTransfers(a).empty() && !ghostTransfers(a).front().direct;
  CHECK((done.writes > 0) == isStaged);
}

TEST_CASE("reductions of parts allocate nothing when they repeat, and wait for nothing") {
  if (!devicesWaitByThemselves()) return;
  const WithSettings untuned(
      [](runtime::Settings& settings) { settings.tune = runtime::TuneMode::Off; });
  Numbers a(kNumbers), b(kNumbers);
  Array<long, 1> total(1);
  a.copyFrom(someValues(kNumbers, 15).data());
  b.copyFrom(someValues(kNumbers, 16).data());
  const auto launch = [&] {
    eval(copyNumbers)(PART1(b), PART1(a));
    return dot(a, b);
  };
  repeatUntilSteady([&] { launch(); });
  Counts done = countsOf([&] { launch(); });
  CHECK(done.allocations == 0);
  CHECK(done.objects == 0);
  CHECK(done.waits == 0);
  CHECK(done.launches == 2 * testDevices().size());
  // The partial results of other devices are fetched, which the engine keeps books of.
  repeatUntilSteady([&] { launch().into(total); });
  done = countsOf([&] { launch().into(total); });
  CHECK((testDevices().size() > 1 || done.allocations == 0));
  CHECK(done.objects == 0);
  CHECK(done.waits == 0);
  const std::vector<int> x = valuesOf(a), y = valuesOf(b);
  long expected = 0;
  for (std::size_t i = 0; i < x.size(); ++i) expected += static_cast<long>(x[i]) * y[i];
  CHECK(total(0) == expected);
}
