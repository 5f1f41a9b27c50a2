// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hpl {

namespace runtime {
class DeviceState;
}

/// Kinds of devices, as a program asks for them. `ANY` stands for every kind.
enum DeviceType : int { GPU = 1, CPU = 2, ACCELERATOR = 4, ANY = 7 };

/// Properties of a device. Sizes are in bytes unless the name says otherwise. A property that the
/// driver does not answer is 0, false or empty.
struct DeviceProperties {
  std::string name;
  std::string vendor;
  /// Name of the OpenCL platform, e.g. "Portable Computing Language".
  std::string platform;
  std::string driverVersion;
  /// The device's OpenCL version string, e.g. "OpenCL 3.0 PoCL ...".
  std::string openclVersion;
  /// Where the device sits, "0000:3b:00.0"; empty: on no PCI bus, or the driver does not tell.
  std::string pciAddress;
  /// `GPU`, `CPU` or `ACCELERATOR`, never `ANY`.
  DeviceType type = CPU;
  std::size_t globalMemory = 0;
  std::size_t maxAllocation = 0;
  std::size_t localMemory = 0;
  std::size_t constantMemory = 0;
  std::size_t cacheLine = 0;
  /// Bytes of the last level of cache between the units and global memory; 0: none, or not known.
  std::size_t cache = 0;
  std::size_t maxWorkGroupSize = 0;
  std::array<std::size_t, 3> maxWorkItemSizes{};
  unsigned computeUnits = 0;
  unsigned clockMHz = 0;
  /// Alignment, in bits, that the origin of a sub-buffer must have.
  unsigned addressAlignBits = 0;
  unsigned preferredFloatVector = 0;
  bool hasDouble = false;
  bool hasHalf = false;
  /// Atomics on 64 bits: cl_khr_int64_base_atomics, cl_khr_int64_extended_atomics.
  bool hasWideAtomics = false;
  bool hasWideMinMaxAtomics = false;
  /// True if local memory is a separate memory (false on CPUs: tiles gain nothing there).
  bool hasDedicatedLocalMemory = false;
  /// The driver's answer to `CL_DEVICE_HOST_UNIFIED_MEMORY`: same physical memory, but not
  /// necessarily free of copies.
  bool hostUnifiedMemory = false;
  /// Measured: true if the device's kernels work in the host's memory without any copy.
  bool sharesHostMemory = false;
  /// Part of a physical device (`/k` in HPL_DEVICES).
  bool isSubDevice = false;
  /// One of several openings of the same physical device (`*k` in HPL_DEVICES).
  bool isVirtualDevice = false;
};

/// A cheap handle to one of the devices that the program may use. The library looks for devices
/// when the program first asks for one. `HPL_DEVICES` selects, splits and multiplies them:
///
///     list   = entry { "," entry }
///     entry  = what [ ":" n ] [ "/" k ] [ "*" k ]
///     what   = "gpu" | "cpu" | "accelerator" | "any" | part of a platform's name
///
/// `what` ignores case. Any part of its name, vendor or version names a platform ("pocl",
/// "portable", "nvidia", "rusticl"). `:n` takes only the n-th device (from 0) that `what` names.
/// `/k` splits each device into k sub-devices of equal size, which share one context. `*k` opens
/// each device k times, with a context and queues of its own each time. Examples: `gpu`, `cpu/2`,
/// `pocl:0*4`, `pocl:0,rusticl:0`. Unset, every device is used as it is.
class Device {
 public:
  /// The default device: the first GPU, else the first accelerator, else the first CPU. Throws
  /// DeviceError when there is no device at all.
  Device();

  /// The n-th device of `type`, counted from 0. Throws DeviceError that lists the existing devices.
  explicit Device(DeviceType type, int n = 0);

  /// The n-th device of `type` on the p-th platform (among the platforms that have devices in use).
  Device(int platform, DeviceType type, int n = 0);

  /// The n-th device of `type` on the platform whose name, vendor or version contains `platform`
  /// (case ignored).
  Device(std::string_view platform, DeviceType type, int n = 0);

  /// A handle to a known device; for the rooms of the library.
  explicit Device(runtime::DeviceState& state) noexcept : state_(&state) {}

  /// Waits until everything submitted to the device has finished; returns at once for a device of
  /// another rank. Throws DeviceError if a command failed, RankError if the session of several
  /// ranks has ended meanwhile.
  void sync() const;

  /// Properties of the device. The first call on a CPU tests whether it shares host memory.
  DeviceProperties getProperties() const;

  /// The device's name as its driver gives it.
  const std::string& name() const noexcept;

  /// Position in `devices()`, from 0. With several ranks the list is that of all ranks, the same
  /// on each: rank by rank.
  int id() const noexcept;

  /// The process that owns the device; 0 in a program of one process.
  int rank() const noexcept;

  /// Whether this process owns the device. Programs launch on devices of other ranks as on their
  /// own; only the owner does the work.
  bool isLocal() const noexcept;

  /// `GPU`, `CPU` or `ACCELERATOR`.
  DeviceType type() const noexcept;

  /// The state behind the handle; for the rooms of the library.
  runtime::DeviceState& state() const noexcept { return *state_; }

  friend bool operator==(const Device& a, const Device& b) noexcept { return a.state_ == b.state_; }

 private:
  runtime::DeviceState* state_;
};

/// Number of devices of `type` that the program may use; 0 when there are none.
int getDeviceNumber(DeviceType type = ANY);

/// The devices of `type` that the program may use, in the order of their ids.
std::vector<Device> devices(DeviceType type = ANY);

/// The device that launches use when none is named; see `Device()`.
Device defaultDevice();

/// True under HPL_DRY_RUN: the program is planned for a machine that is not there, and what devices
/// would compute has no values (docs/dry-run.md).
bool isDryRun();

/// "GPU", "CPU", "ACCELERATOR" or "ANY".
const char* deviceTypeName(DeviceType type) noexcept;

}  // namespace hpl
