// SPDX-License-Identifier: Apache-2.0
#include "hpl/trace/profile.h"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "device_work.h"
#include "hpl/trace/timeline.h"

namespace profile_tests {

using namespace hpl;

TEST_CASE("bytes and launches are counted even when nothing is measured") {
  trace::configure(false, "");
  trace::reset();
  CHECK_FALSE(trace::enabled());
  trace::recordTransfer(trace::Transfer::HostToDevice, 100, 0, nullptr, "a");
  trace::recordTransfer(trace::Transfer::HostToDevice, 23, 0, nullptr, "a");
  trace::recordTransfer(trace::Transfer::DeviceToHost, 7, 0, nullptr, "a");
  trace::recordTransfer(trace::Transfer::DeviceToDevice, 9, 0, nullptr, "a");
  trace::recordLaunch("k", 0, nullptr);
  trace::recordLaunch("k", 0, nullptr);
  const ProfilingData p = getProfile();
  CHECK(p.bytesHostToDevice == 123);
  CHECK(p.bytesDeviceToHost == 7);
  CHECK(p.bytesDeviceToDevice == 9);
  CHECK(p.launches == 2);
  CHECK(p.secsKernelExecution == 0);
  CHECK(getKernelProfiles().empty());
}

TEST_CASE("getProfile counts from its last call, getTotalProfile from the beginning") {
  trace::configure(false, "");
  trace::reset();
  trace::recordLaunch("k", 0, nullptr);
  CHECK(getTotalProfile().launches == 1);
  CHECK(getProfile().launches == 1);
  CHECK(getProfile().launches == 0);
  trace::recordLaunch("k", 0, nullptr);
  CHECK(getTotalProfile().launches == 2);
  CHECK(getProfile().launches == 1);
}

TEST_CASE("several threads count without loss") {
  trace::configure(false, "");
  trace::reset();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 10000; ++i) {
        trace::recordTransfer(trace::Transfer::DeviceToHost, 3, 0, nullptr, "a");
        trace::recordLaunch("k", 0, nullptr);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(getTotalProfile().bytesDeviceToHost == 120000);
  CHECK(getTotalProfile().launches == 40000);
}

TEST_CASE("host seconds are added up per kernel while measuring") {
  trace::configure(true, "");
  trace::reset();
  trace::recordKernelCreation("life", 0.25);
  trace::recordKernelCompilation("life", 0.5);
  trace::recordKernelCompilation("saxpy", 1);
  const ProfilingData p = getProfile();
  CHECK(p.secsKernelCreation == 0.25);
  CHECK(p.secsKernelCompilation == 1.5);
  const auto kernels = getKernelProfiles();
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].name == "life");
  CHECK(kernels[0].secsCreation == 0.25);
  CHECK(kernels[0].secsCompilation == 0.5);
  trace::configure(false, "");
  trace::recordKernelCreation("life", 1);
  CHECK(getTotalProfile().secsKernelCreation == 0.25);
}

TEST_CASE("device seconds are measured, by kind and by kernel, and fit into the host's") {
  trace::configure(true, "");
  DeviceWork work;  // its queues are made now, and therefore measure
  trace::reset();   // not the compilation
  const auto begin = std::chrono::steady_clock::now();
  work.write("field");
  for (int i = 0; i < 600; ++i) work.launch("shorter", 10);  // more than are held unharvested
  for (int i = 0; i < 3; ++i) work.launch("longer", 200000);
  work.read("field");
  const ProfilingData p = getProfile();  // waits
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  CHECK(p.launches == 603);
  CHECK(p.bytesHostToDevice == DeviceWork::bytes);
  CHECK(p.bytesDeviceToHost == DeviceWork::bytes);
  CHECK(p.secsDataHostToDevice > 0);
  CHECK(p.secsDataDeviceToHost > 0);
  CHECK(p.secsDataDeviceToDevice == 0);
  CHECK(p.secsKernelExecution > 0);
  CHECK(p.secsKernelExecution < spent.count());
  const auto kernels = getKernelProfiles();
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].secsExecution >= kernels[1].secsExecution);
  CHECK(kernels[0].secsExecution + kernels[1].secsExecution ==
        doctest::Approx(p.secsKernelExecution));
  for (const auto& kernel : kernels) CHECK(kernel.launches == (kernel.name == "longer" ? 3 : 600));
  trace::stop();
  trace::reset();
}

TEST_CASE("a queue that does not measure costs the seconds, not the counts") {
  trace::configure(false, "");
  trace::reset();
  DeviceWork work;  // its queues are made without measuring
  trace::configure(true, "");
  work.launch("k", 10);
  const ProfilingData p = getProfile();
  CHECK(p.launches == 1);
  CHECK(p.secsKernelExecution == 0);
  trace::stop();
  trace::reset();
}

}  // namespace profile_tests
