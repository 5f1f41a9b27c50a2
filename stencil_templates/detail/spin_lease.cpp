// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/spin_lease.h"

#include <algorithm>
#include <list>
#include <mutex>
#include <utility>
#include <vector>

#include "hpl/runtime/device_state.h"
#include "stencil_templates/detail/unit_locks.h"

namespace hpl::stencils {
namespace {

/// The groups that this process lets wait on a device.
struct Holding {
  std::vector<Device> devices;
  /// On each of them.
  std::int64_t groups = 0;

  std::int64_t groupsOn(const Device& device) const {
    return groups * std::count_if(devices.begin(), devices.end(), [&](const Device& other) {
             return device.state().samePhysicalDeviceAs(other.state());
           });
  }
};

struct Holdings {
  std::mutex mutex;
  std::list<Holding> held;

  static Holdings& get() {
    static auto* holdings = new Holdings;
    return *holdings;
  }
};

}  // namespace

class SpinLease::Held {
 public:
  Held() = default;
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    if (!isListed_) return;
    Holdings& all = Holdings::get();
    const std::lock_guard lock(all.mutex);
    all.held.erase(place_);
  }

  bool take(Holding wish) {
    if (!isFree(wish)) return false;
    const auto isFirstOfItsKind = [&](std::size_t d) {
      return std::none_of(wish.devices.begin(), wish.devices.begin() + static_cast<long>(d),
                          [&](const Device& other) {
                            return other.state().samePhysicalDeviceAs(wish.devices[d].state());
                          });
    };
    for (std::size_t d = 0; d < wish.devices.size(); ++d)
      if (isFirstOfItsKind(d) && !locks_.take(wish.devices[d], wish.groupsOn(wish.devices[d])))
        return false;
    return true;
  }

 private:
  bool isFree(const Holding& wish) {
    Holdings& all = Holdings::get();
    const std::lock_guard lock(all.mutex);
    for (const Device& device : wish.devices) {
      std::int64_t groups = wish.groupsOn(device);
      for (const Holding& other : all.held) groups += other.groupsOn(device);
      if (groups > static_cast<std::int64_t>(device.state().unitsOfDriver())) return false;
    }
    place_ = all.held.insert(all.held.end(), wish);
    isListed_ = true;
    return true;
  }

  std::list<Holding>::iterator place_;
  bool isListed_ = false;
  UnitLocks locks_;
};

SpinLease::SpinLease(std::unique_ptr<Held> held) : held_(std::move(held)) {}

SpinLease::SpinLease(SpinLease&& other) noexcept = default;

SpinLease::~SpinLease() = default;

std::optional<SpinLease> SpinLease::take(std::span<const Device> devices, std::int64_t groups) {
  Holding wish{{}, groups};
  for (const Device& device : devices)
    if (device.isLocal()) wish.devices.push_back(device);
  auto held = std::make_unique<Held>();
  if ((groups > 1 || devices.size() > 1) && !held->take(wish)) return std::nullopt;
  return SpinLease(std::move(held));
}

}  // namespace hpl::stencils
