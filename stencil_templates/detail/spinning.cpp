// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/spinning.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
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
#include "stencil_templates/detail/peer_array.h"

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

using Devices = std::span<const Device>;

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
  /// By devices, groups on each and work-items.
  std::map<std::tuple<std::vector<std::uint64_t>, std::int64_t, std::int64_t>, std::string> reasons;
  std::set<std::uint64_t> givenUp;
  std::optional<bool> planted;

  static Known& get() {
    static auto* known = new Known;
    return *known;
  }
};

std::string missing(Devices devices, std::int64_t groups, const std::string& seen) {
  if (devices.size() == 1)
    return fmt::format("the device does not run {} groups at once{}", groups, seen);
  return fmt::format("the {} devices do not run {} groups each at once{}", devices.size(), groups,
                     seen);
}

/// How many groups have seen all others begin, in so many looks.
int groupsThatSawAll(Devices devices, std::int64_t groups, std::int64_t items, int looks) {
  const PeerArray count(devices.size(), irType<int>(), {2});
  const auto entry = launch::entryOf<decltype(&countGroups)>(&countGroups);
  const auto all = static_cast<int>(groups * static_cast<std::int64_t>(devices.size()));
  for (std::size_t d = 0; d < devices.size(); ++d) {
    launch::LaunchOptions options;
    options.device = &devices[d].state();
    options.global = Domain(static_cast<std::size_t>(groups * items));
    options.local = Domain(static_cast<std::size_t>(items));
    const launch::Argument list[] = {count.argumentOn(d), launch::makeArgument(all),
                                     launch::makeArgument(looks)};
    launch::launch(entry, options, list);
  }
  int seen = 0;
  for (std::size_t d = 0; d < devices.size(); ++d) seen = count.valueAfter(d, 1);
  return seen;
}

/// Empty when all groups have seen all others.
std::string census(Devices devices, std::int64_t groups, std::int64_t items) {
  const int looks = devices.front().type() == CPU ? kCensusLooks : kCensusLooksOfGpu;
  try {
    // Each of several devices has its kernel, and nothing else to do, before one waits for others.
    if (devices.size() > 1) groupsThatSawAll(devices, groups, items, 1);
    const int seen = groupsThatSawAll(devices, groups, items, looks);
    if (seen == groups * static_cast<std::int64_t>(devices.size())) return "";
    return missing(devices, groups, fmt::format(": {} of them saw all begin", seen));
  } catch (const Error& error) {
    return missing(devices, groups, fmt::format(": {}", error.what()));
  }
}

std::string keptCensus(Devices devices, std::int64_t groups, std::int64_t items) {
  runtime::DeviceState& first = devices.front().state();
  std::string name = "groups at once";
  if (devices.size() > 1) {
    name += " on several devices:";
    for (const Device& device : devices) name += " " + device.state().name();
  }
  const std::string key = layout::findingKey(
      fmt::format("{}: {} of {} work-items", name, groups, items), DEFAULT_FP, first);
  if (layout::findingFor(first, key)) return "";
  std::string reason = census(devices, groups, items);
  if (reason.empty() && runtime::settings().tune != runtime::TuneMode::Off) {
    tune::Finding finding;
    finding.complete = finding.thorough = true;
    finding.note = "all groups were seen to run at the same time";
    layout::findingsOf(first).keep(key, finding);
  }
  return reason;
}

