// SPDX-License-Identifier: Apache-2.0
#include "devices.h"

#include <map>
#include <mutex>
#include <utility>

#include "hpl/runtime/detail/discovery.h"
#include "hpl/runtime/settings.h"
#include "hpl/trace/profile.h"
#include "tests/device_type.h"

namespace memory_tests {

namespace {

// One work-item does it all, so that the order is that of the model and one specialisation serves
// every box (a driver may compile again for each local size).
constexpr const char* kSource = R"(
kernel void work(global long* dst, ulong dstOffset, ulong d0, ulong d1, ulong d2,
                 global long* src, ulong srcOffset, ulong s0, ulong s1, ulong s2,
                 ulong e0, ulong e1, ulong e2, int mode, long value, int idle, int parity) {
  volatile private int spin = 0;
  for (int n = 0; n < idle; ++n) spin += n;
  for (ulong i = 0; i < e0; ++i)
    for (ulong j = 0; j < e1; ++j)
      for (ulong k = 0; k < e2; ++k) {
        global long* out = dst + dstOffset + i * d0 + j * d1 + k * d2;
        if (mode == 0) *out = value;
        if (mode == 1 && ((i + j + k + parity) & 1) == 0) *out = value;
        if (mode == 2) *out = *out * 3 + value;
        if (mode == 3) *out = src[srcOffset + i * s0 + j * s1 + k * s2] * 2 + value;
      }
}
)";

cl::Kernel makeKernel(DeviceState& device) {
  static std::mutex mutex;
  static auto* programs = new std::map<cl_context, cl::Program>;
  const std::lock_guard lock(mutex);
  cl::Program& program = (*programs)[device.context()()];
  if (program() == nullptr) {
    program = cl::Program(device.context(), kSource);
    program.build();
  }
  return cl::Kernel(program, "work");
}

// Sets (memory, offset, strides) for a view of up to three dimensions.
void setPlace(cl::Kernel& kernel, cl_uint first, const Placement& place) {
  cl_ulong strides[3] = {0, 0, 0};
  const int rank = place.strides.rank();
  for (int d = 0; d < rank; ++d) {
    strides[3 - rank + d] = static_cast<cl_ulong>(place.strides[d]);
  }
  kernel.setArg(first, sizeof(cl_mem), &place.buffer);
  kernel.setArg(first + 1, static_cast<cl_ulong>(place.offset));
  for (cl_uint d = 0; d < 3; ++d) kernel.setArg(first + 2 + d, strides[d]);
}

cl::Event enqueue(const Plan& plan, const std::vector<cl::Event>& waits) {
  const Launch& job = plan.launch;
  cl::Kernel kernel = makeKernel(*plan.device);
  setPlace(kernel, 0, plan.placements.front());
  setPlace(kernel, 5, plan.placements.back());
  cl_ulong extents[3] = {1, 1, 1};
  const int rank = job.dst->rank();
  for (int d = 0; d < rank; ++d) {
    extents[3 - rank + d] = static_cast<cl_ulong>(job.dst->extents[d]);
  }
  for (cl_uint d = 0; d < 3; ++d) kernel.setArg(10 + d, extents[d]);
  kernel.setArg(13, static_cast<cl_int>(job.work));
  kernel.setArg(14, static_cast<cl_long>(job.value));
  kernel.setArg(15, static_cast<cl_int>(job.idle));
  kernel.setArg(16, static_cast<cl_int>(0));
  cl::Event event;
  plan.device->computeQueue().enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1),
                                                   cl::NDRange(1), &waits, &event);
  plan.device->computeQueue().flush();
  return event;
}

void launchSlowly(Transaction& transaction, Plan& plan) {
  const std::vector<DeviceUse> uses = plan.launch.uses();
  plan.placements.resize(uses.size());
  plan.tickets.resize(uses.size());
  std::vector<cl::Event> waits;
  transaction.prepare(*plan.device, uses, plan.placements, waits);
  transaction.commit(enqueue(plan, waits), plan.tickets);
}

}  // namespace

