// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "hpl/runtime/cl.h"
#include "hpl/runtime/device.h"

namespace hpl::runtime {

/// The purpose of a device's queue: kernels, transfers to the device, transfers from it.
enum class QueueKind : std::uint8_t { Compute, In, Out };

/// The context that a device, or the sub-devices of one device, use. Created when first needed:
/// on some drivers opening a device takes a good part of a second.
class ContextHolder {
 public:
  explicit ContextHolder(std::vector<cl::Device> devices) : devices_(std::move(devices)) {}

  /// The context; created by the first call. Throws cl::Error.
  const cl::Context& get();

  /// Drops the library's reference to the context; used at shutdown.
  void close();

 private:
  std::mutex mutex_;
  std::vector<cl::Device> devices_;
  cl::Context context_;
};

/// Everything the library holds for one device: in-order queues (QueueKind), its context,
/// properties and memory accounting. Lives until the process ends, at a fixed address. Context and
/// queues appear at first use. All members are safe to call from several threads.
///
/// A device that another process owns has a place in the list, properties, and nothing of OpenCL:
/// asking for its context, queues or ids throws DeviceError.
class DeviceState {
 public:
  /// Discovery's knowledge about the device; `context` is shared by the sub-devices of one device.
  struct Identity {
    cl::Platform platform;
    cl::Device device;
    /// The whole device; differs from `device` for sub-devices.
    cl::Device physical;
    std::shared_ptr<ContextHolder> context;
    DeviceProperties properties;
    /// Suffix that tells parts and copies of one device apart: "", " [part 1/2]", " [copy 2/3]".
    std::string suffix;
    /// Units of the whole device, where its driver has been asked for those of this process only;
    /// else 0.
    unsigned wholeUnits = 0;
    int index = 0;
    int platformIndex = 0;
    /// The process that owns the device, and the machine that the process runs on.
    int rank = 0;
    int node = 0;
    std::string nodeName = {};
    /// That process is another one.
    bool isElsewhere = false;
  };
  /// A place in a list of the devices of several processes.
  struct Place {
    int index = 0;
    int platformIndex = 0;
    int rank = 0;
    int node = 0;
    std::string nodeName = {};
  };

  explicit DeviceState(Identity identity);
  DeviceState(const DeviceState&) = delete;
  DeviceState& operator=(const DeviceState&) = delete;

  /// Whether this process owns the device.
  bool isLocal() const noexcept { return !identity_.isElsewhere; }
  /// The process that owns the device, and the machine that the process runs on.
  int rank() const noexcept { return identity_.rank; }
  int node() const noexcept { return identity_.node; }
  const std::string& nodeName() const noexcept { return identity_.nodeName; }
  /// Gives the device its place in a list, before anybody uses it.
  void enlist(const Place& place);

  const cl::Platform& platform() const {
    requireLocal();
    return identity_.platform;
  }
  const cl::Device& device() const {
    requireLocal();
    return identity_.device;
  }
  /// Throws DeviceError if the driver refuses to create the context.
  const cl::Context& context() {
    open();
    return context_;
  }
  /// The in-order queue for kernels.
  const cl::CommandQueue& computeQueue() {
    open();
    return compute_;
  }
  /// The in-order queue for transfers to the device, and for those from it where there is one for
  /// both.
  const cl::CommandQueue& transferQueue() {
    open();
    return transfer_;
  }
  /// The in-order queue for this kind of commands.
  const cl::CommandQueue& queue(QueueKind kind) {
    open();
    return kind == QueueKind::Compute                ? compute_
           : kind == QueueKind::Out && hasQueueOut() ? transferOut_
                                                     : transfer_;
  }
  /// Whether transfers from the device have a queue of their own, beside those to it
  /// (HPL_TRANSFER_QUEUES).
  bool hasQueueOut() const noexcept { return hasQueueOut_; }
  /// A queue whose events tell how long their commands have run, for a launch now and then; those
  /// of the others tell it only under HPL_PROFILE or HPL_TRACE. Made by the first call.
  const cl::CommandQueue& timingQueue();
  /// Whether both devices use the same context: direct copies and common event lists are possible.
  bool sharesContextWith(const DeviceState& other) const noexcept {
    return identity_.context == other.identity_.context;
  }

  /// As discovered; `sharesHostMemory` in it is only meaningful through sharesHostMemory().
  const DeviceProperties& properties() const noexcept { return identity_.properties; }
  DeviceType type() const noexcept { return identity_.properties.type; }
  /// Different for every state ever made, unlike its address.
  std::uint64_t serial() const noexcept { return serial_; }
  /// Position in the device list, from 0.
  int index() const noexcept { return identity_.index; }
  /// Position of the device's platform among those that have devices in use.
  int platformIndex() const noexcept { return identity_.platformIndex; }
  /// Unique, readable name for errors and traces, e.g. "#1 pthread-... [part 2/2]".
  const std::string& name() const noexcept { return name_; }
  /// Distinguishes parts and copies of one device.
  const std::string& suffix() const noexcept { return identity_.suffix; }
  /// Whether the two states are parts or copies of one physical device.
  bool samePhysicalDeviceAs(const DeviceState& other) const noexcept;
  /// Compute units of that device; of a device of another process those of its own.
  unsigned physicalUnits() const noexcept;
  /// Those that the driver has for this process: a rank may have asked for its own only.
  unsigned unitsOfDriver() const noexcept { return unitsOfDriver_; }

