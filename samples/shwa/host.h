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

/// The water after options.run.iterations time steps on one device.
State runSingle(const Input& input, const Options& options, const hpl::Device& device,
                Progress& progress, const FrameSink& frame);

/// The same on the devices of a plan, each with a part of the rows and, but for runAuto and
/// runStencil, ghostWidth(options.run, 1) rows of its neighbours. The clock ticks on the first
/// device. One function per Style. Throw std::invalid_argument or hpl::ArgumentError for parts that
/// are too thin for their ghosts.
State runSubarrays(const Input& input, const Options& options, const hpl::ExecutionPlan& plan,
                   Progress& progress, const FrameSink& frame);
State runAnnotations(const Input& input, const Options& options, const hpl::ExecutionPlan& plan,
                     Progress& progress, const FrameSink& frame);
State runSync(const Input& input, const Options& options, const hpl::ExecutionPlan& plan,
              Progress& progress, const FrameSink& frame);
State runAuto(const Input& input, const Options& options, const hpl::ExecutionPlan& plan,
              Progress& progress, const FrameSink& frame);
State runStencil(const Input& input, const Options& options, const hpl::ExecutionPlan& plan,
                 Progress& progress, const FrameSink& frame);
State runTemplate(const Input& input, const Options& options, const hpl::ExecutionPlan& plan,
                  Progress& progress, const FrameSink& frame);

/// The one that options.run.style names.
State runStyle(const Input& input, const Options& options, const hpl::ExecutionPlan& plan,
               Progress& progress, const FrameSink& frame);

}  // namespace samples::shwa
