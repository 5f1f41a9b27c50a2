// SPDX-License-Identifier: Apache-2.0
#include "counting.h"

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstdlib>
#include <new>

#include "hpl/memory/detail/box_kernels.h"
#include "hpl/runtime/device_state.h"
#include "support.h"

using namespace hpl;

namespace ghosts_tests {

thread_local Counts* counts = nullptr;

}  // namespace ghosts_tests

using ghosts_tests::counts;
using ghosts_tests::Counts;

namespace {

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
  HPL_TEST_COUNT(transfers);
  if (counts != nullptr) counts->read();
  HPL_TEST_BEHIND(clEnqueueReadBuffer, queue, buffer, blocking, offset, size, host, count, waits,
                  event);
}
cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                            size_t size, const void* host, cl_uint count, const cl_event* waits,
                            cl_event* event) {
  HPL_TEST_COUNT(transfers);
  HPL_TEST_COUNT(writes);
  HPL_TEST_BEHIND(clEnqueueWriteBuffer, queue, buffer, blocking, offset, size, host, count, waits,
                  event);
}
cl_int clEnqueueReadBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                               const size_t* bufferOrigin, const size_t* hostOrigin,
                               const size_t* region, size_t bufferRow, size_t bufferSlice,
                               size_t hostRow, size_t hostSlice, void* host, cl_uint count,
                               const cl_event* waits, cl_event* event) {
  HPL_TEST_COUNT(transfers);
  HPL_TEST_BEHIND(clEnqueueReadBufferRect, queue, buffer, blocking, bufferOrigin, hostOrigin,
                  region, bufferRow, bufferSlice, hostRow, hostSlice, host, count, waits, event);
}
cl_int clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                const size_t* bufferOrigin, const size_t* hostOrigin,
                                const size_t* region, size_t bufferRow, size_t bufferSlice,
                                size_t hostRow, size_t hostSlice, const void* host, cl_uint count,
                                const cl_event* waits, cl_event* event) {
  HPL_TEST_COUNT(transfers);
  HPL_TEST_BEHIND(clEnqueueWriteBufferRect, queue, buffer, blocking, bufferOrigin, hostOrigin,
                  region, bufferRow, bufferSlice, hostRow, hostSlice, host, count, waits, event);
}
cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem src, cl_mem dst, size_t srcOffset,
                           size_t dstOffset, size_t size, cl_uint count, const cl_event* waits,
                           cl_event* event) {
  HPL_TEST_COUNT(transfers);
  HPL_TEST_BEHIND(clEnqueueCopyBuffer, queue, src, dst, srcOffset, dstOffset, size, count, waits,
                  event);
}
cl_int clEnqueueCopyBufferRect(cl_command_queue queue, cl_mem src, cl_mem dst,
                               const size_t* srcOrigin, const size_t* dstOrigin,
                               const size_t* region, size_t srcRow, size_t srcSlice, size_t dstRow,
                               size_t dstSlice, cl_uint count, const cl_event* waits,
                               cl_event* event) {
  HPL_TEST_COUNT(transfers);
  HPL_TEST_BEHIND(clEnqueueCopyBufferRect, queue, src, dst, srcOrigin, dstOrigin, region, srcRow,
                  srcSlice, dstRow, dstSlice, count, waits, event);
}
cl_int clEnqueueNativeKernel(cl_command_queue queue, void(CL_CALLBACK* function)(void*),
                             void* block, size_t size, cl_uint buffers, const cl_mem* list,
                             const void** places, cl_uint count, const cl_event* waits,
                             cl_event* event) {
  HPL_TEST_COUNT(transfers);
  HPL_TEST_BEHIND(clEnqueueNativeKernel, queue, function, block, size, buffers, list, places, count,
                  waits, event);
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

namespace ghosts_tests {

void finishAll() {
  for (const Device& device : testDevices()) device.sync();
}

void repeatUntilSteady(const std::function<void()>& step) {
  constexpr int kFirstSteps = 10;
  for (int i = 0; i < kFirstSteps; ++i) {
    step();
    finishAll();
  }
  // Structures of steps in flight grow with their number, and on a busy machine one step may still
  // hold some of them when the next one begins.
  for (int i = 0; i < 2 * kFirstSteps; ++i) step();
  finishAll();
}

void checkSteady(const std::function<void()>& step, std::size_t launchesPerStep,
                 std::size_t assignments) {
  // Parts are tuned while they run, and measured for that now and then.
  const WithSettings untuned(
      [](runtime::Settings& settings) { settings.tune = runtime::TuneMode::Off; });
  const std::vector<Device> devices = testDevices();
  // Their kernels are launches, too, with arguments of their own.
  const bool packs = std::any_of(devices.begin(), devices.end(), [](const Device& device) {
    return memory::detail::usesBoxKernels(device.state());
  });
  repeatUntilSteady(step);
  for (int i = 0; i < 6; ++i) {
    CAPTURE(i);
    const Counts done = countsOf(step);
    const std::size_t launches = launchesPerStep * static_cast<std::size_t>(deviceCount());
    CHECK(done.launches >= launches);
    if (!packs) CHECK(done.launches == launches);
    CHECK(done.allocations == 0);
    CHECK(done.objects == 0);
    if (!packs) CHECK(done.arguments == 0);
    CHECK(done.waits == 0);
    CHECK(done.mostFlushes() <= launchesPerStep + assignments);
    finishAll();
  }
}

bool devicesWaitByThemselves() {
  const std::vector<Device> devices = testDevices();
  return std::all_of(devices.begin(), devices.end(), [&](const Device& device) {
    return device.state().sharesContextWith(devices.front().state()) ||
           device.state().honoursUserEvents();
  });
}

}  // namespace ghosts_tests
