// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "hpl/hpl.h"

namespace evaluation {

/// The devices of a plan.
inline std::vector<hpl::Device> shareDevices(const hpl::ExecutionPlan& plan) {
  std::vector<hpl::Device> devices;
  for (const hpl::ExecutionPlan::Share& share : plan.shares()) devices.push_back(share.device);
  return devices;
}

}  // namespace evaluation
