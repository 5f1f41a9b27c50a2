// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/in_place.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <functional>
#include <future>
#include <memory>
#include <utility>

#include "hpl/error.h"
#include "hpl/memory/detail/host_command.h"
#include "hpl/memory/detail/host_memory.h"
#include "hpl/runtime/events.h"
#include "hpl/runtime/log.h"
#include "hpl/runtime/runtime.h"
#include "hpl/runtime/settings.h"

namespace hpl::memory::detail {

using geometry::RectCopy;
using ranks::Elsewhere;
using runtime::Use;

namespace {

std::vector<const DeviceState*>& verifiedDevices() {
  static auto* devices = new std::vector<const DeviceState*>;
  return *devices;
}

// ---- the trial -------------------------------------------------------------------------------

// The trial's message has rows of different devices.
constexpr std::size_t kRow = 192;
constexpr std::size_t kPitch = 512;
constexpr std::size_t kRows = 16;
constexpr std::size_t kArea = kRows * kPitch;

unsigned char valueOf(int sender, std::size_t row) {
  return static_cast<unsigned char>(1 + 37 * sender + 11 * static_cast<int>(row));
}

/// A device, and memory from which it sends and to which it receives.
class TrialDevice {
 public:
  explicit TrialDevice(DeviceState& device)
      : device_(device),
        memory_(2 * kArea, HostMemory::Plain, "a trial"),
        buffer_(device.context(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, 2 * kArea,
                memory_.data()) {}

  DeviceState& device() const noexcept { return device_; }
  std::span<std::byte> rowOut(std::size_t row) { return {memory_.data() + row * kPitch, kRow}; }
  std::span<std::byte> rowIn(std::size_t row) { return rowOut(kRows + row); }

  /// The device writes what it will send.
  void fill(int sender) {
    const cl::CommandQueue& queue = device_.queue(QueueKind::Compute);
    cl::Event last;
    try {
      for (std::size_t row = 0; row < kRows; ++row)
        queue.enqueueFillBuffer(buffer_, valueOf(sender, row), row * kPitch, kRow, nullptr, &last);
    } catch (const cl::Error&) {
      // The memory goes with this object: not while a command writes it.
      if (last() != nullptr) static_cast<void>(runtime::endOf(last()));
      throw;
    }
    last.wait();
  }
  /// Whether the device, from where it works, sees the row that `sender` has sent.
  bool sees(int sender, std::size_t row) {
    const cl::CommandQueue& queue = device_.queue(QueueKind::Compute);
    const cl::Buffer other(device_.context(), CL_MEM_READ_WRITE, kRow);
    queue.enqueueCopyBuffer(buffer_, other, (kRows + row) * kPitch, 0, kRow);
    std::array<unsigned char, kRow> seen{};
    queue.enqueueReadBuffer(other, CL_TRUE, 0, kRow, seen.data());
    return std::all_of(seen.begin(), seen.end(),
                       [&](unsigned char value) { return value == valueOf(sender, row); });
  }

 private:
  DeviceState& device_;
  HostBlock memory_;
  cl::Buffer buffer_;
};

using TrialDevices = std::vector<std::unique_ptr<TrialDevice>>;

/// Runs what a driver may refuse.
bool succeeds(const std::function<bool()>& work) {
  try {
    return work();
  } catch (const cl::Error&) {
    return false;
  } catch (const Error&) {
    return false;
  }
}

bool addTrialDevice(TrialDevices& devices, DeviceState& device, int rank) {
  return succeeds([&] {
    devices.push_back(std::make_unique<TrialDevice>(device));
    devices.back()->fill(rank);
    return true;
  });
}

/// Waits until the message from the last rank is here and that to the next one has left.
void passAround(ranks::World& world, ranks::PartsOut out, ranks::PartsIn in) {
  std::array<std::promise<void>, 2> ends;
  const auto end = [&ends](std::size_t which) {
    return [end = &ends[which]](const std::exception_ptr& failure, std::size_t) {
      failure ? end->set_exception(failure) : end->set_value();
    };
  };
  const int size = world.size();
  world.courier().receive((world.rank() + size - 1) % size, std::move(in), end(0));
  world.courier().send((world.rank() + 1) % size, std::move(out), end(1));
  for (std::promise<void>& some : ends) some.get_future().wait();
  world.courier().check();
}

/// Sends rows of the devices to the next rank. Whether those of the last one came as they should,
/// as far as there are devices to look at them.
bool tryRows(ranks::World& world, TrialDevices& devices) {
  std::vector<std::byte> own(kRows * kRow);
  auto out = std::make_shared<ranks::PartsOut::List>();
  auto in = std::make_shared<ranks::PartsIn::List>();
  for (std::size_t row = 0; row < kRows; ++row) {
    if (devices.empty()) {
      std::byte* const at = own.data() + row * kRow;
      std::memset(at, valueOf(world.rank(), row), kRow);
      out->emplace_back(at, kRow);
      continue;
    }
    TrialDevice& device = *devices[row % devices.size()];
    out->push_back(device.rowOut(row));
    in->push_back(device.rowIn(row));
  }
  std::vector<std::byte> unseen(devices.empty() ? kRows * kRow : 0);
  if (devices.empty()) in->emplace_back(unseen);
  passAround(world, ranks::PartsOut(std::shared_ptr<const ranks::PartsOut::List>(std::move(out))),
             ranks::PartsIn(std::shared_ptr<const ranks::PartsIn::List>(std::move(in))));
  const int sender = (world.rank() + world.size() - 1) % world.size();
  for (std::size_t row = 0; row < kRows && !devices.empty(); ++row)
    if (!devices[row % devices.size()]->sees(sender, row)) return false;
  return true;
}

bool isWanted(const ranks::World& world) {
  const runtime::Transports& ways = runtime::settings().transport;
  if (world.size() == 1 || ways.inPlace == Use::Never) return false;
  return ways.inPlace == Use::Required || world.nodes() > 1 || ways.window == Use::Never;
}

[[noreturn]] void throwNotThere(const char* why) {
  throw SettingsError(std::string("HPL_TRANSPORT=inplace asks for messages that leave from and "
                                  "arrive in the memory of devices, and ") +
                      why +
                      "; HPL_TRANSPORT=auto lets cells pass through memory of the messages' own");
}

}  // namespace

void verifyInPlace(ranks::World& world) {
  if (!isWanted(world)) return;
  const bool isRequired = runtime::settings().transport.inPlace == Use::Required;
  TrialDevices devices;
  bool isRight = true;
  for (const auto& device : runtime::Runtime::get().devices())
    if (device->isLocal() && device->sharesHostMemory() && device->honoursUserEvents())
      isRight = addTrialDevice(devices, *device, world.rank()) && isRight;
  if (!isRight) devices.clear();
  const bool isThere = !isRequired || world.courier().allAgree(!devices.empty());
  isRight = succeeds([&] { return tryRows(world, devices); }) && isRight;
  world.courier().check();
  const bool isRightEverywhere = world.courier().allAgree(isRight);
  if (isRequired && !isThere)
    throwNotThere("some rank has no device that works in the host's memory");
  if (isRequired && !isRightEverywhere) throwNotThere("cells of a trial came out wrong");
  if (isRightEverywhere)
    for (const auto& trial : devices) verifiedDevices().push_back(&trial->device());
  if (world.rank() != 0) return;
  if (!isRightEverywhere)
    runtime::log::warn(
        "cells of a trial message from the memory of one device to that of another came out "
        "wrong: cells pass through memory of the messages' own, which takes a copy more at each "
        "end. HPL_TRANSPORT=-inplace asks for that");
  if (runtime::settings().explain && !verifiedDevices().empty())
    std::fputs("hpl: messages leave from and arrive in the memory of devices (in place)\n", stderr);
}

// ---- rows ------------------------------------------------------------------------------------

namespace {

// Up to 64 rows of 64 bytes or more a step of two ranks takes 0.74 to 1.03 of the time with copies
// by the devices, for 512 rows of 64 bytes 1.35 times as long (over Open MPI's shared memory).
constexpr std::size_t kMostRows = 64;
constexpr std::size_t kShortestRow = 64;
// In place, a message costs its ends more commands and calls than it saves where there is little to
// copy: two ranks with rows of 64 bytes take 1.3 times as long for a step (perf/ranks.py), with
// rows of 8 KiB 0.8 times.
constexpr std::size_t kLeast = 2048;

struct Strides {
  std::size_t begin, row, slice;
};
Strides sourceOf(const RectCopy& copy) {
  return {copy.srcOffset(), copy.srcRowPitch, copy.srcSlicePitch};
}
Strides targetOf(const RectCopy& copy) {
  return {copy.dstOffset(), copy.dstRowPitch, copy.dstSlicePitch};
}

}  // namespace

std::vector<Elsewhere> rowsInPlace(const Replica& replica, const std::vector<RectCopy>& copies,
                                   Side side, std::size_t offset) {
  const auto& verified = verifiedDevices();
  if (std::find(verified.begin(), verified.end(), &replica.device()) == verified.end()) return {};
  std::byte* const buffer = addressForHost(replica);
  std::size_t count = 0, bytes = 0;
  for (const RectCopy& copy : copies) {
    count += copy.region[1] * copy.region[2];
    bytes += copy.bytes();
  }
  if (buffer == nullptr || count > std::max(bytes / kShortestRow, std::size_t{1})) return {};
  const bool isRequired = runtime::settings().transport.inPlace == Use::Required;
  if (count > kMostRows || (bytes < kLeast && !isRequired)) return {};
  std::vector<Elsewhere> rows;
  for (const RectCopy& copy : copies) {
    const Strides here = side == Side::Source ? sourceOf(copy) : targetOf(copy);
    const Strides there = side == Side::Source ? targetOf(copy) : sourceOf(copy);
    for (std::size_t slice = 0; slice < copy.region[2]; ++slice)
      for (std::size_t row = 0; row < copy.region[1]; ++row)
        rows.push_back(
            {offset + there.begin + slice * there.slice + row * there.row,
             {buffer + here.begin + slice * here.slice + row * here.row, copy.region[0]}});
  }
  std::sort(rows.begin(), rows.end(),
            [](const Elsewhere& a, const Elsewhere& b) { return a.offset < b.offset; });
  return rows;
}

}  // namespace hpl::memory::detail
