// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "stencil_templates/stencil.h"

namespace samples {

/// The stencil on the devices of a plan, in its shares.
inline hpl::StencilLauncher onDevices(const hpl::Stencil& stencil, const hpl::ExecutionPlan& plan) {
  std::vector<hpl::Device> devices;
  std::vector<double> weights;
  for (const hpl::ExecutionPlan::Share& share : plan.shares()) {
    devices.push_back(share.device);
    weights.push_back(share.percentage);
  }
  hpl::StencilLauncher launcher = stencil.devices(devices);
  if (plan.search() == hpl::PlanSearch::ONCE) return launcher.weights(hpl::MEASURED);
  return launcher.weights(weights);
}

}  // namespace samples
