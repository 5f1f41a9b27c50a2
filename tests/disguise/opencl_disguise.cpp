// SPDX-License-Identifier: Apache-2.0
// A library for LD_PRELOAD: all devices say that they are GPUs with memory of their own. The
// library's code for these then runs on any device.
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#include <CL/cl.h>
#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace {

std::atomic<std::size_t> pinnedBytes{0};

template <class Function>
Function* driversOwn(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

template <class T>
void answer(void* value, const T& said) {
  std::memcpy(value, &said, sizeof said);
}

/// Lets commands begin late: each waits for a user event in addition, which completes after a
/// while. Whatever was not told to wait for such a command then overtakes it.
class Delays {
 public:
  /// HPL_DISGUISE_DELAY: microseconds at most; null: not asked for.
  static Delays* get() {
    static Delays* const delays = [] {
      const char* most = std::getenv("HPL_DISGUISE_DELAY");
      return most == nullptr ? nullptr : new Delays(std::atoi(most));
    }();
    return delays;
  }

  /// An event of the queue's context that completes by itself; null: none could be made.
  cl_event next(cl_command_queue queue) {
    cl_context context = nullptr;
    if (clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, nullptr) !=
        CL_SUCCESS)
      return nullptr;
    cl_event event = clCreateUserEvent(context, nullptr);
    if (event == nullptr) return nullptr;
    clRetainEvent(event);
    const std::lock_guard lock(mutex_);
    // Half of the commands begin at once.
    const int late = random_() % 2 == 0 ? 0 : static_cast<int>(random_() % most_);
    waiting_.emplace(Clock::now() + std::chrono::microseconds(late), event);
    there_.notify_one();
    return event;
  }

 private:
  using Clock = std::chrono::steady_clock;

  explicit Delays(int most) : most_(static_cast<unsigned>(most > 0 ? most : 1)) {
    std::thread([this] { run(); }).detach();
  }

  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (waiting_.empty()) {
        there_.wait(lock);
        continue;
      }
      const auto first = waiting_.begin();
      if (first->first > Clock::now()) {
        const auto until = first->first;
        there_.wait_until(lock, until);
        continue;
      }
      cl_event event = first->second;
      waiting_.erase(first);
      lock.unlock();
      clSetUserEventStatus(event, CL_COMPLETE);
      clReleaseEvent(event);
      lock.lock();
    }
  }

  unsigned most_;
  std::mt19937 random_{1};
  std::mutex mutex_;
  std::condition_variable there_;
  std::multimap<Clock::time_point, cl_event> waiting_;
};

/// The events that a command waits for, with one more where commands begin late.
class WaitList {
 public:
  WaitList(cl_command_queue queue, cl_uint count, const cl_event* events)
      : events_(events, events + count) {
    Delays* const delays = Delays::get();
    if (delays == nullptr) return;
    own_ = delays->next(queue);
    if (own_ != nullptr) events_.push_back(own_);
  }
  ~WaitList() {
    if (own_ != nullptr) clReleaseEvent(own_);
  }
  WaitList(const WaitList&) = delete;
  WaitList& operator=(const WaitList&) = delete;

  cl_uint count() const { return static_cast<cl_uint>(events_.size()); }
  const cl_event* data() const { return events_.empty() ? nullptr : events_.data(); }

 private:
  std::vector<cl_event> events_;
  cl_event own_ = nullptr;
};

/// HPL_DISGUISE_WRITES=early: what a command writes to a device is what the host's memory has when
/// the command is enqueued. OpenCL allows that, and NVIDIA does it where the command waits for
/// those of other queues; for user events it waits, so that this goes with
/// HPL_DISGUISE_EVENTS=complete.
bool writesEarly() {
  static const bool early = std::getenv("HPL_DISGUISE_WRITES") != nullptr;
  return early;
}

/// A copy of host memory that is never given back: a test's is small.
const void* copyNow(const void* host, std::size_t bytes) {
  void* const copy = std::malloc(bytes);
  std::memcpy(copy, host, bytes);
  return copy;
}

/// Bytes from the beginning of memory to the end of a region in it.
std::size_t reachOf(const std::size_t* origin, const std::size_t* region, std::size_t rowPitch,
                    std::size_t slicePitch) {
  if (rowPitch == 0) rowPitch = region[0];
  if (slicePitch == 0) slicePitch = region[1] * rowPitch;
  return (origin[2] + region[2] - 1) * slicePitch + (origin[1] + region[1] - 1) * rowPitch +
         origin[0] + region[0];
}

}  // namespace

extern "C" {

/// Bytes of the buffers so far that a driver was asked to page-lock.
std::size_t hplDisguisePinnedBytes() { return pinnedBytes.load(); }

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, std::size_t size, void* value,
                       std::size_t* needed) {
  static auto* const own = driversOwn<decltype(clGetDeviceInfo)>("clGetDeviceInfo");
  const cl_int code = own(device, what, size, value, needed);
  if (code != CL_SUCCESS || value == nullptr) return code;
  if (what == CL_DEVICE_TYPE) answer(value, cl_device_type{CL_DEVICE_TYPE_GPU});
  if (what == CL_DEVICE_HOST_UNIFIED_MEMORY) answer(value, cl_bool{CL_FALSE});
  return code;
}

