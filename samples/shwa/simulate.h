// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "hpl/hpl.h"
#include "samples/common/io.h"
#include "samples/shwa/options.h"
#include "samples/shwa/state.h"

namespace samples::shwa {

/// Called with the water at the beginning and after every options.every steps. Empty: not wanted.
using FrameSink = std::function<void(const State&)>;

/// The water after options.run.iterations time steps on the devices of the plan. The clock ticks on
/// the first device.
State simulate(const Input& input, const Options& options, const hpl::ExecutionPlan& plan,
               Progress& progress, const FrameSink& frame);

}  // namespace samples::shwa
