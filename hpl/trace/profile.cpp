// SPDX-License-Identifier: Apache-2.0
#include "hpl/trace/profile.h"

#include "hpl/runtime/fork.h"
#include "hpl/trace/detail/recorder.h"

namespace hpl {
namespace {

ProfilingData difference(const ProfilingData& now, const ProfilingData& before) {
  ProfilingData d;
  d.secsKernelCreation = now.secsKernelCreation - before.secsKernelCreation;
  d.secsKernelCompilation = now.secsKernelCompilation - before.secsKernelCompilation;
  d.secsDataHostToDevice = now.secsDataHostToDevice - before.secsDataHostToDevice;
  d.secsDataDeviceToHost = now.secsDataDeviceToHost - before.secsDataDeviceToHost;
  d.secsDataDeviceToDevice = now.secsDataDeviceToDevice - before.secsDataDeviceToDevice;
  d.secsKernelExecution = now.secsKernelExecution - before.secsKernelExecution;
  d.bytesHostToDevice = now.bytesHostToDevice - before.bytesHostToDevice;
  d.bytesDeviceToHost = now.bytesDeviceToHost - before.bytesDeviceToHost;
  d.bytesDeviceToDevice = now.bytesDeviceToDevice - before.bytesDeviceToDevice;
  d.launches = now.launches - before.launches;
  return d;
}

}  // namespace

ProfilingData getTotalProfile() {
  using trace::Transfer;
  runtime::requireOwnProcess();
  auto& recorder = trace::detail::Recorder::get();
  recorder.waitForAll();  // has nothing to wait for unless seconds are measured
  ProfilingData total = recorder.seconds();
  const auto bytes = [](Transfer kind) {
    return trace::detail::counters.bytes[static_cast<int>(kind)].load(std::memory_order_relaxed);
  };
  total.bytesHostToDevice = bytes(Transfer::HostToDevice);
  total.bytesDeviceToHost = bytes(Transfer::DeviceToHost);
  total.bytesDeviceToDevice = bytes(Transfer::DeviceToDevice);
  total.launches = trace::detail::counters.launches.load(std::memory_order_relaxed);
  return total;
}

ProfilingData getProfile() {
  const ProfilingData now = getTotalProfile();
  return difference(now, trace::detail::Recorder::get().exchangeReported(now));
}

std::vector<KernelProfile> getKernelProfiles() {
  runtime::requireOwnProcess();
  trace::detail::Recorder::get().waitForAll();
  return trace::detail::Recorder::get().kernels();
}

}  // namespace hpl
