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

#include "hpl/error.h"
#include "hpl/hpl.h"
#include "hpl/layout/tuner.h"
#include "hpl/memory/operations.h"
#include "hpl/memory/peer_memory.h"
#include "hpl/runtime/device_state.h"
#include "hpl/runtime/global_list.h"
#include "hpl/runtime/quirks.h"
#include "hpl/runtime/settings.h"
#include "stencil_templates/detail/peer_array.h"
#include "stencil_templates/detail/rim_streams.h"
#include "stencil_templates/detail/spin_lease.h"

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

using Devices = std::vector<Device>;

/// Devices by their serials, and whether one rank asks alone: what it knows others may not know.
using SpinnersKey = std::pair<std::vector<std::uint64_t>, bool>;
/// With groups on each and work-items.
using CensusKey = std::tuple<SpinnersKey, std::int64_t, std::int64_t>;

/// Facts about a device that only the process that owns it can tell.
struct Seat {
  bool sharesHostMemory = false;
  /// Its process shares memory with others of its node.
  bool sharesPeerMemory = false;
  unsigned physicalUnits = 1;
  /// Groups that run at the same time: of a copy of a CPU fewer than it says to have units, where
  /// ranks share it.
  unsigned ownUnits = 1;
  /// The first of the devices that is a part or a copy of the same physical device.
  std::size_t firstAlike = 0;
};
using Seats = std::vector<Seat>;

struct Known {
  std::mutex mutex;
  std::map<CensusKey, std::string> reasons;
  std::map<SpinnersKey, Seats> seats;
  std::set<std::pair<std::uint64_t, bool>> givenUp;
  std::optional<bool> planted;

  static Known& get() {
    static auto* known = new Known;
    return *known;
  }
};

SpinnersKey keyOf(const Spinners& on) {
  SpinnersKey key{{}, on.isRankLocal};
  for (const Device& device : on.devices) key.first.push_back(device.state().serial());
  return key;
}

Seat seatOf(const Devices& devices, std::size_t d) {
  const Device& device = devices[d];
  Seat seat{device.getProperties().sharesHostMemory, memory::sharesPeerMemory(),
            device.state().physicalUnits(),
            std::min(device.getProperties().computeUnits, device.state().unitsOfDriver()), 0};
  while (!devices[seat.firstAlike].state().samePhysicalDeviceAs(device.state())) ++seat.firstAlike;
  return seat;
}

/// Processes of a node see the same processors under names of their own.
bool areOneCpu(const Device& a, const Device& b) {
  const DeviceProperties one = a.getProperties(), other = b.getProperties();
  return a.rank() != b.rank() && a.state().node() == b.state().node() && one.type == CPU &&
         other.type == CPU && one.platform == other.platform;
}

Seats findSeats(const Spinners& on) {
  constexpr std::size_t kWords = 5;
  const Devices& devices = on.devices;
  std::vector<double> own;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    if (!devices[d].isLocal()) continue;
    const Seat seat = seatOf(devices, d);
    own.insert(own.end(),
               {seat.sharesHostMemory ? 1.0 : 0.0, seat.sharesPeerMemory ? 1.0 : 0.0,
                static_cast<double>(seat.physicalUnits), static_cast<double>(seat.ownUnits),
                static_cast<double>(seat.firstAlike)});
  }
  // A process alone is heard as the first one.
  const bool hasOthers = runtime::hasRanks() && !on.isRankLocal;
  const std::vector<std::vector<double>> all =
      hasOthers ? memory::detail::tellRanks("devices whose groups are to wait for each other",
                                            std::move(own))
                : std::vector<std::vector<double>>{std::move(own)};
  std::vector<std::size_t> heard(all.size(), 0);
  Seats seats;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const auto rank = hasOthers ? static_cast<std::size_t>(devices[d].rank()) : 0;
    const double* const words = all[rank].data() + kWords * heard[rank]++;
    Seat seat{words[0] > 0, words[1] > 0, static_cast<unsigned>(words[2]),
              static_cast<unsigned>(words[3]), static_cast<std::size_t>(words[4])};
    for (std::size_t e = 0; e < d; ++e)
      if (areOneCpu(devices[e], devices[d]))
        seat.firstAlike = std::min(seat.firstAlike, seats[e].firstAlike);
    seats.push_back(seat);
  }
  return seats;
}

