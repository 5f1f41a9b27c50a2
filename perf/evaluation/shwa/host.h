// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/hpl.h"
#include "perf/evaluation/style.h"
#include "samples/shwa/simulate.h"

/// Time steps of shallow water. The clock ticks on the first device.
namespace evaluation::shwa {

using namespace samples;        // NOLINT: what is compared
using namespace samples::shwa;  // NOLINT: the same

using Options = Styled<samples::shwa::Options>;

/// In the style that the options name, on the devices of the plan: all give the same result, bit
/// for bit under HPL_FP=strict. Throws what hpl throws, and std::invalid_argument for ghosts that
/// the stencil or the parts have no use for.
State runStyle(const Input& input, const Options& options, const hpl::ExecutionPlan& plan,
               Progress& progress, const FrameSink& frame);

State runSingle(const Input& input, const Options& options, const hpl::Device& device,
                Progress& progress, const FrameSink& frame);
State runSubarrays(const Input& input, const Options& options, const hpl::ExecutionPlan& plan,
                   Progress& progress, const FrameSink& frame);
State runAnnotations(const Input& input, const Options& options, const hpl::ExecutionPlan& plan,
                     Progress& progress, const FrameSink& frame);
State runSync(const Input& input, const Options& options, const hpl::ExecutionPlan& plan,
              Progress& progress, const FrameSink& frame);
State runAuto(const Input& input, const Options& options, const hpl::ExecutionPlan& plan,
              Progress& progress, const FrameSink& frame);
/// Needs devices with equal shares.
State runTemplate(const Input& input, const Options& options, const hpl::ExecutionPlan& plan,
                  Progress& progress, const FrameSink& frame);

}  // namespace evaluation::shwa