/// HPL_DISGUISE_EVENTS=complete: user events do not fail, as NVIDIA's: they have completed.
cl_int clSetUserEventStatus(cl_event event, cl_int status) {
  static auto* const own = driversOwn<decltype(clSetUserEventStatus)>("clSetUserEventStatus");
  static const bool complete = std::getenv("HPL_DISGUISE_EVENTS") != nullptr;
  return own(event, complete && status < 0 ? CL_COMPLETE : status);
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, std::size_t size, void* host,
                      cl_int* code) {
  static auto* const own = driversOwn<decltype(clCreateBuffer)>("clCreateBuffer");
  if ((flags & CL_MEM_ALLOC_HOST_PTR) != 0) pinnedBytes += size;
  return own(context, flags, size, host, code);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                              const std::size_t* offset, const std::size_t* global,
                              const std::size_t* local, cl_uint count, const cl_event* events,
                              cl_event* event) {
  static auto* const own = driversOwn<decltype(clEnqueueNDRangeKernel)>("clEnqueueNDRangeKernel");
  const WaitList waits(queue, count, events);
  return own(queue, kernel, dims, offset, global, local, waits.count(), waits.data(), event);
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocks,
                           std::size_t offset, std::size_t size, void* host, cl_uint count,
                           const cl_event* events, cl_event* event) {
  static auto* const own = driversOwn<decltype(clEnqueueReadBuffer)>("clEnqueueReadBuffer");
  const WaitList waits(queue, count, events);
  return own(queue, buffer, blocks, offset, size, host, waits.count(), waits.data(), event);
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocks,
                            std::size_t offset, std::size_t size, const void* host, cl_uint count,
                            const cl_event* events, cl_event* event) {
  static auto* const own = driversOwn<decltype(clEnqueueWriteBuffer)>("clEnqueueWriteBuffer");
  if (writesEarly()) host = copyNow(host, size);
  const WaitList waits(queue, count, events);
  return own(queue, buffer, blocks, offset, size, host, waits.count(), waits.data(), event);
}

cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, std::size_t fromOffset,
                           std::size_t toOffset, std::size_t size, cl_uint count,
                           const cl_event* events, cl_event* event) {
  static auto* const own = driversOwn<decltype(clEnqueueCopyBuffer)>("clEnqueueCopyBuffer");
  const WaitList waits(queue, count, events);
  return own(queue, from, to, fromOffset, toOffset, size, waits.count(), waits.data(), event);
}

cl_int clEnqueueReadBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocks,
                               const std::size_t* origin, const std::size_t* hostOrigin,
                               const std::size_t* region, std::size_t rowPitch,
                               std::size_t slicePitch, std::size_t hostRowPitch,
                               std::size_t hostSlicePitch, void* host, cl_uint count,
                               const cl_event* events, cl_event* event) {
  static auto* const own = driversOwn<decltype(clEnqueueReadBufferRect)>("clEnqueueReadBufferRect");
  const WaitList waits(queue, count, events);
  return own(queue, buffer, blocks, origin, hostOrigin, region, rowPitch, slicePitch, hostRowPitch,
             hostSlicePitch, host, waits.count(), waits.data(), event);
}

cl_int clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocks,
                                const std::size_t* origin, const std::size_t* hostOrigin,
                                const std::size_t* region, std::size_t rowPitch,
                                std::size_t slicePitch, std::size_t hostRowPitch,
                                std::size_t hostSlicePitch, const void* host, cl_uint count,
                                const cl_event* events, cl_event* event) {
  static auto* const own =
      driversOwn<decltype(clEnqueueWriteBufferRect)>("clEnqueueWriteBufferRect");
  if (writesEarly())
    host = copyNow(host, reachOf(hostOrigin, region, hostRowPitch, hostSlicePitch));
  const WaitList waits(queue, count, events);
  return own(queue, buffer, blocks, origin, hostOrigin, region, rowPitch, slicePitch, hostRowPitch,
             hostSlicePitch, host, waits.count(), waits.data(), event);
}

cl_int clEnqueueCopyBufferRect(cl_command_queue queue, cl_mem from, cl_mem to,
                               const std::size_t* fromOrigin, const std::size_t* toOrigin,
                               const std::size_t* region, std::size_t fromRowPitch,
                               std::size_t fromSlicePitch, std::size_t toRowPitch,
                               std::size_t toSlicePitch, cl_uint count, const cl_event* events,
                               cl_event* event) {
  static auto* const own = driversOwn<decltype(clEnqueueCopyBufferRect)>("clEnqueueCopyBufferRect");
  const WaitList waits(queue, count, events);
  return own(queue, from, to, fromOrigin, toOrigin, region, fromRowPitch, fromSlicePitch,
             toRowPitch, toSlicePitch, waits.count(), waits.data(), event);
}

cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void* pattern,
                           std::size_t patternSize, std::size_t offset, std::size_t size,
                           cl_uint count, const cl_event* events, cl_event* event) {
  static auto* const own = driversOwn<decltype(clEnqueueFillBuffer)>("clEnqueueFillBuffer");
  const WaitList waits(queue, count, events);
  return own(queue, buffer, pattern, patternSize, offset, size, waits.count(), waits.data(), event);
}
}
