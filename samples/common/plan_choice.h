// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "samples/common/device_choice.h"
#include "samples/common/run_options.h"

namespace samples {

/// The devices and shares that a command line names: the one device, or --devices of the type that
/// --device names, with --weights. Throws std::invalid_argument that names the option if there are
/// fewer devices, or another number of weights, and what chooseDevice throws.
inline hpl::ExecutionPlan choosePlan(const RunOptions& options) {
  const std::vector<hpl::Device> devices = options.devices < 0
                                               ? hpl::devices(chooseDevice(options.device).type())
                                               : chooseDevices(options.device, options.devices);
  if (options.devices == 0) return hpl::ExecutionPlan({{devices.front(), 100}});
  if (options.measuredWeights) return hpl::ExecutionPlan(devices);
  if (options.weights.empty()) return hpl::ExecutionPlan(devices, hpl::PlanSearch::NONE);
  if (options.weights.size() != devices.size()) {
    throw std::invalid_argument("--weights: " + std::to_string(options.weights.size()) +
                                " numbers for " + std::to_string(devices.size()) +
                                " devices; give one for each, or --devices");
  }
  std::vector<hpl::ExecutionPlan::Share> shares;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    shares.push_back({devices[d], options.weights[d]});
  }
  return hpl::ExecutionPlan(shares);
}

/// "NAME" or "3 devices (NAME and others)".
inline std::string describePlan(const hpl::ExecutionPlan& plan) {
  const std::string& name = plan.shares().front().device.name();
  const std::size_t count = plan.shares().size();
  return count == 1 ? name : std::to_string(count) + " devices (" + name + ", ...)";
}

/// Prints one line: devices, seconds, updates of a cell per second.
inline void reportSpeed(const hpl::ExecutionPlan& plan, double seconds, double updates) {
  const std::size_t count = plan.shares().size();
  std::printf("%zu device%s, %.4f s, %.1f million updates/s, compilation included\n", count,
              count == 1 ? "" : "s", seconds, 1e-6 * updates / seconds);
}

}  // namespace samples
