// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "hpl/array/array.h"
#include "hpl/memory/detail/host_memory.h"
#include "hpl/runtime/device_state.h"

/// The hand-written side of the benchmarks: plain OpenCL on the device and context of the library's
/// default device, with a queue of its own.
namespace perf {

inline void must(cl_int code, const char* what) {
  if (code == CL_SUCCESS) return;
  std::fprintf(stderr, "%s failed with %d\n", what, code);
  std::exit(1);
}

/// Those of generated kernels, so that both sides treat numbers alike.
inline constexpr const char* kBuildOptions = "-cl-std=CL1.2 -cl-denorms-are-zero";

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
  bool isCpu() { return device_.type() == hpl::CPU; }

  cl_kernel kernel(const char* source, const char* name, const char* options = kBuildOptions) {
    cl_int code = CL_SUCCESS;
    cl_program program = clCreateProgramWithSource(context(), 1, &source, nullptr, &code);
    must(code, "clCreateProgramWithSource");
    must(clBuildProgram(program, 0, nullptr, options, nullptr, nullptr), "clBuildProgram");
    cl_kernel kernel = clCreateKernel(program, name, &code);
    must(code, "clCreateKernel");
    clReleaseProgram(program);
    return kernel;
  }

  /// A buffer over host memory where the device works in it, which begins at another place of its
  /// page than the last one, as the library's does: otherwise arrays of both would not be alike.
  cl_mem buffer(std::size_t bytes, const void* contents = nullptr) {
    cl_int code = CL_SUCCESS;
    cl_mem memory = nullptr;
    if (device_.sharesHostMemory()) {
      const auto host = hpl::memory::detail::allocatePlaced(bytes);
      if (contents != nullptr) std::memcpy(host.data, contents, bytes);
      memory = clCreateBuffer(context(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, host.data,
                              &code);
      const auto give = [](cl_mem, void* allocated) { std::free(allocated); };
      must(code, "clCreateBuffer");
      must(clSetMemObjectDestructorCallback(memory, give, host.allocated), "callback");
    } else {
      memory = clCreateBuffer(context(), CL_MEM_READ_WRITE, bytes, nullptr, &code);
      if (contents != nullptr)
        must(clEnqueueWriteBuffer(queue_, memory, CL_TRUE, 0, bytes, contents, 0, nullptr, nullptr),
             "clEnqueueWriteBuffer");
    }
    must(code, "clCreateBuffer");
    return memory;
  }

  /// A buffer over this memory where the device works in it, so that both sides meet the same pages
  /// and lines of the caches; else one with the same values. The memory must live longer.
  cl_mem over(void* data, std::size_t bytes) {
    if (!device_.sharesHostMemory()) return buffer(bytes, data);
    cl_int code = CL_SUCCESS;
    cl_mem memory =
        clCreateBuffer(context(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, data, &code);
    must(code, "clCreateBuffer");
    return memory;
  }
  template <class T, int N>
  cl_mem over(hpl::Array<T, N>& array) {
    return over(array.data(), array.size() * sizeof(T));
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
