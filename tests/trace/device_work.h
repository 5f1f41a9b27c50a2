// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hpl/runtime/detail/discovery.h"
#include "hpl/runtime/program.h"
#include "hpl/trace/timeline.h"

/// A device of its own with a buffer, whose commands are recorded.
class DeviceWork {
 public:
  static constexpr std::size_t count = 1024;
  static constexpr std::size_t bytes = count * sizeof(float);

  DeviceWork() : host_(count, 1.0f) {
    using namespace hpl::runtime;
    devices_ = selectDevices(takeInventory(), parseDeviceList("any:0"));
    program_ = buildProgram(state(), "spin", R"(
      kernel void spin(global float* a, int n) {
        float x = a[get_global_id(0)];
        for (int i = 0; i < n; ++i) x = x * 0.999f + 0.5f;
        a[get_global_id(0)] = x;
      })");
    buffer_ = cl::Buffer(state().context(), CL_MEM_READ_WRITE, bytes);
    kernel_ = program_->createKernel();
    kernel_.setArg(0, buffer_);
  }

  hpl::runtime::DeviceState& state() { return *devices_[0]; }

  void launch(const std::string& name, int n) {
    kernel_.setArg(1, n);
    cl::Event event;
    state().computeQueue().enqueueNDRangeKernel(kernel_, cl::NullRange, cl::NDRange(count),
                                                cl::NullRange, nullptr, &event);
    hpl::trace::recordLaunch(name, state().index(), event());
  }
  void write(const std::string& label) {
    cl::Event event;
    state().transferQueue().enqueueWriteBuffer(buffer_, CL_FALSE, 0, bytes, host_.data(), nullptr,
                                               &event);
    hpl::trace::recordTransfer(hpl::trace::Transfer::HostToDevice, bytes, state().index(), event(),
                               label);
    state().finish();
  }
  void read(const std::string& label) {
    state().finish();
    cl::Event event;
    state().transferQueue().enqueueReadBuffer(buffer_, CL_FALSE, 0, bytes, host_.data(), nullptr,
                                              &event);
    hpl::trace::recordTransfer(hpl::trace::Transfer::DeviceToHost, bytes, state().index(), event(),
                               label);
  }

 private:
  std::vector<float> host_;
  std::vector<std::unique_ptr<hpl::runtime::DeviceState>> devices_;
  std::shared_ptr<const hpl::runtime::Program> program_;
  cl::Buffer buffer_;
  cl::Kernel kernel_;
};