struct Leases {
  struct Lease {
    std::uint64_t id = 0;
    std::vector<Device> devices;
    /// On each of them.
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

/// How many of the devices are parts or copies of the one that `device` is of.
std::int64_t alike(Devices devices, const Device& device) {
  return std::count_if(devices.begin(), devices.end(), [&](const Device& other) {
    return device.state().samePhysicalDeviceAs(other.state());
  });
}

std::string units(std::int64_t count) {
  return fmt::format("{} unit{}", count, count == 1 ? "" : "s");
}

/// Of the devices' kinds, and in numbers.
std::string obstacle(Devices devices, std::int64_t groups) {
  for (const Device& device : devices) {
    if (std::string why = unfit(device); !why.empty()) return why;
    if (devices.size() > 1 && !device.getProperties().sharesHostMemory)
      return fmt::format(
          "device {} does not work in the host's memory, through which groups on several devices "
          "exchange cells",
          device.state().name());
    const std::int64_t own = device.getProperties().computeUnits;
    if (groups > own)
      return fmt::format("{} groups would wait for each other, and the device has {}", groups,
                         units(own));
    const std::int64_t all = groups * alike(devices, device);
    const std::int64_t physical = device.state().physicalUnits();
    if (all > physical)
      return fmt::format(
          "{} groups on {} devices would wait for each other, and these are parts or copies of one "
          "with {}",
          all, alike(devices, device), units(physical));
  }
  return "";
}

}  // namespace

unsigned unitsOfEach(std::span<const Device> devices) {
  unsigned least = std::numeric_limits<unsigned>::max();
  for (const Device& device : devices) {
    const unsigned shared =
        device.state().physicalUnits() / static_cast<unsigned>(alike(devices, device));
    least = std::min({least, shared, device.getProperties().computeUnits});
  }
  return std::max(1u, least);
}

std::string whyNotSpinning(const Device& device, std::int64_t groups, std::int64_t items) {
  return whyNotSpinning({&device, 1}, groups, items);
}

std::string whyNotSpinning(std::span<const Device> devices, std::int64_t groups,
                           std::int64_t items) {
  if (groups <= 1 && devices.size() == 1) return "";
  if (std::string why = obstacle(devices, groups); !why.empty()) return why;
  Known& known = Known::get();
  const std::lock_guard lock(known.mutex);
  if (known.planted) return *known.planted ? "" : missing(devices, groups, ": a test says so");
  std::vector<std::uint64_t> serials;
  for (const Device& device : devices) serials.push_back(device.state().serial());
  const std::tuple key{serials, groups, items};
  const auto found = known.reasons.find(key);
  if (found != known.reasons.end()) return found->second;
  return known.reasons[key] = keptCensus(devices, groups, items);
}

void plantCensus(std::optional<bool> result) {
  Known& known = Known::get();
  const std::lock_guard lock(known.mutex);
  known.planted = result;
  known.reasons.clear();
  known.givenUp.clear();
}

bool noteGivenUp(std::span<const Device> devices) {
  Known& known = Known::get();
  const std::lock_guard lock(known.mutex);
  bool isNew = false;
  for (const Device& device : devices)
    isNew = known.givenUp.insert(device.state().serial()).second || isNew;
  return isNew;
}

bool hasGivenUp(std::span<const Device> devices) {
  Known& known = Known::get();
  const std::lock_guard lock(known.mutex);
  return std::any_of(devices.begin(), devices.end(), [&](const Device& device) {
    return known.givenUp.contains(device.state().serial());
  });
}

int patienceOn(const Device& device) {
  if (const int asked = runtime::settings().patience; asked > 0) return asked;
  // A look takes a CPU some nanoseconds, and a GPU's memory a microsecond.
  return device.type() == CPU ? 1 << 28 : 1 << 20;
}

std::optional<SpinLease> SpinLease::take(std::span<const Device> devices, std::int64_t groups) {
  if (groups <= 1 && devices.size() == 1) return SpinLease(0);
  Leases& leases = Leases::get();
  const std::lock_guard lock(leases.mutex);
  for (const Device& device : devices) {
    std::int64_t all = groups * alike(devices, device);
    for (const Leases::Lease& lease : leases.held)
      all += lease.groups * alike(lease.devices, device);
    if (all > static_cast<std::int64_t>(device.state().physicalUnits())) return std::nullopt;
  }
  leases.held.push_back({++leases.last, {devices.begin(), devices.end()}, groups});
  return SpinLease(leases.last);
}

SpinLease::~SpinLease() {
  if (id_ == 0) return;
  Leases& leases = Leases::get();
  const std::lock_guard lock(leases.mutex);
  std::erase_if(leases.held, [this](const Leases::Lease& lease) { return lease.id == id_; });
}

}  // namespace hpl::stencils
