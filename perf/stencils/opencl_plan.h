// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "raw_opencl.h"
#include "stencils/workload.h"

/// Hand-written OpenCL as a list of launches.
namespace perf::stencils {

using Buffer = std::shared_ptr<std::remove_pointer_t<cl_mem>>;
using Kernel = std::shared_ptr<std::remove_pointer_t<cl_kernel>>;
using Program = std::shared_ptr<std::remove_pointer_t<cl_program>>;

/// The library's default device, through a queue of our own.
class ClDevice {
 public:
  /// Ends the process with the compiler's messages if it refuses the source.
  Program program(const std::string& source);

  Buffer buffer(std::size_t bytes);
  /// Over this memory where the device works in it.
  Buffer over(const std::shared_ptr<std::byte>& memory, std::size_t bytes);

  template <class T>
  void write(const Buffer& buffer, const std::vector<T>& values) {
    must(clEnqueueWriteBuffer(raw_.queue(), buffer.get(), CL_TRUE, 0, values.size() * sizeof(T),
                              values.data(), 0, nullptr, nullptr),
         "clEnqueueWriteBuffer");
  }

  template <class T>
  std::vector<float> read(const Buffer& buffer, std::size_t count) {
    std::vector<T> values(count);
    must(clEnqueueReadBuffer(raw_.queue(), buffer.get(), CL_TRUE, 0, count * sizeof(T),
                             values.data(), 0, nullptr, nullptr),
         "clEnqueueReadBuffer");
    return {values.begin(), values.end()};
  }

  /// A kernel of the program with all of its arguments. It keeps its buffers, which OpenCL does
  /// not.
  template <class... Args>
  Kernel bind(const Program& program, const char* name, const Args&... args) {
    cl_int code = CL_SUCCESS;
    std::vector<Buffer> buffers;
    (keepBuffer(buffers, args), ...);
    Kernel kernel(clCreateKernel(program.get(), name, &code),
                  [buffers = std::move(buffers)](cl_kernel handle) { clReleaseKernel(handle); });
    must(code, name);
    cl_uint index = 0;
    (setArgument(kernel.get(), index++, args), ...);
    return kernel;
  }

  void launch(const Kernel& kernel, const std::vector<std::size_t>& global,
              const std::vector<std::size_t>& local);
  void finish() { raw_.finish(); }
  bool isCpu() { return raw_.isCpu(); }

 private:
  template <class T>
  static void keepBuffer(std::vector<Buffer>& buffers, const T& value) {
    if constexpr (std::is_same_v<T, Buffer>) buffers.push_back(value);
  }

  template <class T>
  static void setArgument(cl_kernel kernel, cl_uint index, const T& value) {
    if constexpr (std::is_same_v<T, Buffer>) {
      Raw::set(kernel, index, value.get());
    } else {
      Raw::set(kernel, index, value);
    }
  }

  Raw raw_;
};

using Device = std::shared_ptr<ClDevice>;

struct Launch {
  Kernel kernel;
  std::vector<std::size_t> global, local;
};

/// The launches of the iterations, one phase after the other: two where buffers change their roles.
struct Phase {
  std::vector<Launch> launches;
  Buffer result;
};

/// A contender that launches phases. `reset` writes the initial values.
Contender launchPhases(std::string name, const Device& device, std::vector<Phase> phases,
                       std::function<void()> reset,
                       std::function<std::vector<float>(const Buffer&)> read);

}  // namespace perf::stencils
