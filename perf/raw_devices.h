// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "raw_opencl.h"

namespace perf {

/// The hand-written multi-device twin of a two-buffer stencil that is split by its slowest
/// dimension: plain OpenCL on the library's devices, each with a queue of its own. One step is one
/// kernel per device and one exchange of border slices with each neighbour: direct copies ordered
/// by events within a context, through the host between contexts.
class RawStencil {
 public:
  /// `slices` slices of `sliceBytes` each, `ghosts` of them mirrored on each side.
  RawStencil(std::vector<hpl::Device> devices, const char* source, const char* name,
             std::size_t slices, std::size_t sliceBytes, std::size_t ghosts = 1)
      : sliceBytes_(sliceBytes), ghosts_(ghosts) {
    const std::size_t n = devices.size();
    std::size_t at = 0;
    for (std::size_t d = 0; d < n; ++d) {
      const std::size_t core = slices / n + (d < slices % n ? 1 : 0);
      Part part;
      part.state = &devices[d].state();
      part.before = d > 0 ? ghosts : 0;
      part.after = d + 1 < n ? ghosts : 0;
      part.core = core;
      part.first = at - part.before;
      at += core;
      open(part, source, name);
      parts_.push_back(part);
    }
    staging_[0].resize(n * 2 * ghosts * sliceBytes);
    staging_[1].resize(n * 2 * ghosts * sliceBytes);
  }
  RawStencil(const RawStencil&) = delete;
  RawStencil& operator=(const RawStencil&) = delete;

  std::size_t devices() const { return parts_.size(); }
  std::size_t slicesOf(std::size_t device) const {
    return parts_[device].before + parts_[device].core + parts_[device].after;
  }
  cl_kernel kernel(std::size_t device) { return parts_[device].kernel; }

  void upload(const void* all) {
    for (Part& part : parts_) {
      const auto* from = static_cast<const char*>(all) + part.first * sliceBytes_;
      const std::size_t bytes = (part.before + part.core + part.after) * sliceBytes_;
      for (cl_mem buffer : {part.now, part.next})
        must(clEnqueueWriteBuffer(part.queue, buffer, CL_TRUE, 0, bytes, from, 0, nullptr, nullptr),
             "clEnqueueWriteBuffer");
    }
  }
  void download(void* all) {
    for (Part& part : parts_)
      must(clEnqueueReadBuffer(part.queue, part.now, CL_TRUE, part.before * sliceBytes_,
                               part.core * sliceBytes_,
                               static_cast<char*>(all) + (part.first + part.before) * sliceBytes_,
                               0, nullptr, nullptr),
           "clEnqueueReadBuffer");
  }

  /// One step: the kernel's arguments 0 and 1 are the output and the input.
  template <std::size_t N>
  void step(const std::vector<std::array<std::size_t, N>>& globals,
            const std::array<std::size_t, N>& local) {
    std::vector<cl_event> done(parts_.size());
    for (std::size_t d = 0; d < parts_.size(); ++d) {
      Part& part = parts_[d];
      Raw::set(part.kernel, 0, part.next);
      Raw::set(part.kernel, 1, part.now);
      const auto count = static_cast<cl_uint>(part.waits.size());
      must(clEnqueueNDRangeKernel(part.queue, part.kernel, N, nullptr, globals[d].data(),
                                  local.data(), count, count ? part.waits.data() : nullptr,
                                  &done[d]),
           "clEnqueueNDRangeKernel");
      for (cl_event event : part.waits) clReleaseEvent(event);
      part.waits.clear();
    }
    for (Part& part : parts_) must(clFlush(part.queue), "clFlush");
    exchange(done);
    for (cl_event event : done) clReleaseEvent(event);
    for (Part& part : parts_) std::swap(part.now, part.next);
    parity_ = 1 - parity_;
  }

  void finish() {
    for (Part& part : parts_) must(clFinish(part.queue), "clFinish");
  }

