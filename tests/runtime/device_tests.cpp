// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/device.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "devices_for_tests.h"
#include "hpl/error.h"
#include "hpl/runtime/program.h"
#include "hpl/runtime/runtime.h"
#include "hpl/runtime/settings.h"
#include "tests/messages.h"
#include "tests/printed.h"

namespace device_tests {

using namespace hpl;
using namespace hpl::runtime;

namespace {

using hpl_tests::contains;

std::string deviceFailure(const std::string& list) {
  try {
    openDevices(list);
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "(accepted)";
}

/// Settings for the length of a scope.
struct WithSettings {
  Settings before = settings();
  explicit WithSettings(void (*change)(Settings&)) {
    Settings changed = before;
    change(changed);
    overrideSettings(changed);
  }
  ~WithSettings() { overrideSettings(before); }
};

}  // namespace

TEST_CASE("the devices are numbered in order and counted by type") {
  const auto all = devices();
  REQUIRE_FALSE(all.empty());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(all[i].id() == static_cast<int>(i));
    CHECK(all[i] == Device(ANY, static_cast<int>(i)));
  }
  CHECK(getDeviceNumber() == static_cast<int>(all.size()));
  CHECK(getDeviceNumber(GPU) + getDeviceNumber(CPU) + getDeviceNumber(ACCELERATOR) ==
        getDeviceNumber(ANY));
}

TEST_CASE("every device describes itself") {
  for (const Device& device : devices()) {
    const DeviceProperties p = device.getProperties();
    CAPTURE(p.name);
    CHECK_FALSE(p.name.empty());
    CHECK(p.name == device.name());
    CHECK_FALSE(p.platform.empty());
    CHECK_FALSE(p.driverVersion.empty());
    CHECK(p.openclVersion.starts_with("OpenCL "));
    CHECK(p.type == device.type());
    CHECK(p.type != ANY);
    CHECK(p.globalMemory > 0);
    CHECK(p.maxAllocation > 0);
    CHECK(p.maxAllocation <= p.globalMemory);
    CHECK(p.localMemory >= 16384);
    CHECK(p.maxWorkGroupSize > 0);
    CHECK(p.maxWorkItemSizes[0] > 0);
    CHECK(p.computeUnits > 0);
    CHECK(p.addressAlignBits >= 128);
    if (p.type != CPU) CHECK_FALSE(p.sharesHostMemory);
  }
}

TEST_CASE("the default device is a GPU, else an accelerator, else a CPU") {
  const Device device = defaultDevice();
  CHECK(device == Device());
  if (getDeviceNumber(GPU) > 0) {
    CHECK(device == Device(GPU, 0));
  } else if (getDeviceNumber(ACCELERATOR) > 0) {
    CHECK(device == Device(ACCELERATOR, 0));
  } else {
    CHECK(device == Device(CPU, 0));
  }
}

TEST_CASE("a device can be named by its platform's number or part of its name") {
  const Device first(ANY, 0);
  CHECK(Device(0, ANY, 0) == first);
  const std::string platform = first.getProperties().platform;
  CHECK(Device(platform, ANY, 0) == first);
  CHECK(Device(platform.substr(1, 4), first.type(), 0) == first);
}

TEST_CASE("a device that does not exist is reported with those that do") {
  const auto check = [](auto make, const std::string& start) {
    std::string message = "(accepted)";
    try {
      make();
    } catch (const DeviceError& error) {
      message = error.what();
    }
    CAPTURE(message);
    CHECK(message.starts_with(start));
    CHECK(contains(message, "In use are:"));
    CHECK(contains(message, Device(ANY, 0).name()));
  };
  check([] { Device(ANY, 99); }, "There is no device number 99: there ");
  check([] { Device(ANY, -1); }, "There is no device number -1: there ");
  check([] { Device("nonesuch", ANY, 0); },
        "There is no device 0 of type ANY on platform \"nonesuch\": 0 found.");
  check([] { Device(77, ANY, 0); }, "There is no device 0 of type ANY on platform 77: 0 found.");
  for (const DeviceType type : {GPU, CPU, ACCELERATOR}) {
    if (getDeviceNumber(type) > 0) continue;
    check([&] { Device d(type, 0); },
          std::string("There is no device of type ") + deviceTypeName(type) + ".");
  }
}

TEST_CASE("names of device types") {
  CHECK(std::string(deviceTypeName(GPU)) == "GPU");
  CHECK(std::string(deviceTypeName(CPU)) == "CPU");
  CHECK(std::string(deviceTypeName(ACCELERATOR)) == "ACCELERATOR");
  CHECK(std::string(deviceTypeName(ANY)) == "ANY");
}

TEST_CASE("sub-devices have a queue each and one context") {
  if (Device(ANY, 0).getProperties().computeUnits < 2) return;
  std::vector<std::unique_ptr<DeviceState>> parts;
  try {
    parts = openDevices("any:0/2");
  } catch (const DeviceError& error) {
    MESSAGE("this device cannot be split: " << error.what());
    return;
  }
  REQUIRE(parts.size() == 2);
  CHECK(parts[0]->sharesContextWith(*parts[1]));
  CHECK(parts[0]->context()() == parts[1]->context()());
  CHECK(parts[0]->computeQueue()() != parts[1]->computeQueue()());
  CHECK(parts[0]->computeQueue()() != parts[0]->transferQueue()());
  CHECK(parts[0]->samePhysicalDeviceAs(*parts[1]));
  CHECK(parts[0]->properties().isSubDevice);
  CHECK_FALSE(parts[0]->properties().isVirtualDevice);
  CHECK(contains(parts[0]->name(), "[part 1/2]"));
  CHECK(contains(parts[1]->name(), "[part 2/2]"));
  const auto whole = openDevices("any:0");
  CHECK(parts[0]->properties().computeUnits + parts[1]->properties().computeUnits ==
        whole[0]->properties().computeUnits);
}

TEST_CASE("virtual devices have a context each") {
  const auto copies = openDevices("any:0*3");
  REQUIRE(copies.size() == 3);
  std::set<cl_context> contexts;
  for (const auto& copy : copies) {
    contexts.insert(copy->context()());
    CHECK(copy->properties().isVirtualDevice);
    CHECK(copy->samePhysicalDeviceAs(*copies[0]));
  }
  CHECK(contexts.size() == 3);
  CHECK_FALSE(copies[0]->sharesContextWith(*copies[1]));
  CHECK(contains(copies[2]->name(), "#2 "));
  CHECK(contains(copies[2]->name(), "[copy 3/3]"));
}

TEST_CASE("all virtual devices run kernels") {
  const auto copies = openDevices("any:0*2");
  for (const auto& copy : copies) {
    const auto program = buildProgram(
        *copy, "twice", "kernel void twice(global int* a) { a[get_global_id(0)] *= 2; }");
    std::vector<int> data(64, 21);
    cl::Buffer buffer(copy->context(), CL_MEM_READ_WRITE, data.size() * sizeof(int));
    copy->transferQueue().enqueueWriteBuffer(buffer, CL_TRUE, 0, data.size() * sizeof(int),
                                             data.data());
    cl::Kernel kernel = program->createKernel();
    kernel.setArg(0, buffer);
    copy->computeQueue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(64));
    copy->finish();
    copy->transferQueue().enqueueReadBuffer(buffer, CL_TRUE, 0, data.size() * sizeof(int),
                                            data.data());
    CHECK(std::ranges::count(data, 42) == 64);
  }
}

