// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "hpl/runtime/detail/device_state.h"

/// The hand-written side of the benchmarks: plain OpenCL on the device and context of the library's
/// default device, with a queue of its own.
namespace perf {

inline void must(cl_int code, const char* what) {
  if (code == CL_SUCCESS) return;
  std::fprintf(stderr, "%s failed with %d\n", what, code);
  std::exit(1);
}

class Raw {
 public:
  Raw() : device_(hpl::defaultDevice().state()) {
    cl_int code = CL_SUCCESS;
    queue_ = clCreateCommandQueue(context(), device_.device()(), 0, &code);
    must(code, "clCreateCommandQueue");
  }
  ~Raw() { clReleaseCommandQueue(queue_); }
  Raw(const Raw&) = delete;
  Raw& operator=(const Raw&) = delete;

  cl_context context() { return device_.context()(); }
  cl_device_id device() { return device_.device()(); }
  cl_command_queue queue() { return queue_; }
  void finish() { must(clFinish(queue_), "clFinish"); }

  cl_kernel kernel(const char* source, const char* name, const char* options = "") {
    cl_int code = CL_SUCCESS;
    cl_program program = clCreateProgramWithSource(context(), 1, &source, nullptr, &code);
    must(code, "clCreateProgramWithSource");
    must(clBuildProgram(program, 0, nullptr, options, nullptr, nullptr), "clBuildProgram");
    cl_kernel kernel = clCreateKernel(program, name, &code);
    must(code, "clCreateKernel");
    clReleaseProgram(program);
    return kernel;
  }

  /// A buffer over 128-byte aligned host memory where the device works in it, as the library does.
  cl_mem buffer(std::size_t bytes, const void* contents = nullptr) {
    cl_int code = CL_SUCCESS;
    cl_mem memory = nullptr;
    if (device_.sharesHostMemory()) {
      void* host = std::aligned_alloc(128, (bytes + 127) / 128 * 128);
      if (contents != nullptr)
        std::copy_n(static_cast<const char*>(contents), bytes, static_cast<char*>(host));
      memory =
          clCreateBuffer(context(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, host, &code);
    } else {
      memory = clCreateBuffer(context(), CL_MEM_READ_WRITE, bytes, nullptr, &code);
      if (contents != nullptr)
        must(clEnqueueWriteBuffer(queue_, memory, CL_TRUE, 0, bytes, contents, 0, nullptr, nullptr),
             "clEnqueueWriteBuffer");
    }
    must(code, "clCreateBuffer");
    return memory;
  }

  template <class T>
  static void set(cl_kernel kernel, cl_uint index, const T& value) {
    must(clSetKernelArg(kernel, index, sizeof value, &value), "clSetKernelArg");
  }

  void launch(cl_kernel kernel, std::initializer_list<std::size_t> global,
              std::initializer_list<std::size_t> local) {
    must(clEnqueueNDRangeKernel(queue_, kernel, static_cast<cl_uint>(global.size()), nullptr,
                                global.begin(), local.size() ? local.begin() : nullptr, 0, nullptr,
                                nullptr),
         "clEnqueueNDRangeKernel");
  }

 private:
  hpl::runtime::DeviceState& device_;
  cl_command_queue queue_ = nullptr;
};

}  // namespace perf
