// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/box_kernels.h"

#include <algorithm>

#include "hpl/error.h"
#include "hpl/memory/detail/unit_kernels.h"
#include "hpl/runtime/runtime.h"
#include "hpl/runtime/settings.h"

namespace hpl::memory::detail {

namespace {

using geometry::RectCopy;
using runtime::Concern;
using runtime::DeviceState;

// A work-item copies one unit: it looks for the box that the unit is in, and for its place there.
// In units; a row of the table is {end of the box, source, its rows and slices, target, its rows
// and slices, units per row, rows per slice}.
constexpr const char* kBoxesSource = R"(
__kernel void hpl_copy_boxes(__global const UNIT* src, __global UNIT* dst,
                             __global const ulong* table, uint boxes) {
  const ulong own = get_global_id(0);
  uint low = 0, high = boxes - 1;
  while (low < high) {
    const uint middle = (low + high) / 2;
    if (own < table[9 * middle]) high = middle; else low = middle + 1;
  }
  __global const ulong* box = table + 9 * low;
  const ulong at = own - (low == 0 ? 0 : table[9 * (low - 1)]);
  const ulong x = at % box[7], row = at / box[7];
  const ulong y = row % box[8], z = row / box[8];
  dst[box[4] + z * box[6] + y * box[5] + x] = src[box[1] + z * box[3] + y * box[2] + x];
}
)";
constexpr std::size_t kColumns = 9;

UnitKernels& boxKernels() {
  static auto& all = *new UnitKernels("hpl_copy_boxes", kBoxesSource);
  return all;
}

std::size_t unitOfAll(const std::vector<RectCopy>& boxes) {
  std::size_t unit = 8;
  for (const RectCopy& box : boxes) unit = unitOf(box, unit);
  return unit;
}

std::vector<cl_ulong> tableOf(const std::vector<RectCopy>& boxes, std::size_t unit) {
  std::vector<cl_ulong> table;
  table.reserve(kColumns * boxes.size());
  cl_ulong end = 0;
  for (const RectCopy& box : boxes) {
    const cl_ulong row = box.region[0] / unit;
    end += row * box.region[1] * box.region[2];
    for (const cl_ulong value :
         {end, cl_ulong{box.srcOffset() / unit}, cl_ulong{box.srcRowPitch / unit},
          cl_ulong{box.srcSlicePitch / unit}, cl_ulong{box.dstOffset() / unit},
          cl_ulong{box.dstRowPitch / unit}, cl_ulong{box.dstSlicePitch / unit}, row,
          cl_ulong{box.region[1]}})
      table.push_back(value);
  }
  return table;
}

}  // namespace

bool usesBoxKernels(const DeviceState& device) {
  const runtime::Pack wish = runtime::settings().pack;
  return wish == runtime::Pack::On || (wish == runtime::Pack::Auto && device.type() != CPU);
}

void BoxKernelsMaker::add(const std::vector<RectCopy>& copies, cl_mem src, cl_mem dst,
                          std::size_t at) {
  auto pair = std::find_if(pairs_.begin(), pairs_.end(),
                           [&](const Pair& known) { return known.src == src && known.dst == dst; });
  if (pair == pairs_.end()) pair = pairs_.insert(pairs_.end(), Pair{src, dst, {}});
  for (RectCopy copy : copies) {
    if (src == nullptr) copy.srcOrigin[0] += at;
    if (dst == nullptr) copy.dstOrigin[0] += at;
    pair->boxes.push_back(copy);
  }
}

BoxKernels BoxKernelsMaker::made(DeviceState& device) const {
  BoxKernels kernels;
  for (const Pair& pair : pairs_) {
    BoxKernels::Pair& made = kernels.pairs_.emplace_back();
    made.src = pair.src;
    made.dst = pair.dst;
    made.boxes = static_cast<cl_uint>(pair.boxes.size());
    made.unit = unitOfAll(pair.boxes);
    std::vector<cl_ulong> table = tableOf(pair.boxes, made.unit);
    made.units = table[table.size() - kColumns];
    const auto drop = [](cl::Buffer* buffer) {
      runtime::drop(*buffer);
      delete buffer;
    };
    made.table = std::shared_ptr<cl::Buffer>(new cl::Buffer, drop);
    runtime::guarded(&device, Concern::none(), [&] {
      *made.table = cl::Buffer(device.context(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                               table.size() * sizeof(cl_ulong), table.data());
    });
    // Compiled before a command waits for it.
    boxKernels().of(device, made.unit);
  }
  return kernels;
}

cl_int BoxKernels::enqueue(DeviceState& device, const cl::CommandQueue& queue, cl_mem message,
                           const std::vector<cl::Event>& waits, cl::Event& last,
                           bool& begun) const {
  cl_event event = nullptr;
  for (const Pair& pair : pairs_) {
    const cl_kernel kernel = boxKernels().of(device, pair.unit)();
    const cl_mem buffers[] = {pair.src != nullptr ? pair.src : message,
                              pair.dst != nullptr ? pair.dst : message, (*pair.table)()};
    for (cl_uint k = 0; k < 3; ++k)
      if (const cl_int code = clSetKernelArg(kernel, k, sizeof(cl_mem), &buffers[k]);
          code != CL_SUCCESS)
        return code;
    if (const cl_int code = clSetKernelArg(kernel, 3, sizeof pair.boxes, &pair.boxes);
        code != CL_SUCCESS)
      return code;
    const bool waitsFirst = &pair == &pairs_.front() && !waits.empty();
    const bool isLast = &pair == &pairs_.back();
    const auto attempt = [&] {
      return clEnqueueNDRangeKernel(
          queue(), kernel, 1, nullptr, &pair.units, nullptr,
          waitsFirst ? static_cast<cl_uint>(waits.size()) : 0,
          // cl::Event is a cl_event and nothing else, which the bindings themselves rely on.
          waitsFirst ? reinterpret_cast<const cl_event*>(waits.data()) : nullptr,
          isLast ? &event : nullptr);
    };
    cl_int code = attempt();
    // Once something is on its way, it is worth a second attempt.
    if (code != CL_SUCCESS && begun) code = attempt();
    if (code != CL_SUCCESS) return code;
    begun = true;
  }
  last = cl::Event(event);
  return CL_SUCCESS;
}

void clearBoxKernels() { boxKernels().clear(); }

}  // namespace hpl::memory::detail