Seats seatsOf(const Spinners& on) {
  Known& known = Known::get();
  const std::lock_guard lock(known.mutex);
  Seats& seats = known.seats[keyOf(on)];
  if (seats.empty()) seats = findSeats(on);
  return seats;
}

std::int64_t alike(const Seats& seats, std::size_t d) {
  return std::count_if(seats.begin(), seats.end(),
                       [&](const Seat& other) { return other.firstAlike == seats[d].firstAlike; });
}

std::string missing(const Spinners& on, std::int64_t groups, const std::string& seen) {
  if (on.size() == 1)
    return fmt::format("the device does not run {} groups at once{}", groups, seen);
  return fmt::format("the {} devices do not run {} groups each at once{}", on.size(), groups, seen);
}

/// How many of a node's groups have seen all others of their node begin, on all nodes together.
int sumOverNodes(const Devices& devices, int seen) {
  std::map<int, int> speakers;
  double own = -1;
  for (const Device& device : devices) {
    speakers.try_emplace(device.state().node(), device.rank());
    if (device.isLocal()) own = seen;
  }
  const auto said = memory::detail::tellRanks("groups that wait for each other", {own});
  double sum = 0;
  for (const auto& [node, rank] : speakers) sum += said.at(static_cast<std::size_t>(rank)).at(0);
  return static_cast<int>(sum);
}

/// The number of groups that have seen all others begin within `looks` looks: all others of their
/// node.
int groupsThatSawAll(const Spinners& on, std::int64_t groups, std::int64_t items, int looks) {
  const Devices& devices = on.devices;
  const PeerArray count(on, irType<int>(), {2});
  const auto entry = launch::entryOf<decltype(&countGroups)>(&countGroups);
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const auto onNode = std::count_if(devices.begin(), devices.end(), [&](const Device& other) {
      return other.state().node() == devices[d].state().node();
    });
    const auto all = static_cast<int>(groups * onNode);
    launch::LaunchOptions options;
    options.device = &devices[d].state();
    options.global = Domain(static_cast<std::size_t>(groups * items));
    options.local = Domain(static_cast<std::size_t>(items));
    const launch::Argument list[] = {count.argumentOn(d), launch::makeArgument(all),
                                     launch::makeArgument(looks)};
    launch::launch(entry, options, list);
  }
  count.settle();
  return spanNodes(on) ? sumOverNodes(devices, count.valueAt(1)) : count.valueAt(1);
}

/// Empty when all groups have seen all others.
std::string census(const Spinners& on, std::int64_t groups, std::int64_t items) {
  const int looks = on.front().type() == CPU ? kCensusLooks : kCensusLooksOfGpu;
  // Keeps other programs from beginning meanwhile; where they have begun, groups will be missing.
  const std::optional<SpinLease> lease = SpinLease::take(on.devices, groups);
  try {
    // Each of several devices has its kernel, and nothing else to do, before one waits for others.
    if (on.size() > 1) groupsThatSawAll(on, groups, items, 1);
    const int seen = groupsThatSawAll(on, groups, items, looks);
    if (seen == groups * static_cast<std::int64_t>(on.size())) return "";
    return missing(on, groups, fmt::format(": {} of them saw all begin", seen));
  } catch (const RankError&) {
    throw;
  } catch (const Error& error) {
    return missing(on, groups, fmt::format(": {}", error.what()));
  }
}

std::string keptCensus(const Spinners& on, std::int64_t groups, std::int64_t items) {
  // Ranks would find different things.
  if (!layout::mayDecideByTimes()) return census(on, groups, items);
  runtime::DeviceState& first = on.front().state();
  std::string name = "groups at once";
  if (on.size() > 1) {
    name += " on several devices:";
    for (const Device& device : on.devices) name += " " + device.state().name();
  }
  const std::string key = layout::findingKey(
      fmt::format("{}: {} of {} work-items", name, groups, items), DEFAULT_FP, first);
  if (layout::findingFor(first, key)) return "";
  std::string reason = census(on, groups, items);
  if (reason.empty() && runtime::settings().tune != runtime::TuneMode::Off) {
    tune::Finding finding;
    finding.complete = finding.thorough = true;
    finding.note = "all groups were seen to run at the same time";
    layout::findingsOf(first).keep(key, finding);
  }
  return reason;
}

