// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hpl/runtime/device_state.h"

namespace hpl::runtime {

/// The devices in use, found once. The object is created by the first use and never destroyed:
/// static Arrays may die after any static of ours, so nothing here may have a destructor that runs
/// at exit. Instead the queues are finished when the main thread ends; then an exit handler,
/// registered after the drivers' own and therefore run before them, calls the shutdown hooks
/// (memory brings user arrays home), writes the trace, and gives queues and contexts back. From
/// then on `isShutDown()` is true, and owners of OpenCL objects must drop them without calling the
/// driver.
class Runtime {
 public:
  /// The runtime; the first call discovers the devices. Throws SettingsError or DeviceError when
  /// HPL_DEVICES is wrong; a later call tries again. No device at all is not an error here.
  static Runtime& get();

  /// Whether devices have been looked for.
  static bool exists() noexcept;

  /// Whether the exit handler has run. After that no OpenCL function may be called.
  static bool isShutDown() noexcept;

  /// Registers work to be done at exit, while the devices still work (not at all when no device
  /// was ever looked for); safe to call at any time. The hooks run in reverse order of
  /// registration, on a thread of their own; what they throw is logged. They may transfer, but
  /// should not launch kernels that were never launched before: a driver's compiler may be gone.
  static void atShutdown(void (*hook)());

  /// Registers the exit handler once more, so that it runs before what a driver has registered
  /// since: some load libraries only when a device is opened, or a program compiled. The last
  /// registration runs first, the others then do nothing.
  static void armExitHandler() noexcept;

  /// Runs the exit handler now (idempotent). After it no device can be used.
  static void shutDown() noexcept;

  /// Submits what the queues of all devices hold, as far as they can be told.
  static void flushAll() noexcept;

  /// All devices in use, in the order of their index.
  const std::vector<std::unique_ptr<DeviceState>>& devices() const noexcept { return devices_; }
  /// The device launches use when none is named. Throws DeviceError when there is none.
  DeviceState& defaultDevice() const {
    if (default_ == nullptr) [[unlikely]]
      throwNoDevice();
    return *default_;
  }
  /// The same among this process's own. Throws DeviceError when it owns none.
  DeviceState& ownDefaultDevice() const {
    if (ownDefault_ == nullptr) [[unlikely]]
      throwNoOwnDevice();
    return *ownDefault_;
  }
  /// The n-th device of `type`. Throws DeviceError that lists what there is.
  DeviceState& device(DeviceType type, int n) const;
  /// This process among those that the devices belong to, and how many those are; rank -1: the
  /// process owns no device and is none of them.
  int rank() const noexcept { return rank_; }
  int ranks() const noexcept { return ranks_; }

  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

 private:
  Runtime();
  [[noreturn]] void throwNoDevice() const;
  [[noreturn]] void throwNoOwnDevice() const;

  std::vector<std::unique_ptr<DeviceState>> devices_;
  int rank_ = 0;
  int ranks_ = 1;
  DeviceState* default_ = nullptr;
  DeviceState* ownDefault_ = nullptr;
  /// All the machine has, for messages.
  std::string inventory_;
};

/// Destroys an OpenCL object (a cl::Buffer, cl::Kernel, cl::Event, ...) that may outlive the
/// drivers: gives it back to the driver, or just forgets it once the runtime is shut down.
template <class Object>
void drop(Object& object) noexcept {
  if (Runtime::isShutDown()) object() = nullptr;
  object = Object();
}

}  // namespace hpl::runtime
