// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/device_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <string_view>
#include <thread>

#include "hpl/error.h"
#include "hpl/runtime/events.h"
#include "hpl/runtime/fork.h"
#include "hpl/runtime/log.h"
#include "hpl/runtime/quirks.h"
#include "hpl/runtime/runtime.h"
#include "hpl/runtime/settings.h"
#include "hpl/trace/timeline.h"

namespace hpl::runtime {
namespace {

std::uint64_t nextSerial() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

std::string nameOf(const DeviceState::Identity& identity) {
  return fmt::format("#{} {}{}", identity.index, identity.properties.name, identity.suffix);
}

}  // namespace

const cl::Context& ContextHolder::get() {
  const std::lock_guard lock(mutex_);
  if (!context_()) context_ = cl::Context(devices_);
  return context_;
}

void ContextHolder::close() {
  const std::lock_guard lock(mutex_);
  context_ = cl::Context();
}

namespace {

unsigned askForUnits(const DeviceState::Identity& identity) {
  if (identity.isElsewhere) return identity.properties.computeUnits;
  try {
    return identity.physical.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
  } catch (const cl::Error&) {
    return identity.properties.computeUnits;
  }
}

bool wantsQueueOut(const DeviceProperties& properties) {
  const TransferQueues wish = settings().transferQueues;
  return wish == TransferQueues::Auto ? copiesBothWays(properties) : wish == TransferQueues::Two;
}

}  // namespace

DeviceState::DeviceState(Identity identity)
    : identity_(std::move(identity)),
      name_(nameOf(identity_)),
      serial_(nextSerial()),
      unitsOfDriver_(askForUnits(identity_)),
      hasQueueOut_(wantsQueueOut(identity_.properties)) {
  const std::size_t physical = identity_.properties.globalMemory;
  const std::size_t wanted = settings().deviceMemory;
  memoryLimit_ = wanted == 0 ? physical : std::min(wanted, physical);
}

bool DeviceState::samePhysicalDeviceAs(const DeviceState& other) const noexcept {
  if (!isLocal() || !other.isLocal()) return this == &other;
  return identity_.physical() == other.identity_.physical();
}

unsigned DeviceState::physicalUnits() const noexcept {
  return identity_.wholeUnits > 0 ? identity_.wholeUnits : unitsOfDriver_;
}

void DeviceState::enlist(const Place& place) {
  identity_.index = place.index;
  identity_.platformIndex = place.platformIndex;
  identity_.rank = place.rank;
  identity_.node = place.node;
  identity_.nodeName = place.nodeName;
  name_ = nameOf(identity_);
}

void DeviceState::throwElsewhere() const {
  const std::string node = nodeName().empty() ? "" : fmt::format(" (node {})", nodeName());
  throw DeviceError(
      fmt::format("device {} belongs to rank {}{}: only that process can use its context, queues "
                  "and ids; launch on it with eval(...).device(...) on all ranks, or choose a "
                  "device whose isLocal() is true",
                  name_, rank(), node));
}

void DeviceState::openSlow() {
  requireOwnProcess();
  requireLocal();
  const std::lock_guard lock(mutex_);
  if (open_.load(std::memory_order_relaxed)) return;
  if (Runtime::isShutDown()) {
    throw DeviceError(fmt::format(
        "device {} is used after the end of the program: launches and transfers must not come "
        "from destructors of static objects",
        name_));
  }
  guarded(this, Concern::none(), [&] {
    context_ = identity_.context->get();
    const cl_command_queue_properties flags = trace::enabled() ? CL_QUEUE_PROFILING_ENABLE : 0;
    compute_ = cl::CommandQueue(context_, identity_.device, flags);
    transfer_ = cl::CommandQueue(context_, identity_.device, flags);
    if (hasQueueOut()) transferOut_ = cl::CommandQueue(context_, identity_.device, flags);
  });
  Runtime::armExitHandler();
  open_.store(true, std::memory_order_release);
  log::debug(fmt::format("opened device {} ({})", name_, identity_.properties.platform));
}

const cl::CommandQueue& DeviceState::timingQueue() {
  open();
  const std::lock_guard lock(mutex_);
  if (timing_() == nullptr)
    guarded(this, Concern::none(), [&] {
      timing_ = cl::CommandQueue(context_, identity_.device, CL_QUEUE_PROFILING_ENABLE);
    });
  return timing_;
}

bool DeviceState::sharesHostMemory() {
  if (!isLocal()) return false;
  int known = sharesHostMemory_.load(std::memory_order_acquire);
  if (known < 0) {
    const ZeroCopy wish = settings().zeroCopy;
    // Asking for it does not make a driver keep one copy: results of kernels would not be seen.
    const bool hasOwn = type() != CPU && !properties().hostUnifiedMemory;
    const bool isOut = hasOwn || wish == ZeroCopy::Off || (wish == ZeroCopy::Auto && type() != CPU);
    // The answer holds for the whole process: a failed call may be chance.
    known = !isOut && (probeHostMemory() || probeHostMemory());
    if (wish == ZeroCopy::On && known == 0)
      log::warn(
          fmt::format("HPL_ZERO_COPY=on: device {} does not work in the host's memory, and gets "
                      "copies; HPL_ZERO_COPY=auto uses what each device can do",
                      name_));
    sharesHostMemory_.store(known, std::memory_order_release);
    log::debug(fmt::format("device {} {} host memory", name_, known ? "shares" : "does not share"));
  }
  return known != 0;
}

bool DeviceState::probeHostMemory() {
  // OpenCL lets a driver cache CL_MEM_USE_HOST_PTR memory, and some do; only what the queue writes
  // being visible here at once, and the other way round, proves that there is one copy.
  constexpr std::size_t size = 4096;
  struct alignas(2 * hostAlignment) Memory {
    std::array<unsigned char, hostAlignment> margin;  // no better aligned than promised
    std::array<unsigned char, size> bytes;
  };
  const auto host = std::make_unique<Memory>();
  std::array<unsigned char, size> other{};
  try {
    const cl::CommandQueue& queue = transferQueue();
    host->bytes.fill(1);
    const cl::Buffer buffer(context_, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, size,
                            host->bytes.data());
    other.fill(2);
    queue.enqueueWriteBuffer(buffer, CL_TRUE, 0, size, other.data());
    const bool hostSeesDevice = host->bytes == other;
    host->bytes.fill(3);
    queue.enqueueReadBuffer(buffer, CL_TRUE, 0, size, other.data());
    return hostSeesDevice && host->bytes == other;
  } catch (const cl::Error&) {
    return false;  // a device that cannot do this does not share
  }
}

bool DeviceState::keepsPrograms() const {
  const char* kept = std::getenv("POCL_KERNEL_CACHE");
  return quirksOf(properties()).keepsPrograms && (kept == nullptr || std::string_view(kept) != "0");
}

std::string DeviceState::buildTag() const {
  if (index() == 0 || !quirksOf(properties()).mixesEqualPrograms) return {};
  // The first device of a process shares its compiled kernels with programs of one device, and
  // those of a rank with other ranks.
  int place = 0;
  for (const auto& other : Runtime::get().devices())
    if (other->isLocal() && other->index() < index()) ++place;
  return place > 0 ? fmt::format(" -DHPL_DEVICE={}", place) : std::string();
}

int DeviceState::probedEvents() {
  int known = probedEvents_.load(std::memory_order_acquire);
  if (known < 0) {
    known = probeEvents();
    probedEvents_.store(known, std::memory_order_release);
    log::debug(fmt::format("device {} {} user events{}", name_,
                           known & kHonoursUserEvents ? "honours" : "ignores",
                           known & kCallsBack ? " and calls back" : ""));
  }
  return known;
}

namespace {

// Drivers may call back late, or never: what they were given stays, where leak checkers find it.
std::atomic<bool>& newFlag() {
  static std::mutex mutex;
  static auto& flags = *new std::deque<std::atomic<bool>>;
  const std::lock_guard lock(mutex);
  return flags.emplace_back(false);
}

void CL_CALLBACK noteCall(cl_event, cl_int, void* data) {
  static_cast<std::atomic<bool>*>(data)->store(true, std::memory_order_release);
}

constexpr std::chrono::milliseconds kMoment(5);

// Whether the driver calls back in a moment when the event ends with this status.
bool callsBackAt(const cl::Context& context, cl_int status) {
  const cl::UserEvent event(context);
  std::atomic<bool>& called = newFlag();
  if (clSetEventCallback(event(), CL_COMPLETE, noteCall, &called) != CL_SUCCESS) return false;
  settle(event(), status);
  const auto end = std::chrono::steady_clock::now() + kMoment;
  while (!called.load(std::memory_order_acquire)) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

// Whether a user event that fails is one that has failed, so that what waits for it is not done.
// For NVIDIA's driver 580 it has completed.
bool canFail(const cl::Context& context) {
  const cl::UserEvent event(context);
  settle(event(), CL_OUT_OF_RESOURCES);
  return event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>() < 0;
}

// Ends whatever a probe has begun: no command may wait for its event for ever, or outlive its
// memory.
struct Probe {
  const cl::CommandQueue& queue;
  cl::UserEvent gate;

  ~Probe() {
    settle(gate(), CL_COMPLETE);
    finished(queue);
  }
};

}  // namespace

int DeviceState::probeEvents() {
  if (quirksOf(properties()).runsInFlush) return 0;
  constexpr int kTimes = 2;
  for (int i = 0; i < kTimes; ++i) {
    try {
      return tryEvents();
    } catch (const cl::Error&) {
      // The driver cannot do it, or a call failed by chance.
    }
  }
  return 0;
}

int DeviceState::tryEvents() {
  const cl::CommandQueue& queue = transferQueue();
  const cl_int value = 0;
  const cl::Buffer buffer(context_, CL_MEM_READ_WRITE, sizeof(cl_int));
  cl::Event written;
  bool waited = false;
  {
    const Probe probe{queue, cl::UserEvent(context_)};
    const std::vector<cl::Event> waits{probe.gate};
    queue.enqueueWriteBuffer(buffer, CL_FALSE, 0, sizeof value, &value, &waits, &written);
    queue.flush();
    // Long enough for a driver that does not wait, short enough to be done once per device.
    std::this_thread::sleep_for(kMoment);
    waited = written.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>() != CL_COMPLETE;
  }
  if (!waited) return 0;
  if (!canFail(context_)) return kWaitsForUserEvents;
  int found = kWaitsForUserEvents | kHonoursUserEvents;
  if (!callsBackAt(context_, CL_COMPLETE)) return found;
  found |= kCallsBack;
  // PoCL 3.1 does not.
  if (callsBackAt(context_, CL_OUT_OF_RESOURCES)) found |= kCallsBackInFailure;
  return found;
}

std::size_t DeviceState::maxAllocation() const noexcept {
  return std::min(identity_.properties.maxAllocation, memoryLimit());
}

bool DeviceState::reserve(std::size_t bytes) noexcept {
  const std::size_t limit = memoryLimit();
  std::size_t used = memoryUsed_.load(std::memory_order_relaxed);
  do {
    if (bytes > limit || used > limit - bytes) return false;
  } while (!memoryUsed_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  return true;
}

void DeviceState::release(std::size_t bytes) noexcept {
  memoryUsed_.fetch_sub(bytes, std::memory_order_relaxed);
}

void DeviceState::setMemoryLimit(std::size_t bytes) noexcept {
  memoryLimit_.store(bytes, std::memory_order_relaxed);
}

void DeviceState::finish() {
  requireOwnProcess();
  if (!isOpen()) return;
  const trace::HostScope scope("wait");
  check(flushed(transfer_), "clFlush", this);
  if (hasQueueOut()) check(flushed(transferOut_), "clFlush", this);
  check(finished(compute_), "clFinish", this);
  check(finished(transfer_), "clFinish", this);
  if (hasQueueOut()) check(finished(transferOut_), "clFinish", this);
}

void DeviceState::flush() {
  requireOwnProcess();
  if (!isOpen()) return;
  check(flushed(transfer_), "clFlush", this);
  if (hasQueueOut()) check(flushed(transferOut_), "clFlush", this);
  check(flushed(compute_), "clFlush", this);
}

void DeviceState::close() noexcept {
  if (isForked()) return open_.store(false);  // the driver must not be called
  const std::lock_guard lock(mutex_);
  if (!open_.exchange(false)) return;
  try {
    finished(compute_);
    finished(transfer_);
    if (hasQueueOut()) finished(transferOut_);
    compute_ = cl::CommandQueue();
    transfer_ = cl::CommandQueue();
    transferOut_ = cl::CommandQueue();
    timing_ = cl::CommandQueue();
    context_ = cl::Context();
    identity_.context->close();
  } catch (const cl::Error&) {
    // Nothing is left to be done with a queue that cannot even be released.
  }
}

}  // namespace hpl::runtime
