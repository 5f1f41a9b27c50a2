// SPDX-License-Identifier: Apache-2.0
#include "hpl/topology/measure.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>

namespace hpl::topology {
namespace {

using runtime::DeviceState;

constexpr std::size_t kProbeBytes = std::size_t{4} << 20;
constexpr int kProbeTimes = 3;

/// The best of a few times, after one that does not count: drivers make pages then.
template <class F>
double bandwidthOf(F&& run) {
  using Clock = std::chrono::steady_clock;
  double best = 0;
  for (int i = 0; i <= kProbeTimes; ++i) {
    const auto begin = Clock::now();
    run();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (i > 0) best = std::max(best, static_cast<double>(kProbeBytes) / std::max(seconds, 1e-9));
  }
  return best;
}

class Meter {
 public:
  explicit Meter(const std::vector<DeviceState*>& devices) : devices_(devices), host_(kProbeBytes) {
    for (DeviceState* device : devices) {
      cl_int code = CL_SUCCESS;
      buffers_.emplace_back(
          clCreateBuffer(device->context()(), CL_MEM_READ_WRITE, kProbeBytes, nullptr, &code));
      runtime::check(code, "clCreateBuffer", device);
    }
  }

  void read(std::size_t i) {
    const cl_int code =
        clEnqueueReadBuffer(devices_[i]->queue(runtime::QueueKind::Out)(), buffers_[i](), CL_TRUE,
                            0, kProbeBytes, host_.data(), 0, nullptr, nullptr);
    runtime::check(code, "clEnqueueReadBuffer", devices_[i]);
  }
  void write(std::size_t i) {
    const cl_int code = clEnqueueWriteBuffer(devices_[i]->transferQueue()(), buffers_[i](), CL_TRUE,
                                             0, kProbeBytes, host_.data(), 0, nullptr, nullptr);
    runtime::check(code, "clEnqueueWriteBuffer", devices_[i]);
  }
  void copy(std::size_t from, std::size_t to) {
    cl::Event copied;
    runtime::check(clEnqueueCopyBuffer(devices_[to]->transferQueue()(), buffers_[from](),
                                       buffers_[to](), 0, 0, kProbeBytes, 0, nullptr, &copied()),
                   "clEnqueueCopyBuffer", devices_[to]);
    runtime::check(clWaitForEvents(1, &copied()), "clWaitForEvents", devices_[to]);
  }

 private:
  const std::vector<DeviceState*>& devices_;
  std::vector<cl::Buffer> buffers_;
  std::vector<std::byte> host_;
};

}  // namespace

double inSequence(double first, double second) { return 1 / (1 / first + 1 / second); }

OwnSpeeds measureOwn(const std::vector<DeviceState*>& devices) {
  OwnSpeeds speeds;
  speeds.between = geometry::SquareMatrix(static_cast<int>(devices.size()));
  Meter meter(devices);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    speeds.writing.push_back(bandwidthOf([&] { meter.write(i); }));
    speeds.reading.push_back(bandwidthOf([&] { meter.read(i); }));
  }
  for (std::size_t from = 0; from < devices.size(); ++from)
    for (std::size_t to = 0; to < devices.size(); ++to) {
      if (from == to) continue;
      speeds.between(static_cast<int>(from), static_cast<int>(to)) =
          devices[from]->sharesContextWith(*devices[to])
              ? bandwidthOf([&] { meter.copy(from, to); })
              : inSequence(speeds.reading[from], speeds.writing[to]);
    }
  return speeds;
}

}  // namespace hpl::topology
