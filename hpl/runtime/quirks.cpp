// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/quirks.h"

#include <string_view>

#include "hpl/runtime/device.h"

namespace hpl::runtime {
namespace {

/// The first row whose platform is in the device's counts. Seen on the versions named.
constexpr Quirks kTable[] = {
    // PoCL 3.1.
    {.platform = "Portable Computing Language",
     .keepsPrograms = true,
     .mixesEqualPrograms = true,
     .hasLongVectors = true,
     .multipliesKernels = true},
    // Oclgrind 21.10.
    {.platform = "Oclgrind", .runsInFlush = true, .isSimulator = true},
    // Mesa 22.3.6, on llvmpipe.
    {.platform = "rusticl", .mistakesWideMasks = true, .mostIterations = 65'535},
    // Driver 580.
    {.platform = "NVIDIA CUDA", .countsRegisters = true},
};

}  // namespace

bool copiesBothWays(const DeviceProperties& properties) {
  return properties.type != CPU && !properties.hostUnifiedMemory &&
         !quirksOf(properties).isSimulator;
}

const Quirks& quirksOf(const DeviceProperties& properties) {
  static constexpr Quirks kNone;
  for (const Quirks& row : kTable)
    if (properties.platform.find(std::string_view(row.platform)) != std::string::npos) return row;
  return kNone;
}

}  // namespace hpl::runtime