std::vector<DeviceState*> openDevices(const std::string& list, bool zeroCopy) {
  using Devices = std::vector<std::unique_ptr<DeviceState>>;
  static std::mutex mutex;
  static auto* opened = new std::map<std::pair<std::string, bool>, Devices>;
  const std::lock_guard lock(mutex);
  Devices& devices = (*opened)[{list, zeroCopy}];
  if (devices.empty()) {
    const hpl::runtime::Settings before = hpl::runtime::settings();
    hpl::runtime::Settings wanted = before;
    wanted.zeroCopy = zeroCopy ? hpl::runtime::ZeroCopy::On : hpl::runtime::ZeroCopy::Off;
    hpl::runtime::overrideSettings(wanted);
    devices =
        hpl::runtime::selectDevices(hpl::runtime::takeInventory(),
                                    hpl::runtime::parseDeviceList(hpl_tests::deviceType() + list));
    for (auto& device : devices) device->sharesHostMemory();
    hpl::runtime::overrideSettings(before);
  }
  std::vector<DeviceState*> result;
  for (auto& device : devices) result.push_back(device.get());
  return result;
}

bool canBeOpened(const std::string& list) {
  if (list.find('/') == std::string::npos) return true;
  cl_uint most = 0;
  const DeviceState& device = *openDevices(":0", false).front();
  clGetDeviceInfo(device.device()(), CL_DEVICE_PARTITION_MAX_SUB_DEVICES, sizeof most, &most,
                  nullptr);
  return most > 1;
}
bool hasSharedDevices() { return sharedDevice().sharesHostMemory(); }

DeviceState& separateDevice() { return *openDevices(":0*3", false).front(); }
DeviceState& sharedDevice() { return *openDevices(":0*3", true).front(); }

std::shared_ptr<Root> makeArray(const Extents& shape, const std::string& label, void* userMemory,
                                HostMemory hostMemory) {
  hpl::memory::RootOptions options;
  options.shape = shape;
  options.elementSize = sizeof(std::int64_t);
  options.type.scalar = hpl::ir::Scalar::Long;
  options.label = label;
  options.hostMemory = hostMemory;
  options.userMemory = userMemory;
  return Root::create(options);
}

std::int64_t& hostCell(View& view, const Point& cell) {
  Index at = 0;
  for (int d = 0; d < cell.rank(); ++d) at += cell[d] * view.strides[d];
  return reinterpret_cast<std::int64_t*>(view.host)[at];
}

std::vector<DeviceUse> Launch::uses() const {
  switch (work) {
    case Work::Set:
      return {{dst, false, true, true}};
    case Work::SetSome:
      return {{dst, false, true, false}};
    case Work::Increment:
      return {{dst, true, true, false}};
    case Work::FromSource:
      break;
  }
  return {{dst, false, true, true}, {src, true, false, false}};
}

Plan launch(DeviceState& device, const Launch& job) {
  Plan plan{&device, job, {}, {}};
  Transaction transaction;
  launchSlowly(transaction, plan);
  return plan;
}

bool repeat(Plan& plan) {
  Transaction transaction;
  if (!Transaction::isFresh(plan.launch.uses(), plan.tickets)) {
    launchSlowly(transaction, plan);
    return false;
  }
  transaction.touch(*plan.device, enqueue(plan, {}), plan.tickets);
  return true;
}

Bytes bytesSoFar() {
  const hpl::ProfilingData total = hpl::getTotalProfile();
  return {total.bytesHostToDevice, total.bytesDeviceToHost, total.bytesDeviceToDevice};
}

Bytes operator-(const Bytes& a, const Bytes& b) {
  return {a.up - b.up, a.down - b.down, a.across - b.across};
}

}  // namespace memory_tests