  /// Whether kernels work in the host's memory without copies (CL_MEM_USE_HOST_PTR over memory
  /// aligned to hostAlignment). The first call measures it, on CPUs only: both directions must be
  /// visible without a map. `HPL_ZERO_COPY=on|off` decides instead of measuring. False for devices
  /// of other processes.
  bool sharesHostMemory();
  /// The text that is added to the build options of every program for this device; none, unless its
  /// driver mixes up equal programs of several devices (Quirks).
  std::string buildTag() const;
  /// Whether the driver keeps compiled kernels on disk itself (Quirks). PoCL does
  /// (POCL_CACHE_DIR), unless POCL_KERNEL_CACHE=0 forbids it.
  bool keepsPrograms() const;

  /// Whether the device's commands wait for user events, as OpenCL demands: some drivers run them
  /// at once, others run everything on the thread that flushes and so would wait for ever. The
  /// first call measures it.
  bool waitsForUserEvents() { return probedEvents() & kWaitsForUserEvents; }
  /// Whether they also do not run when the event fails: for some drivers such an event has
  /// completed, and a copy that could not be made would be taken for one that was.
  bool honoursUserEvents() { return probedEvents() & kHonoursUserEvents; }
  /// Whether commands that write to the device read the host's memory when they run. Others may do
  /// so as soon as all that they wait for is on its way, as OpenCL allows: NVIDIA's driver 580
  /// often writes what the memory was before a command of another queue had filled it, though it
  /// waits for user events. So this is taken for granted of CPUs only.
  bool readsHostLate() { return type() == CPU && honoursUserEvents(); }
  /// Whether the driver calls back as soon as an event has ended well, and also where it has
  /// failed. Measured together with honoursUserEvents(); false where that is.
  bool callsBack() { return probedEvents() & kCallsBack; }
  bool callsBackInFailure() { return probedEvents() & kCallsBackInFailure; }
  /// Alignment in bytes of host memory that is to be used without copies.
  static constexpr std::size_t hostAlignment = 128;

  /// Bytes that arrays may occupy: the device's memory, or HPL_DEVICE_MEMORY if that is less.
  std::size_t memoryLimit() const noexcept { return memoryLimit_.load(std::memory_order_relaxed); }
  /// Largest single array: the device's own limit, or memoryLimit() if that is less.
  std::size_t maxAllocation() const noexcept;
  std::size_t memoryUsed() const noexcept { return memoryUsed_.load(std::memory_order_relaxed); }
  /// Books `bytes`; false, and nothing booked, when that would exceed memoryLimit().
  bool reserve(std::size_t bytes) noexcept;
  /// Returns what reserve() booked.
  void release(std::size_t bytes) noexcept;
  /// For tests: a new memory limit in bytes.
  void setMemoryLimit(std::size_t bytes) noexcept;

  /// Waits for all queues. Throws DeviceError if a command failed.
  void finish();
  /// Submits what the queues hold. Does nothing when the device was never used.
  void flush();

  /// Whether context and queues exist.
  bool isOpen() const noexcept { return open_.load(std::memory_order_acquire); }
  /// Finishes the queues and gives them and the context back to the driver; errors are swallowed.
  /// Used at shutdown only.
  void close() noexcept;

 private:
  void open() {
    if (!open_.load(std::memory_order_acquire)) [[unlikely]]
      openSlow();
  }
  void openSlow();
  void requireLocal() const {
    if (identity_.isElsewhere) [[unlikely]]
      throwElsewhere();
  }
  [[noreturn]] void throwElsewhere() const;
  bool probeHostMemory();
  /// Bits of what the probe of events has found.
  static constexpr int kHonoursUserEvents = 1;
  static constexpr int kCallsBack = 2;
  static constexpr int kWaitsForUserEvents = 4;
  static constexpr int kCallsBackInFailure = 8;
  int probedEvents();
  int probeEvents();
  int tryEvents();

  Identity identity_;
  std::string name_;
  std::uint64_t serial_;
  unsigned unitsOfDriver_;
  bool hasQueueOut_;
  std::mutex mutex_;
  std::atomic<bool> open_{false};
  cl::Context context_;
  cl::CommandQueue compute_;
  cl::CommandQueue transfer_;
  cl::CommandQueue transferOut_;  // null: transfer_ is for both directions
  cl::CommandQueue timing_;
  std::atomic<std::size_t> memoryLimit_{0};
  std::atomic<std::size_t> memoryUsed_{0};
  std::atomic<int> sharesHostMemory_{-1};  // -1: not measured yet
  std::atomic<int> probedEvents_{-1};      // -1: not measured yet
};

}  // namespace hpl::runtime
