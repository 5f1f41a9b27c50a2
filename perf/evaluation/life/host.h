// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/hpl.h"
#include "perf/evaluation/style.h"
#include "samples/life/evolve.h"

/// Generations of the Game of Life. On a torus, styles with parts add rows above and below, which
/// the host copies from the opposite edge whenever ghosts are exchanged.
namespace evaluation::life {

using namespace samples;        // NOLINT: what is compared
using namespace samples::life;  // NOLINT: the same

using Options = Styled<LifeOptions>;

/// In the style that the options name, on the devices of the plan: all give the same result, bit
/// for bit under HPL_FP=strict. Throws what hpl throws, and std::invalid_argument for ghosts that
/// the stencil or the parts have no use for.
Grid runStyle(const Options& options, const hpl::ExecutionPlan& plan, Progress& progress,
              const FrameSink& frame);

Grid runSingle(const Options& options, const hpl::Device& device, Progress& progress,
               const FrameSink& frame);
Grid runSubarrays(const Options& options, const hpl::ExecutionPlan& plan, Progress& progress,
                  const FrameSink& frame);
Grid runAnnotations(const Options& options, const hpl::ExecutionPlan& plan, Progress& progress,
                    const FrameSink& frame);
Grid runSync(const Options& options, const hpl::ExecutionPlan& plan, Progress& progress,
             const FrameSink& frame);
Grid runAuto(const Options& options, const hpl::ExecutionPlan& plan, Progress& progress,
             const FrameSink& frame);
/// Needs devices with equal shares.
Grid runTemplate(const Options& options, const hpl::ExecutionPlan& plan, Progress& progress,
                 const FrameSink& frame);

}  // namespace evaluation::life
