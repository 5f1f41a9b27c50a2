// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/packing.h"

#include <bit>
#include <map>
#include <utility>

#include "hpl/error.h"
#include "hpl/memory/detail/half_done.h"
#include "hpl/memory/detail/unit_kernels.h"
#include "hpl/runtime/runtime.h"
#include "hpl/runtime/settings.h"

namespace hpl::memory::detail {

namespace {

using geometry::RectCopy;
using runtime::Concern;
using runtime::DeviceState;

constexpr const char* kRowsSource = R"(
__kernel void hpl_copy_rows(__global const UNIT* src, ulong srcAt, ulong srcRow, ulong srcSlice,
                            __global UNIT* dst, ulong dstAt, ulong dstRow, ulong dstSlice) {
  const ulong x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  dst[dstAt + z * dstSlice + y * dstRow + x] = src[srcAt + z * srcSlice + y * srcRow + x];
}
)";

// Kernels and buffers of packing on one device.
struct Packer {
  struct Dense {
    cl::Buffer buffer;
    std::size_t bytes = 0;
  };
  Dense in, out;  // by the queue whose commands use it
};

std::map<const DeviceState*, Packer>& packers() {
  static auto* all = new std::map<const DeviceState*, Packer>;
  return *all;
}

UnitKernels& rowKernels() {
  static auto& all = *new UnitKernels("hpl_copy_rows", kRowsSource);
  return all;
}

void setArguments(cl::Kernel& kernel, const cl::Buffer& src, const cl::Buffer& dst,
                  const RectCopy& copy, std::size_t unit) {
  kernel.setArg(0, src);
  kernel.setArg(1, static_cast<cl_ulong>(copy.srcOffset() / unit));
  kernel.setArg(2, static_cast<cl_ulong>(copy.srcRowPitch / unit));
  kernel.setArg(3, static_cast<cl_ulong>(copy.srcSlicePitch / unit));
  kernel.setArg(4, dst);
  kernel.setArg(5, static_cast<cl_ulong>(copy.dstOffset() / unit));
  kernel.setArg(6, static_cast<cl_ulong>(copy.dstRowPitch / unit));
  kernel.setArg(7, static_cast<cl_ulong>(copy.dstSlicePitch / unit));
}

// Once something was enqueued, it is worth a second attempt.
template <class Enqueue>
void enqueueTwice(Enqueue&& enqueue) {
  try {
    enqueue();
  } catch (const Error&) {
    enqueue();
  }
}

}  // namespace

bool shouldPack(const DeviceState& device, const std::vector<RectCopy>& copies) {
  const runtime::Pack wish = runtime::settings().pack;
  if (wish == runtime::Pack::Off) return false;
  // A CPU copies rows itself as fast as its kernels would.
  if (wish == runtime::Pack::Auto && device.type() == CPU) return false;
  constexpr std::size_t kShortRow = 512;
  constexpr std::size_t kManyRows = 16;
  for (const RectCopy& copy : copies) {
    const std::size_t rows = copy.region[1] * copy.region[2];
    if (copy.isContiguous() || copy.region[0] > kShortRow) return false;
    if (wish == runtime::Pack::Auto && rows < kManyRows) return false;
  }
  return !copies.empty();
}

cl::Event enqueueKernelCopies(DeviceState& device, const cl::CommandQueue& queue,
                              const cl::Buffer& src, const cl::Buffer& dst,
                              const std::vector<RectCopy>& copies,
                              const std::vector<cl::Event>& waits, const std::string& label,
                              Flush flush) {
  const std::vector<cl::Event> none;
  cl::Event last;
  const auto enqueue = [&](std::size_t i) {
    runtime::guarded(&device, Concern::array(label), [&] {
      const RectCopy& copy = copies[i];
      const std::size_t unit = unitOf(copy);
      cl::Kernel& kernel = rowKernels().of(device, unit);
      setArguments(kernel, src, dst, copy, unit);
      const cl::NDRange global(copy.region[0] / unit, copy.region[1], copy.region[2]);
      queue.enqueueNDRangeKernel(kernel, cl::NullRange, global, cl::NullRange,
                                 i == 0 ? &waits : &none, i + 1 == copies.size() ? &last : nullptr);
    });
  };
  enqueue(0);
  try {
    for (std::size_t i = 1; i < copies.size(); ++i) enqueueTwice([&] { enqueue(i); });
    if (flush == Flush::Now)
      runtime::check(runtime::flushed(queue), "clFlush", &device, Concern::array(label));
  } catch (const Error& error) {
    runtime::Runtime::flushAll();
    runtime::finished(queue);
    const auto* cause = dynamic_cast<const DeviceError*>(&error);
    throw HalfDoneError(cause != nullptr ? *cause : DeviceError(error.what()));
  }
  return last;
}

const cl::Buffer& packBuffer(DeviceState& device, runtime::QueueKind kind, std::size_t bytes) {
  Packer& packer = packers()[&device];
  const bool isOut = kind == runtime::QueueKind::Out && device.hasQueueOut();
  Packer::Dense& dense = isOut ? packer.out : packer.in;
  if (dense.bytes < bytes) {
    const std::size_t size = std::bit_ceil(bytes);
    runtime::guarded(&device, Concern::none(),
                     [&] { dense.buffer = cl::Buffer(device.context(), CL_MEM_READ_WRITE, size); });
    dense.bytes = size;
  }
  return dense.buffer;
}

void clearPacking() {
  packers().clear();
  rowKernels().clear();
}

}  // namespace hpl::memory::detail
