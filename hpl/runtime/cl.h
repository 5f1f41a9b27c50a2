// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one place that includes the OpenCL C++ bindings. The C headers are those of version 3.0, but
// nothing newer than OpenCL 1.2 is asked of a device; the bindings are limited to 1.2 because
// Debian 12's do not compile for a range of versions. Exceptions are on: no call can fail
// unnoticed, and `guarded` turns what is thrown into hpl::DeviceError.
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_ENABLE_EXCEPTIONS
// As the bindings define it, before they include the C API.
#ifndef CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#endif
#include <CL/cl.h>

namespace hpl::runtime {

/// Makes a call that returns a code, and makes it again when it fails: for calls whose failure
/// could not be made good. A driver that was short of something for a moment is forgiven.
template <class Call>
cl_int insist(Call&& call) noexcept {
  constexpr int kTimes = 3;
  cl_int code = call();
  for (int i = 1; i < kTimes && code != CL_SUCCESS; ++i) code = call();
  return code;
}

/// The code that the bindings get for a reference that was given back: they would throw, in the
/// middle of assignments and from destructors, because of an object that is not wanted any more.
inline cl_int released(cl_int) noexcept { return CL_SUCCESS; }

/// Takes a reference for the bindings.
template <class Object>
cl_int retained(cl_int (*retain)(Object), Object object) noexcept {
  return insist([&] { return retain(object); });
}

}  // namespace hpl::runtime

// The bindings count references, with no other way to the codes. NOLINTBEGIN(*-identifier-naming)
#define clReleaseCommandQueue(object) hpl::runtime::released((clReleaseCommandQueue)(object))
#define clReleaseContext(object) hpl::runtime::released((clReleaseContext)(object))
#define clReleaseDevice(object) hpl::runtime::released((clReleaseDevice)(object))
#define clReleaseEvent(object) hpl::runtime::released((clReleaseEvent)(object))
#define clReleaseKernel(object) hpl::runtime::released((clReleaseKernel)(object))
#define clReleaseMemObject(object) hpl::runtime::released((clReleaseMemObject)(object))
#define clReleaseProgram(object) hpl::runtime::released((clReleaseProgram)(object))
#define clRetainCommandQueue(object) hpl::runtime::retained(clRetainCommandQueue, object)
#define clRetainContext(object) hpl::runtime::retained(clRetainContext, object)
#define clRetainDevice(object) hpl::runtime::retained(clRetainDevice, object)
#define clRetainEvent(object) hpl::runtime::retained(clRetainEvent, object)
#define clRetainKernel(object) hpl::runtime::retained(clRetainKernel, object)
#define clRetainMemObject(object) hpl::runtime::retained(clRetainMemObject, object)
#define clRetainProgram(object) hpl::runtime::retained(clRetainProgram, object)
#include <CL/opencl.hpp>
#undef clReleaseCommandQueue
#undef clReleaseContext
#undef clReleaseDevice
#undef clReleaseEvent
#undef clReleaseKernel
#undef clReleaseMemObject
#undef clReleaseProgram
#undef clRetainCommandQueue
#undef clRetainContext
#undef clRetainDevice
#undef clRetainEvent
#undef clRetainKernel
#undef clRetainMemObject
#undef clRetainProgram  // NOLINTEND(*-identifier-naming)

#include <string>
#include <string_view>
#include <utility>

namespace hpl::runtime {

class DeviceState;

/// The subject of a driver call, for the message of a failure: `for array "height"`.
struct Concern {
  std::string_view kind;
  std::string_view name;

  /// A call that concerns no particular object.
  static constexpr Concern none() { return {}; }
  static constexpr Concern array(std::string_view label) { return {"array", label}; }
  static constexpr Concern kernel(std::string_view name) { return {"kernel", name}; }
};

/// The symbolic name of an OpenCL error, e.g. "CL_INVALID_WORK_GROUP_SIZE" for -54.
std::string errorName(cl_int code);

/// One sentence on what usually causes `code` and what to do; empty when there is nothing to say.
std::string_view errorAdvice(cl_int code);

/// Throws DeviceError: `call failed with NAME (code) on device "..." for array "...": advice`.
/// `device` may be null.
[[noreturn]] void throwDeviceError(cl_int code, std::string_view call, const DeviceState* device,
                                   Concern concern);

/// Throws DeviceError unless `code` is CL_SUCCESS; for calls of the C interface.
inline void check(cl_int code, std::string_view call, const DeviceState* device = nullptr,
                  Concern concern = Concern::none()) {
  if (code != CL_SUCCESS) [[unlikely]]
    throwDeviceError(code, call, device, concern);
}

/// Submits the commands that a queue holds. Without it, a wait for one of them may never end.
inline cl_int flushed(const cl::CommandQueue& queue) noexcept {
  return insist([&] { return clFlush(queue()); });
}
/// Waits for all that a queue holds. Memory may be given back only after that.
inline cl_int finished(const cl::CommandQueue& queue) noexcept {
  return insist([&] { return clFinish(queue()); });
}

/// Runs `f`, which uses the C++ bindings, and turns cl::Error into DeviceError. Costs nothing when
/// nothing fails.
template <class F>
decltype(auto) guarded(const DeviceState* device, Concern concern, F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const cl::Error& error) {
    throwDeviceError(error.err(), error.what() ? error.what() : "an OpenCL call", device, concern);
  }
}

}  // namespace hpl::runtime
