// SPDX-License-Identifier: Apache-2.0
// A library for LD_PRELOAD: all devices say that they are GPUs with memory of their own. What the
// library does for these then runs on any device.
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#include <CL/cl.h>
#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace {

std::atomic<std::size_t> pinnedBytes{0};

template <class Function>
Function* driversOwn(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

template <class T>
void answer(void* value, const T& said) {
  std::memcpy(value, &said, sizeof said);
}

}  // namespace

extern "C" {

/// Bytes of the buffers so far that a driver was asked to page-lock.
std::size_t hplDisguisePinnedBytes() { return pinnedBytes.load(); }

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, std::size_t size, void* value,
                       std::size_t* needed) {
  static auto* const own = driversOwn<decltype(clGetDeviceInfo)>("clGetDeviceInfo");
  const cl_int code = own(device, what, size, value, needed);
  if (code != CL_SUCCESS || value == nullptr) return code;
  if (what == CL_DEVICE_TYPE) answer(value, cl_device_type{CL_DEVICE_TYPE_GPU});
  if (what == CL_DEVICE_HOST_UNIFIED_MEMORY) answer(value, cl_bool{CL_FALSE});
  return code;
}

/// HPL_DISGUISE_EVENTS=complete: user events do not fail, as NVIDIA's: they have completed.
cl_int clSetUserEventStatus(cl_event event, cl_int status) {
  static auto* const own = driversOwn<decltype(clSetUserEventStatus)>("clSetUserEventStatus");
  static const bool complete = std::getenv("HPL_DISGUISE_EVENTS") != nullptr;
  return own(event, complete && status < 0 ? CL_COMPLETE : status);
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, std::size_t size, void* host,
                      cl_int* code) {
  static auto* const own = driversOwn<decltype(clCreateBuffer)>("clCreateBuffer");
  if ((flags & CL_MEM_ALLOC_HOST_PTR) != 0) pinnedBytes += size;
  return own(context, flags, size, host, code);
}
}
