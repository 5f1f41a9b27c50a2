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
#include <CL/opencl.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace hpl::runtime {

class DeviceState;

/// What a driver call was about; appears in the message of a failure: `for array "height"`.
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