TEST_CASE("a list of devices opens what each entry names, again if named again") {
  const auto found = openDevices("any:0,any:0");
  REQUIRE(found.size() == 2);
  CHECK(found[0]->index() == 0);
  CHECK(found[1]->index() == 1);
  CHECK_FALSE(found[0]->sharesContextWith(*found[1]));
  CHECK(found[0]->platformIndex() == found[1]->platformIndex());
}

TEST_CASE("a device list that names nothing is reported with what there is") {
  for (const char* list : {"nonesuch", "gpux:0"}) {
    const std::string message = deviceFailure(list);
    CAPTURE(message);
    CHECK(message.starts_with(std::string("HPL_DEVICES: nothing matches \"") + list + "\". "));
    CHECK(contains(message, "Available are:\n"));
    CHECK(contains(message, Device(ANY, 0).getProperties().platform));
  }
  const std::string message = deviceFailure("any:99");
  CAPTURE(message);
  CHECK(
      message.starts_with("HPL_DEVICES: \"any:99\" asks for device number 99, but \"any\" names "));
}

TEST_CASE("a device that cannot be split so far is reported with the alternative") {
  const std::string message = deviceFailure("any:0/9999");
  CAPTURE(message);
  CHECK(contains(message, "\"any:0/9999\" cannot split"));
  CHECK(contains(message, "into 9999 sub-devices: it has "));
  CHECK(contains(message, "\"any*9999\" opens it 9999 times instead"));
}

