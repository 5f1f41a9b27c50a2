// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/quirks.h"

#include <doctest/doctest.h>

#include "hpl/runtime/device.h"

namespace quirks_tests {

using namespace hpl;
using namespace hpl::runtime;

namespace {

const Quirks& quirksOfPlatform(const char* platform) {
  DeviceProperties properties;
  properties.platform = platform;
  return quirksOf(properties);
}

}  // namespace

TEST_CASE("each known driver has its quirks") {
  const Quirks& pocl = quirksOfPlatform("Portable Computing Language");
  CHECK(pocl.keepsPrograms);
  CHECK(pocl.mixesEqualPrograms);
  CHECK(pocl.hasLongVectors);
  CHECK_FALSE(pocl.isSimulator);
  const Quirks& oclgrind = quirksOfPlatform("Oclgrind");
  CHECK(oclgrind.runsInFlush);
  CHECK(oclgrind.isSimulator);
  CHECK_FALSE(oclgrind.keepsPrograms);
  CHECK(quirksOfPlatform("rusticl").mostIterations == 65535);
}

TEST_CASE("drivers that nobody knows are taken to do what OpenCL says") {
  for (const char* platform : {"NVIDIA CUDA", "Intel(R) OpenCL HD Graphics", ""}) {
    CAPTURE(platform);
    const Quirks& none = quirksOfPlatform(platform);
    CHECK_FALSE(none.keepsPrograms);
    CHECK_FALSE(none.mixesEqualPrograms);
    CHECK_FALSE(none.hasLongVectors);
    CHECK_FALSE(none.runsInFlush);
    CHECK_FALSE(none.isSimulator);
    CHECK(none.mostIterations == 0);
  }
}

TEST_CASE("devices with memory of their own copy both ways at once") {
  DeviceProperties gpu;
  gpu.type = GPU;
  CHECK(copiesBothWays(gpu));
  DeviceProperties integrated = gpu;
  integrated.hostUnifiedMemory = true;
  CHECK_FALSE(copiesBothWays(integrated));
  DeviceProperties cpu;
  cpu.type = CPU;
  CHECK_FALSE(copiesBothWays(cpu));
  DeviceProperties simulated = gpu;
  simulated.platform = "Oclgrind";
  CHECK_FALSE(copiesBothWays(simulated));
}

TEST_CASE("the devices of this machine have the quirks of their platforms") {
  for (const Device& device : devices()) {
    const DeviceProperties properties = device.getProperties();
    const bool isPocl = properties.platform == "Portable Computing Language";
    CHECK(quirksOf(properties).keepsPrograms == isPocl);
  }
}

}  // namespace quirks_tests
