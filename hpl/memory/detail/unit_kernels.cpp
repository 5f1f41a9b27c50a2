// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/unit_kernels.h"

#include <numeric>
#include <string>

#include "hpl/runtime/program.h"
#include "hpl/runtime/programs.h"

namespace hpl::memory::detail {

cl::Kernel& UnitKernels::of(runtime::DeviceState& device, std::size_t unit) {
  cl::Kernel& kernel = kernels_[{&device, unit}];
  if (kernel() == nullptr) {
    const char* type = unit == 8 ? "ulong" : unit == 4 ? "uint" : unit == 2 ? "ushort" : "uchar";
    kernel = runtime::buildProgram(device, name_, source_, std::string("-DUNIT=") + type)
                 ->createKernel();
  }
  return kernel;
}

std::size_t unitOf(const geometry::RectCopy& copy, std::size_t most) {
  for (const std::size_t bytes :
       {copy.srcOffset(), copy.dstOffset(), copy.region[0], copy.srcRowPitch, copy.srcSlicePitch,
        copy.dstRowPitch, copy.dstSlicePitch})
    most = std::gcd(most, bytes);
  return most;
}

}  // namespace hpl::memory::detail
