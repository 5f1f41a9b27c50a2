// SPDX-License-Identifier: Apache-2.0
// What a whole process sees: no platform, several vendors, the end of the program.
#include <doctest/doctest.h>

#include <cstdio>
#include <string>

#include "devices_for_tests.h"
#include "hpl/error.h"
#include "hpl/runtime/device.h"
#include "hpl/runtime/program.h"
#include "hpl/runtime/runtime.h"
#include "tests/messages.h"

namespace process_tests {

using namespace hpl;
using namespace hpl::runtime;

namespace {

using hpl_tests::contains;

/// Doubles one cell on a device, and keeps the objects it used in `keep`.
struct Objects {
  cl::Buffer buffer;
  cl::Kernel kernel;
  ~Objects() {
    drop(kernel);
    drop(buffer);
  }
};

int doubled(DeviceState& state, int value, Objects& keep) {
  const auto program =
      buildProgram(state, "twice", "kernel void twice(global int* a) { *a *= 2; }\n");
  keep.buffer = cl::Buffer(state.context(), CL_MEM_READ_WRITE, sizeof value);
  keep.kernel = program->createKernel();
  keep.kernel.setArg(0, keep.buffer);
  state.transferQueue().enqueueWriteBuffer(keep.buffer, CL_TRUE, 0, sizeof value, &value);
  state.computeQueue().enqueueNDRangeKernel(keep.kernel, cl::NullRange, cl::NDRange(1));
  state.finish();
  state.transferQueue().enqueueReadBuffer(keep.buffer, CL_TRUE, 0, sizeof value, &value);
  return value;
}

/// OpenCL objects that die after main, before or after the runtime's exit handler.
Objects& staticObjects() {
  static Objects objects;
  return objects;
}

int exitHookResult = 0;

}  // namespace

TEST_CASE("child: looks for devices" * doctest::skip()) {
  std::printf("GPUs %d, all %d\n", getDeviceNumber(GPU), getDeviceNumber());
  try {
    defaultDevice();
    std::printf("there is a default device\n");
  } catch (const DeviceError& error) {
    std::printf("default: %s\n", error.what());
  }
  try {
    Device device(GPU, 0);
  } catch (const DeviceError& error) {
    std::printf("GPU 0: %s\n", error.what());
  }
}

TEST_CASE("child: uses every device" * doctest::skip()) {
  staticObjects();  // made first, so that it dies last
  for (const Device& device : devices()) {
    Objects objects;
    std::printf("%s: 2 * 21 = %d\n", device.getProperties().platform.c_str(),
                doubled(device.state(), 21, objects));
    doubled(device.state(), 1, staticObjects());
  }
}

TEST_CASE("child: uses a device in an exit hook" * doctest::skip()) {
  Runtime::atShutdown([] {
    Objects objects;
    exitHookResult = doubled(Runtime::get().defaultDevice(), 4, objects);
    std::printf("second hook: %d\n", exitHookResult);
  });
  Runtime::atShutdown([] {
    std::printf("first hook\n");
    throw Error("out of luck");
  });
  Objects objects;
  std::printf("main: %d\n", doubled(Runtime::get().defaultDevice(), 3, objects));
}

TEST_CASE("child: uses a device after the end" * doctest::skip()) {
  DeviceState& state = Runtime::get().defaultDevice();
  state.computeQueue();
  Runtime::shutDown();
  Runtime::shutDown();
  std::printf("shut down: %d\n", static_cast<int>(Runtime::isShutDown()));
  try {
    state.computeQueue();
  } catch (const DeviceError& error) {
    std::printf("%s\n", error.what());
  }
}

TEST_CASE("without any OpenCL platform there are 0 devices, and advice where one is needed") {
  const subprocess::TemporaryFolder empty;
  const auto result = subprocess::run(
      "child: looks for devices", "OCL_ICD_VENDORS=" + empty.path().string() + "/ HPL_DEVICES=");
  CAPTURE(result.output);
  CHECK(result.exitCode == 0);
  CHECK(contains(result.output, "GPUs 0, all 0\n"));
  for (const char* start :
       {"default: There is no device to run on. ", "GPU 0: There is no device of type GPU. "}) {
    CHECK(contains(
        result.output,
        std::string(start) + "There is no OpenCL platform on this machine. Install a driver"));
  }
  CHECK(contains(result.output, "pocl-opencl-icd"));
  CHECK(contains(result.output, "(OCL_ICD_VENDORS=" + empty.path().string() + "/ is used instead"));
}

TEST_CASE("a driver that cannot be loaded is as good as none") {
  const subprocess::TemporaryFolder folder;
  std::ofstream(folder / "broken.icd") << "libnonesuch.so.1\n";
  std::ofstream(folder / "odd.icd") << "\n";
  const auto result = subprocess::run(
      "child: looks for devices", "OCL_ICD_VENDORS=" + folder.path().string() + "/ HPL_DEVICES=");
  CAPTURE(result.output);
  CHECK(result.exitCode == 0);
  CHECK(contains(result.output, "GPUs 0, all 0\n"));
}

TEST_CASE("platforms without devices are listed, not stumbled over") {
  VendorFolder vendors({"rusticl"});
  if (vendors.count() == 0) {
    MESSAGE("rusticl is not installed");
    return;
  }
  const auto result = subprocess::run("child: looks for devices",
                                      vendors.environment() + " RUSTICL_ENABLE= HPL_DEVICES=");
  CAPTURE(result.output);
  CHECK(contains(result.output, "GPUs 0, all 0\n"));
  CHECK(contains(result.output,
                 "No platform has a device:\n  platform rusticl has no device "
                 "(RUSTICL_ENABLE=llvmpipe, or a driver's name, adds one)"));
}

TEST_CASE("a device list that matches nothing ends in an error, not in the wrong device") {
  const auto result = subprocess::run("child: looks for devices", "HPL_DEVICES=nonesuch");
  CAPTURE(result.output);
  CHECK(result.exitCode != 0);
  CHECK(contains(result.output, "HPL_DEVICES: nothing matches \"nonesuch\""));
}

// Drivers leak at the end of a process, PoCL now and then, others always. Leaks of ours are looked
// for at the end of the test programs themselves.
constexpr const char* kDriversMayLeak = " ASAN_OPTIONS=detect_leaks=0";

TEST_CASE("the devices in use are those that HPL_DEVICES names") {
  const auto result = subprocess::run(
      "child: uses every device", std::string("HPL_DEVICES='any:0*2, any:0'") + kDriversMayLeak);
  CAPTURE(result.output);
  CHECK(result.exitCode == 0);
  CHECK(subprocess::occurrences(result.output, "2 * 21 = 42") == 3);
}

TEST_CASE("several vendors work side by side and end quietly, static objects included") {
  for (const std::vector<std::string>& names : {std::vector<std::string>{"pocl"},
                                                {"rusticl"},
                                                {"oclgrind"},
                                                {"pocl", "rusticl", "oclgrind"}}) {
    VendorFolder vendors(names);
    if (vendors.count() < static_cast<int>(names.size())) continue;
    const subprocess::TemporaryFolder folder;
    for (const char* state : {"cold cache", "warm cache"}) {
      const auto result =
          subprocess::run("child: uses every device",
                          vendors.environment() + kDriversMayLeak + " HPL_DEVICES= HPL_CACHE=on " +
                              "HPL_CACHE_DIR=" + folder.path().string());
      CAPTURE(names[0]);
      CAPTURE(state);
      CAPTURE(result.output);
      CHECK(result.exitCode == 0);
      CHECK(subprocess::occurrences(result.output, "2 * 21 = 42") == vendors.count());
      CHECK_FALSE(contains(result.output, "corrupt"));
      CHECK_FALSE(contains(result.output, "pthread_"));
    }
  }
}

TEST_CASE("exit hooks run last first while devices still work, and may fail") {
  const auto result = subprocess::run("child: uses a device in an exit hook");
  CAPTURE(result.output);
  CHECK(result.exitCode == 0);
  const auto main = result.output.find("main: 6\n");
  const auto first = result.output.find("first hook\n");
  const auto second = result.output.find("second hook: 8\n");
  CHECK(main < first);
  CHECK(first < second);
  CHECK(second != std::string::npos);
  CHECK(contains(result.output, "an exit hook failed at the end of the program: out of luck"));
}

TEST_CASE("a device used after the end says so") {
  const auto result = subprocess::run("child: uses a device after the end");
  CAPTURE(result.output);
  CHECK(result.exitCode == 0);
  CHECK(contains(result.output, "shut down: 1\n"));
  CHECK(contains(result.output,
                 "is used after the end of the program: launches and transfers must "
                 "not come from destructors of static objects"));
}

}  // namespace process_tests