 private:
  struct Part {
    hpl::runtime::DeviceState* state = nullptr;
    cl_command_queue queue = nullptr;
    cl_kernel kernel = nullptr;
    cl_mem now = nullptr;
    cl_mem next = nullptr;
    std::size_t first = 0, before = 0, core = 0, after = 0;
    std::vector<cl_event> waits;
  };

  void open(Part& part, const char* source, const char* name) {
    cl_int code = CL_SUCCESS;
    cl_context context = part.state->context()();
    cl_device_id device = part.state->device()();
    part.queue = clCreateCommandQueue(context, device, 0, &code);
    must(code, "clCreateCommandQueue");
    cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &code);
    must(code, "clCreateProgramWithSource");
    must(clBuildProgram(program, 1, &device, kBuildOptions, nullptr, nullptr), "clBuildProgram");
    part.kernel = clCreateKernel(program, name, &code);
    must(code, "clCreateKernel");
    clReleaseProgram(program);
    const std::size_t bytes = (part.before + part.core + part.after) * sliceBytes_;
    part.now = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &code);
    must(code, "clCreateBuffer");
    part.next = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &code);
    must(code, "clCreateBuffer");
  }

  void exchange(const std::vector<cl_event>& done) {
    for (std::size_t d = 0; d + 1 < parts_.size(); ++d) {
      Part& low = parts_[d];
      Part& high = parts_[d + 1];
      const std::size_t bytes = ghosts_ * sliceBytes_;
      // The last core slices of the lower part, its upper ghosts, and the same of the upper part.
      const std::size_t lowCore = (low.before + low.core - ghosts_) * sliceBytes_;
      const std::size_t lowGhost = (low.before + low.core) * sliceBytes_;
      const std::size_t highCore = high.before * sliceBytes_;
      if (low.state->sharesContextWith(*high.state)) {
        copy(low, lowCore, high, 0, bytes, done[d]);
        copy(high, highCore, low, lowGhost, bytes, done[d + 1]);
        continue;
      }
      // The writes of the step before may still be reading theirs.
      char* up = staging_[parity_].data() + 2 * d * bytes;
      char* down = up + bytes;
      cl_event read[2];
      must(clEnqueueReadBuffer(low.queue, low.next, CL_FALSE, lowCore, bytes, up, 0, nullptr,
                               &read[0]),
           "clEnqueueReadBuffer");
      must(clEnqueueReadBuffer(high.queue, high.next, CL_FALSE, highCore, bytes, down, 0, nullptr,
                               &read[1]),
           "clEnqueueReadBuffer");
      must(clFlush(low.queue), "clFlush");
      must(clFlush(high.queue), "clFlush");
      for (cl_event& event : read) {
        must(clWaitForEvents(1, &event), "clWaitForEvents");
        clReleaseEvent(event);
      }
      must(clEnqueueWriteBuffer(high.queue, high.next, CL_FALSE, 0, bytes, up, 0, nullptr, nullptr),
           "clEnqueueWriteBuffer");
      must(clEnqueueWriteBuffer(low.queue, low.next, CL_FALSE, lowGhost, bytes, down, 0, nullptr,
                                nullptr),
           "clEnqueueWriteBuffer");
    }
  }

  // On the queue of the destination, after the kernel of the source; the next kernel of the source
  // must wait for it.
  void copy(Part& from, std::size_t fromAt, Part& to, std::size_t toAt, std::size_t bytes,
            cl_event after) {
    cl_event copied = nullptr;
    must(clEnqueueCopyBuffer(to.queue, from.next, to.next, fromAt, toAt, bytes, 1, &after, &copied),
         "clEnqueueCopyBuffer");
    from.waits.push_back(copied);
  }

  std::size_t sliceBytes_;
  std::size_t ghosts_;
  std::vector<Part> parts_;
  std::vector<char> staging_[2];
  int parity_ = 0;
};

}  // namespace perf
