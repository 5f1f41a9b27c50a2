// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/detail/memory_speed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>

#include "hpl/layout/rewriter.h"
#include "hpl/layout/tuner.h"
#include "hpl/runtime/device_state.h"
#include "hpl/runtime/explain.h"
#include "hpl/runtime/quirks.h"
#include "hpl/runtime/settings.h"
#include "stencil_templates/detail/device_cost.h"

namespace hpl::stencils {
namespace {

/// About a second of one core: some twenty times what measuring takes.
constexpr double kWorthProbing = 1e9;
/// Beyond the caches of most processors, and soon touched.
constexpr std::size_t kProbed = std::size_t{64} << 20;
/// How much longer a sweep by the host's compiler takes in the cache than one of the library's
/// tiles.
constexpr double kPlain = 1.6;
/// Machines that differ by less from the model's are taken for alike: two runs of the probe on a
/// shared machine differ by a third.
constexpr double kAlike = 2;
/// Beyond it something else was measured.
constexpr double kMostUnlike = 16;
constexpr const char* kEntry = "memory, thousandths";

bool mayProbe(const Device& device) {
  return runtime::settings().tune != runtime::TuneMode::Off && layout::mayDecideByTimes() &&
         !isDryRun() && device.type() == CPU &&
         !runtime::quirksOf(device.getProperties()).isSimulator;
}

double measured(const Device& device) {
  // Commands under way would be measured with it.
  device.sync();
  const tune::SweepTimes times =
      tune::probeSweeps(std::max(1u, device.getProperties().computeUnits), kProbed);
  if (times.inCache == 0) return 1;
  const double speed = memorySpeedOf(times, layout::nativeLanes(device.state(), sizeof(float)));
  tune::Finding finding;
  finding.best = pointOfMemorySpeed(speed);
  finding.seconds = times.inMemory;
  finding.complete = true;
  finding.note = fmt::format(
      "speed of memory beside that of the model's machines; a sweep of five points takes {:.3g} "
      "ns per cell in the cache, {:.3g} in memory",
      1e9 * times.inCache, 1e9 * times.inMemory);
  layout::findingsOf(device.state()).keep(memorySpeedKey(device), finding);
  return speed;
}

}  // namespace

double memorySpeedOf(const tune::SweepTimes& times, int lanes) {
  if (!(times.inCache > 0) || !(times.inMemory > 0)) return 1;
  constexpr double kPoints = 5;
  const double cycles =
      (kPoints * (kAlone.perOperation + kAlone.perRead) + kAlone.perWrite) / std::max(1, lanes);
  const double bytes = sizeof(float) * (1 + kAlone.perStoredByte);
  const double perCycle = bytes * times.inCache / cycles / times.inMemory;
  const double speed = perCycle / kAlone.bytesPerCycle / kPlain;
  if (speed >= 1 / kAlike && speed <= kAlike) return 1;
  return std::clamp(speed, 1 / kMostUnlike, kMostUnlike);
}

std::string memorySpeedKey(const Device& device) {
  return layout::findingKey("memory beside arithmetic", DEFAULT_FP, device.state());
}

tune::Point pointOfMemorySpeed(double speed) { return {{kEntry, std::llround(1000 * speed)}}; }

double memorySpeed(const Device& device, double cellSteps) {
  if (!mayProbe(device)) return 1;
  static std::mutex mutex;
  static auto& known = *new std::map<const runtime::DeviceState*, double>;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(&device.state()); found != known.end()) return found->second;
  double speed = 1;
  if (const auto finding = layout::findingFor(device.state(), memorySpeedKey(device))) {
    speed = std::clamp(static_cast<double>(finding->best.value(kEntry, 1000)) / 1000,
                       1 / kMostUnlike, kMostUnlike);
  } else if (cellSteps >= kWorthProbing) {
    speed = measured(device);
  } else {
    return 1;
  }
  if (speed != 1)
    runtime::explainOnce(fmt::format(
        "device {}: memory is {:.2g} times as fast beside arithmetic as where the model of time "
        "tiles was measured",
        device.state().name(), speed));
  return known[&device.state()] = speed;
}

}  // namespace hpl::stencils
