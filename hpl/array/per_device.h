// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "hpl/runtime/device.h"

namespace hpl {

/// An argument with one value per device, as std::vector is, that knows which devices: a launch
/// that names none goes to these. LaunchError follows where two arguments know different ones.
template <class T>
class PerDevice : public std::vector<T> {
 public:
  PerDevice() = default;
  PerDevice(std::vector<T> values, std::vector<Device> devices)
      : std::vector<T>(std::move(values)), devices_(std::move(devices)) {}

  const std::vector<Device>& devices() const noexcept { return devices_; }

 private:
  std::vector<Device> devices_;
};

}  // namespace hpl
