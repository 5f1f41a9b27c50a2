// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "stencil_templates/program.h"
#include "stencil_templates/stencil.h"

namespace samples {

/// Puts what launches stencils on the devices of a plan, in its shares.
template <class Launcher>
Launcher& putOnDevices(Launcher& launcher, const hpl::ExecutionPlan& plan) {
  std::vector<hpl::Device> devices;
  std::vector<double> weights;
  for (const hpl::ExecutionPlan::Share& share : plan.shares()) {
    devices.push_back(share.device);
    weights.push_back(share.percentage);
  }
  launcher.devices(devices);
  if (plan.search() == hpl::PlanSearch::ONCE) return launcher.weights(hpl::MEASURED);
  return launcher.weights(weights);
}

/// The stencil on the devices of a plan.
inline hpl::StencilLauncher onDevices(const hpl::Stencil& stencil, const hpl::ExecutionPlan& plan) {
  hpl::StencilLauncher launcher = stencil.device(plan.shares().front().device);
  return putOnDevices(launcher, plan);
}

}  // namespace samples
