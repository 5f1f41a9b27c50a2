// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/execution_plan.h"

#include <cmath>
#include <string>

#include "hpl/error.h"
#include "hpl/runtime/device_state.h"

namespace hpl {
namespace {

std::vector<ExecutionPlan::Share> equalShares(const std::vector<Device>& devices) {
  std::vector<ExecutionPlan::Share> shares;
  shares.reserve(devices.size());
  for (const Device& device : devices)
    shares.push_back({device, 100.0 / static_cast<double>(devices.size())});
  return shares;
}

}  // namespace

ExecutionPlan::ExecutionPlan(std::vector<Share> shares, PlanSearch search)
    : shares_(std::move(shares)), search_(search) {
  if (shares_.empty())
    throw ArgumentError("an ExecutionPlan needs at least one device with its percentage");
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    const double percentage = shares_[i].percentage;
    if (!std::isfinite(percentage) || percentage <= 0)
      throw ArgumentError("ExecutionPlan: the percentage of device " +
                          shares_[i].device.state().name() + " is " + std::to_string(percentage) +
                          "; percentages are positive numbers");
    for (std::size_t j = 0; j < i; ++j)
      if (shares_[i].device == shares_[j].device)
        throw ArgumentError("ExecutionPlan: device " + shares_[i].device.state().name() +
                            " is named twice; give it one share");
  }
}

ExecutionPlan::ExecutionPlan(const std::vector<Device>& devices, PlanSearch search)
    : ExecutionPlan(equalShares(devices), search) {}

}  // namespace hpl
