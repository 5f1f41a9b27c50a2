// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/spinning.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <vector>

#include "hpl/hpl.h"
#include "hpl/layout/tuner.h"
#include "hpl/runtime/device_state.h"
#include "hpl/runtime/quirks.h"
#include "hpl/runtime/settings.h"

namespace hpl::stencils {
namespace {

/// Looks of the census: a tenth of a second on a CPU.
constexpr int kCensusLooks = 1 << 23;
constexpr int kCensusLooksOfGpu = 1 << 18;

/// count[0]: groups that have begun; count[1]: those that have seen all begin.
void countGroups(Array<int, 1> count, Int groups, Int looks) {
  if_(lidx == 0) {
    Int seen = atomic_inc(count[0]);
    for_(Int look = 0, look < looks, look++) {
      seen = atomic_or(count[0], 0);
      if_(seen >= groups) {
        atomic_inc(count[1]);
        break_;
      }
    }
  }
}

/// Drivers where a loop has an end of its own, or groups run one after the other.
std::string unfit(const Device& device) {
  const DeviceProperties properties = device.getProperties();
  const runtime::Quirks& quirks = runtime::quirksOf(properties);
  if (quirks.mostIterations > 0)
    return fmt::format("{} ends the loops of a work-item after {} iterations", quirks.platform,
                       quirks.mostIterations);
  if (quirks.isSimulator) return fmt::format("{} runs groups one after the other", quirks.platform);
  return "";
}

struct Known {
  std::mutex mutex;
  /// By device, groups and work-items.
  std::map<std::tuple<std::uint64_t, std::int64_t, std::int64_t>, std::string> reasons;
  std::set<std::uint64_t> givenUp;
  std::optional<bool> planted;

  static Known& get() {
    static auto* known = new Known;
    return *known;
  }
};

std::string missing(std::int64_t groups, const std::string& seen) {
  return fmt::format("the device does not run {} groups at once{}", groups, seen);
}

/// Empty when all groups have seen all others.
std::string census(const Device& device, std::int64_t groups, std::int64_t items) {
  const int looks = device.type() == CPU ? kCensusLooks : kCensusLooksOfGpu;
  try {
    Array<int, 1> count(2);
    count = 0;
    const auto size = static_cast<std::size_t>(groups * items);
    eval(countGroups)
        .global(size)
        .local(static_cast<std::size_t>(items))
        .device(device)(count, static_cast<int>(groups), looks);
    const int seen = count(1);
    if (seen == groups) return "";
    return missing(groups, fmt::format(": {} of them saw all begin", seen));
  } catch (const Error& error) {
    return missing(groups, fmt::format(": {}", error.what()));
  }
}

std::string keptCensus(const Device& device, std::int64_t groups, std::int64_t items) {
  const std::string key =
      layout::findingKey(fmt::format("groups at once: {} of {} work-items", groups, items),
                         DEFAULT_FP, device.state());
  if (layout::findingFor(device.state(), key)) return "";
  std::string reason = census(device, groups, items);
  if (reason.empty() && runtime::settings().tune != runtime::TuneMode::Off) {
    tune::Finding finding;
    finding.complete = finding.thorough = true;
    finding.note = "all groups were seen to run at the same time";
    layout::findingsOf(device.state()).keep(key, finding);
  }
  return reason;
}

struct Leases {
  struct Lease {
    std::uint64_t id = 0;
    const runtime::DeviceState* device = nullptr;
    std::int64_t groups = 0;
  };
  std::mutex mutex;
  std::vector<Lease> held;
  std::uint64_t last = 0;

  static Leases& get() {
    static auto* leases = new Leases;
    return *leases;
  }
};

}  // namespace

std::string whyNotSpinning(const Device& device, std::int64_t groups, std::int64_t items) {
  if (groups <= 1) return "";
  if (std::string why = unfit(device); !why.empty()) return why;
  const std::int64_t units = device.getProperties().computeUnits;
  if (groups > units)
    return fmt::format("{} groups would wait for each other, and the device has {} unit{}", groups,
                       units, units == 1 ? "" : "s");
  Known& known = Known::get();
  const std::lock_guard lock(known.mutex);
  if (known.planted) return *known.planted ? "" : missing(groups, ": a test says so");
  const std::tuple key{device.state().serial(), groups, items};
  const auto found = known.reasons.find(key);
  if (found != known.reasons.end()) return found->second;
  return known.reasons[key] = keptCensus(device, groups, items);
}

void plantCensus(std::optional<bool> result) {
  Known& known = Known::get();
  const std::lock_guard lock(known.mutex);
  known.planted = result;
  known.reasons.clear();
  known.givenUp.clear();
}

bool noteGivenUp(const Device& device) {
  Known& known = Known::get();
  const std::lock_guard lock(known.mutex);
  return known.givenUp.insert(device.state().serial()).second;
}

bool hasGivenUp(const Device& device) {
  Known& known = Known::get();
  const std::lock_guard lock(known.mutex);
  return known.givenUp.contains(device.state().serial());
}

int patienceOn(const Device& device) {
  if (const int asked = runtime::settings().patience; asked > 0) return asked;
  // A look takes a CPU some nanoseconds, and a GPU's memory a microsecond.
  return device.type() == CPU ? 1 << 28 : 1 << 20;
}

std::optional<SpinLease> SpinLease::take(const Device& device, std::int64_t groups) {
  if (groups <= 1) return SpinLease(0);
  Leases& leases = Leases::get();
  const std::lock_guard lock(leases.mutex);
  std::int64_t all = groups;
  for (const Leases::Lease& lease : leases.held)
    if (lease.device->samePhysicalDeviceAs(device.state())) all += lease.groups;
  if (all > static_cast<std::int64_t>(device.getProperties().computeUnits)) return std::nullopt;
  leases.held.push_back({++leases.last, &device.state(), groups});
  return SpinLease(leases.last);
}

SpinLease::~SpinLease() {
  if (id_ == 0) return;
  Leases& leases = Leases::get();
  const std::lock_guard lock(leases.mutex);
  std::erase_if(leases.held, [this](const Leases::Lease& lease) { return lease.id == id_; });
}

}  // namespace hpl::stencils
