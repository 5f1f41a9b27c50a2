// SPDX-License-Identifier: Apache-2.0
#include "tests/launch/planted_builds.h"

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#include <CL/cl.h>
#include <dlfcn.h>

#include <chrono>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace {

std::mutex mutex;
bool isArmed = false;
std::string forbidden;
int builtCount = 0;
int rejectedCount = 0;

std::chrono::milliseconds buildDelay{0};
std::chrono::milliseconds launchDelay{0};
bool isLaunchHeldBack = false;
cl_event heldLaunch = nullptr;

std::string sourceOf(cl_program program) {
  std::size_t size = 0;
  if (clGetProgramInfo(program, CL_PROGRAM_SOURCE, 0, nullptr, &size) != CL_SUCCESS) return {};
  std::vector<char> text(size + 1, '\0');
  clGetProgramInfo(program, CL_PROGRAM_SOURCE, size, text.data(), nullptr);
  return text.data();
}

bool isRejected(cl_program program) {
  const std::lock_guard lock(mutex);
  if (!isArmed) return false;
  ++builtCount;
  if (sourceOf(program).find(forbidden) == std::string::npos) return false;
  ++rejectedCount;
  return true;
}

std::chrono::milliseconds delayOf(const std::chrono::milliseconds& delay) {
  const std::lock_guard lock(mutex);
  return delay;
}

/// A user event that completes after `delay`; the thread owns a reference of its own.
cl_event completedAfter(std::chrono::milliseconds delay, cl_command_queue queue) {
  cl_context context = nullptr;
  clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(cl_context), &context, nullptr);
  const cl_event event = clCreateUserEvent(context, nullptr);
  clRetainEvent(event);
  std::thread([=] {
    std::this_thread::sleep_for(delay);
    clSetUserEventStatus(event, CL_COMPLETE);
    clReleaseEvent(event);
  }).detach();
  return event;
}

/// True for the first launch after SlowCompilations was told to hold one back.
bool takesHeldLaunch() {
  const std::lock_guard lock(mutex);
  return std::exchange(isLaunchHeldBack, false);
}

}  // namespace

// The program's own function of this name comes before the library's.
extern "C" cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id* devices,
                                 const char* options, void (*notify)(cl_program, void*),
                                 void* data) {
  static const auto behind =
      reinterpret_cast<decltype(&clBuildProgram)>(dlsym(RTLD_NEXT, "clBuildProgram"));
  std::this_thread::sleep_for(delayOf(buildDelay));
  if (isRejected(program)) return CL_BUILD_PROGRAM_FAILURE;
  return behind(program, count, devices, options, notify, data);
}

// A driver that compiles at the first launch begins the kernel later than it could.
extern "C" cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                                         const size_t* offset, const size_t* global,
                                         const size_t* local, cl_uint count, const cl_event* waits,
                                         cl_event* event) {
  static const auto behind = reinterpret_cast<decltype(&clEnqueueNDRangeKernel)>(
      dlsym(RTLD_NEXT, "clEnqueueNDRangeKernel"));
  if (!takesHeldLaunch())
    return behind(queue, kernel, dims, offset, global, local, count, waits, event);
  std::vector<cl_event> all(waits, waits + count);
  const cl_event compiled = completedAfter(delayOf(launchDelay), queue);
  all.push_back(compiled);
  const cl_int code =
      behind(queue, kernel, dims, offset, global, local, count + 1, all.data(), event);
  clReleaseEvent(compiled);
  const std::lock_guard lock(mutex);
  heldLaunch = event != nullptr ? *event : nullptr;
  return code;
}

// PoCL says of a kernel that waits for an event that it is queued, and of one that it compiles that
// it is submitted.
extern "C" cl_int clGetEventInfo(cl_event event, cl_event_info name, size_t size, void* value,
                                 size_t* valueSize) {
  static const auto behind =
      reinterpret_cast<decltype(&clGetEventInfo)>(dlsym(RTLD_NEXT, "clGetEventInfo"));
  const cl_int code = behind(event, name, size, value, valueSize);
  if (code != CL_SUCCESS || name != CL_EVENT_COMMAND_EXECUTION_STATUS || value == nullptr)
    return code;
  const std::lock_guard lock(mutex);
  auto* const status = static_cast<cl_int*>(value);
  if (event == heldLaunch && *status == CL_QUEUED) *status = CL_SUBMITTED;
  return code;
}

namespace hpl::test {

SlowCompilations::SlowCompilations(std::chrono::milliseconds build,
                                   std::chrono::milliseconds firstLaunch) {
  const std::lock_guard lock(mutex);
  buildDelay = build;
  launchDelay = firstLaunch;
  isLaunchHeldBack = firstLaunch.count() > 0;
}

SlowCompilations::~SlowCompilations() {
  const std::lock_guard lock(mutex);
  buildDelay = launchDelay = {};
  isLaunchHeldBack = false;
  heldLaunch = nullptr;
}

FailingBuilds::FailingBuilds(std::string text) {
  const std::lock_guard lock(mutex);
  isArmed = true;
  forbidden = std::move(text);
  builtCount = rejectedCount = 0;
}

FailingBuilds::~FailingBuilds() {
  const std::lock_guard lock(mutex);
  isArmed = false;
}

int FailingBuilds::builds() {
  const std::lock_guard lock(mutex);
  return builtCount;
}
int FailingBuilds::rejected() {
  const std::lock_guard lock(mutex);
  return rejectedCount;
}

}  // namespace hpl::test