TEST_CASE("memory is booked up to the limit and not beyond, by any number of threads") {
  const WithSettings limited([](Settings& s) { s.deviceMemory = 1000; });
  const auto found = openDevices("any:0");
  DeviceState& state = *found[0];
  CHECK(state.memoryLimit() == 1000);
  CHECK(state.maxAllocation() == 1000);
  CHECK(state.reserve(1000));
  CHECK_FALSE(state.reserve(1));
  CHECK(state.memoryUsed() == 1000);
  state.release(1000);
  CHECK_FALSE(state.reserve(1001));
  CHECK_FALSE(state.reserve(static_cast<std::size_t>(-1)));
  CHECK(state.memoryUsed() == 0);
  std::atomic<int> booked{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) booked += state.reserve(1);
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(booked == 1000);
  CHECK(state.memoryUsed() == 1000);
  state.setMemoryLimit(2000);
  CHECK(state.reserve(1000));
}

TEST_CASE("without HPL_DEVICE_MEMORY the limit is the device's memory") {
  const WithSettings unlimited([](Settings& s) { s.deviceMemory = 0; });
  const auto found = openDevices("any:0");
  CHECK(found[0]->memoryLimit() == found[0]->properties().globalMemory);
  CHECK(found[0]->maxAllocation() == found[0]->properties().maxAllocation);
}

TEST_CASE("a device that claims to share host memory lets kernels write there without a map") {
  for (const auto& state : openDevices()) {
    CAPTURE(state->name());
    if (!state->sharesHostMemory()) {
      MESSAGE(state->name() << " does not share host memory");
      continue;
    }
    struct alignas(2 * DeviceState::hostAlignment) Memory {
      char margin[DeviceState::hostAlignment];
      int data[1024];
    } memory;
    for (int i = 0; i < 1024; ++i) memory.data[i] = i;
    cl::Buffer buffer(state->context(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, sizeof memory.data,
                      memory.data);
    const auto program =
        buildProgram(*state, "inc", "kernel void inc(global int* a) { a[get_global_id(0)] += 7; }");
    cl::Kernel kernel = program->createKernel();
    kernel.setArg(0, buffer);
    for (int round = 1; round <= 2; ++round) {
      memory.data[5] = 1000 * round;  // seen by the kernel without any transfer
      state->computeQueue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1024));
      state->finish();
      CHECK(memory.data[5] == 1000 * round + 7);
      CHECK(memory.data[1023] == 1023 + 7 * round);
    }
  }
}

TEST_CASE("HPL_ZERO_COPY decides, but not that memory of a device's own is the host's") {
  {
    const WithSettings on([](Settings& s) { s.zeroCopy = ZeroCopy::On; });
    const auto found = openDevices("any:0");
    const DeviceProperties& properties = found[0]->properties();
    const bool hasOwn = properties.type != CPU && !properties.hostUnifiedMemory;
    bool shares = false;
    const std::string said = hpl_tests::printed([&] { shares = found[0]->sharesHostMemory(); });
    CHECK(shares == !hasOwn);
    CHECK((said.find("HPL_ZERO_COPY=on: device ") != std::string::npos) == hasOwn);
  }
  {
    const WithSettings off([](Settings& s) { s.zeroCopy = ZeroCopy::Off; });
    const auto found = openDevices("any:0");
    CHECK_FALSE(found[0]->sharesHostMemory());
    CHECK_FALSE(Device(*found[0]).getProperties().sharesHostMemory);
  }
}

TEST_CASE("devices open at first use, once, from several threads") {
  const auto found = openDevices("any:0");
  DeviceState& state = *found[0];
  CHECK_FALSE(state.isOpen());
  state.finish();  // nothing to wait for
  state.flush();
  CHECK_FALSE(state.isOpen());
  std::vector<cl_command_queue> queues(4);
  std::vector<std::thread> threads;
  for (auto& queue : queues) threads.emplace_back([&] { queue = state.computeQueue()(); });
  for (auto& thread : threads) thread.join();
  CHECK(state.isOpen());
  CHECK(std::ranges::count(queues, queues[0]) == 4);
  state.flush();
  Device(state).sync();
  state.close();
  CHECK_FALSE(state.isOpen());
}

TEST_CASE("states are told apart by serial number") {
  const auto first = openDevices("any:0");
  const auto second = openDevices("any:0");
  CHECK(first[0]->serial() != second[0]->serial());
}

}  // namespace device_tests