std::string units(std::int64_t count) {
  return fmt::format("{} unit{}", count, count == 1 ? "" : "s");
}

/// Why several devices have no memory in common.
std::string whyNoMemory(const Devices& devices, const Seats& seats) {
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const Device& device = devices[d];
    if (!seats[d].sharesHostMemory)
      return fmt::format(
          "device {} does not work in the host's memory, through which groups on several devices "
          "exchange cells",
          device.state().name());
    // The courier carries the stores of groups for other nodes.
    const auto isFarNeighbour = [&](const Device& other) {
      return other.rank() != device.rank() && other.state().node() == device.state().node();
    };
    if (!seats[d].sharesPeerMemory && std::any_of(devices.begin(), devices.end(), isFarNeighbour))
      return "the ranks share no memory (HPL_TRANSPORT)";
  }
  return "";
}

/// The obstacle that follows from the kinds and numbers of the devices.
std::string obstacle(const Devices& devices, const Seats& seats, std::int64_t groups) {
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const Device& device = devices[d];
    if (std::string why = unfit(device); !why.empty()) return why;
    const std::int64_t own = seats[d].ownUnits;
    if (groups > own)
      return fmt::format("{} groups would wait for each other, and the device has {}", groups,
                         units(own));
    const std::int64_t all = groups * alike(seats, d);
    if (all > static_cast<std::int64_t>(seats[d].physicalUnits))
      return fmt::format(
          "{} groups on {} devices would wait for each other, and these are parts or copies of one "
          "with {}",
          all, alike(seats, d), units(seats[d].physicalUnits));
  }
  return devices.size() > 1 ? whyNoMemory(devices, seats) : "";
}

}  // namespace

unsigned unitsOfEach(const Spinners& on) {
  const Devices& devices = on.devices;
  const Seats seats = seatsOf(on);
  const unsigned forCourier = spanNodes(on) ? 1 : 0;
  unsigned least = std::numeric_limits<unsigned>::max();
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const unsigned units = std::max(1U, seats[d].physicalUnits - forCourier);
    least = std::min({least, units / static_cast<unsigned>(alike(seats, d)), seats[d].ownUnits});
  }
  return std::max(1u, least);
}

std::string whyNotSpinning(const Device& device, std::int64_t groups, std::int64_t items) {
  return whyNotSpinning(Devices{device}, groups, items);
}

std::string whyNotSpinning(const Spinners& on, std::int64_t groups, std::int64_t items) {
  if (groups <= 1 && on.size() == 1) return "";
  if (std::string why = obstacle(on.devices, seatsOf(on), groups); !why.empty()) return why;
  Known& known = Known::get();
  const std::lock_guard lock(known.mutex);
  if (known.planted) return *known.planted ? "" : missing(on, groups, ": a test says so");
  const CensusKey key{keyOf(on), groups, items};
  const auto found = known.reasons.find(key);
  if (found != known.reasons.end()) return found->second;
  return known.reasons[key] = keptCensus(on, groups, items);
}

void plantCensus(std::optional<bool> result) {
  Known& known = Known::get();
  const std::lock_guard lock(known.mutex);
  known.planted = result;
  known.reasons.clear();
  known.givenUp.clear();
}

bool noteGivenUp(const Spinners& on) {
  Known& known = Known::get();
  const std::lock_guard lock(known.mutex);
  bool isNew = false;
  for (const Device& device : on.devices)
    isNew = known.givenUp.emplace(device.state().serial(), on.isRankLocal).second || isNew;
  return isNew;
}

bool hasGivenUp(const Spinners& on) {
  Known& known = Known::get();
  const std::lock_guard lock(known.mutex);
  return std::any_of(on.devices.begin(), on.devices.end(), [&](const Device& device) {
    return known.givenUp.contains({device.state().serial(), on.isRankLocal});
  });
}

int patienceOn(const Device& device) {
  if (const int asked = runtime::settings().patience; asked > 0) return asked;
  // A look takes a CPU some nanoseconds, and a GPU's memory a microsecond.
  return device.type() == CPU ? 1 << 28 : 1 << 20;
}

}  // namespace hpl::stencils
