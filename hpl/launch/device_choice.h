// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <vector>

#include "hpl/launch/options.h"
#include "hpl/layout/domain.h"
#include "hpl/runtime/device.h"
#include "hpl/runtime/fp_mode.h"

namespace hpl {

/// `.weights(MEASURED)`.
enum MeasuredWeights : unsigned char { MEASURED };

namespace launch {

/// The options about several devices, to be changed: other copies of the options keep theirs.
ShareOptions& sharesOf(LaunchOptions& options);

/// The choices behind DeviceChoice; `call` begins messages, as in "eval(...)".
void chooseDevices(LaunchOptions& options, const char* call, const std::vector<Device>& list);
void chooseDevices(LaunchOptions& options, const char* call, DeviceType type, int n);

/// The devices that options name: those of a list, the one, or defaultDevice().
std::vector<Device> devicesOf(const LaunchOptions& options);

/// Where a launch runs, how it is shared out and how it computes, for everything that is launched:
/// kernels, stencils, programs. `Self` is the class that the choices are made for, whose kCall
/// begins messages.
template <class Self>
class DeviceChoice {
 public:
  /// Where to run. Default: defaultDevice(). Throws DeviceError when there is no such device.
  Self& device(const Device& device) {
    options_.device = &device.state();
    return self();
  }
  Self& device(DeviceType type, int n = 0) { return device(Device(type, n)); }

  /// The same on several devices, to which the launch is shared out: all devices of the default
  /// device's type, the first n of them, or of a type, or those of a list. Annotated arguments are
  /// split as their annotations say; if none is annotated, the library splits the arrays as the
  /// accesses of the kernel allow (docs/several-devices.md). Then blocks go to the devices of a
  /// list in its order, to others so that much passes where links are fast (HPL_PLACEMENT). Throws
  /// DeviceError when there are fewer devices, LaunchError for an empty list or a device that is
  /// named twice.
  Self& devices() {
    const DeviceType type = defaultDevice().type();
    return devices(type, hpl::getDeviceNumber(type));
  }
  Self& devices(int n) { return devices(defaultDevice().type(), n); }
  Self& devices(DeviceType type, int n) {
    chooseDevices(options_, Self::kCall, type, n);
    return self();
  }
  Self& devices(const std::vector<Device>& list) {
    chooseDevices(options_, Self::kCall, list);
    return self();
  }

  /// How the work is shared out: one number per device, in proportion. LaunchError at the launch
  /// for a wrong number of weights, and for weights that are not positive and finite.
  Self& weights(const std::vector<double>& shares) {
    sharesOf(options_).weights = shares;
    sharesOf(options_).measured = false;
    return self();
  }
  Self& weights(std::initializer_list<double> shares) {
    return weights(std::vector<double>(shares));
  }
  /// The same as measured: the first launch runs the kernel for a moment on copies of the arguments
  /// on each device; the result is remembered for the kernel, the devices and the shapes.
  Self& weights(MeasuredWeights) {
    sharesOf(options_).measured = true;
    return self();
  }

  /// Without annotations: the domain is cut into a grid of blocks, one for each device, x of them
  /// along idx (the last dimension of arrays), y along idy, z along idz. idx varies fastest from
  /// device to device. Default: bands or blocks, whichever exchange the least; later launches on
  /// the same arrays follow the first one. With weights each row of blocks is divided by itself.
  /// LaunchError at the launch unless there are as many blocks as devices, for annotated arguments,
  /// and for an axis along which the kernel cannot be divided.
  Self& blocks(const Domain& grid) {
    sharesOf(options_).blocks = grid;
    return self();
  }
  Self& blocks(std::size_t x) { return blocks(Domain(x)); }
  Self& blocks(std::size_t x, std::size_t y) { return blocks(Domain(x, y)); }
  Self& blocks(std::size_t x, std::size_t y, std::size_t z) { return blocks(Domain(x, y, z)); }

  /// How floating point is treated; default: HPL_FP.
  Self& fp(FpMode mode) {
    options_.fp = mode;
    options_.fpChosen = true;
    return self();
  }

 protected:
  ~DeviceChoice() = default;
  DeviceChoice() = default;
  DeviceChoice(const DeviceChoice&) = default;
  DeviceChoice(DeviceChoice&&) noexcept = default;
  DeviceChoice& operator=(const DeviceChoice&) = default;
  DeviceChoice& operator=(DeviceChoice&&) noexcept = default;

  LaunchOptions options_;

 private:
  Self& self() { return static_cast<Self&>(*this); }
};

}  // namespace launch
}  // namespace hpl
