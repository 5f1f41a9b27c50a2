// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "hpl/hpl.h"
#include "samples/common/io.h"
#include "samples/life/options.h"

namespace samples::life {

/// Called with the cells at the beginning and after every options.every generations. Empty: not
/// wanted.
using FrameSink = std::function<void(const Grid&)>;

/// The cells after options.run.iterations generations on one device.
Grid runSingle(const LifeOptions& options, const hpl::Device& device, Progress& progress,
               const FrameSink& frame);

/// The same on the devices of a plan, each with a part of the rows and, but for runAuto and
/// runStencil, ghostWidth(options.run, 1) rows of its neighbours. All know both kinds of edges: on
/// a torus the array has as many rows more above and below, which the host copies from the opposite
/// edge whenever ghosts are exchanged. One function per Style. Throw std::invalid_argument or
/// hpl::ArgumentError for parts that are too thin for their ghosts.
Grid runSubarrays(const LifeOptions& options, const hpl::ExecutionPlan& plan, Progress& progress,
                  const FrameSink& frame);
Grid runAnnotations(const LifeOptions& options, const hpl::ExecutionPlan& plan, Progress& progress,
                    const FrameSink& frame);
Grid runSync(const LifeOptions& options, const hpl::ExecutionPlan& plan, Progress& progress,
             const FrameSink& frame);
Grid runAuto(const LifeOptions& options, const hpl::ExecutionPlan& plan, Progress& progress,
             const FrameSink& frame);
Grid runStencil(const LifeOptions& options, const hpl::ExecutionPlan& plan, Progress& progress,
                const FrameSink& frame);
Grid runTemplate(const LifeOptions& options, const hpl::ExecutionPlan& plan, Progress& progress,
                 const FrameSink& frame);

/// The one that options.run.style names.
Grid runStyle(const LifeOptions& options, const hpl::ExecutionPlan& plan, Progress& progress,
              const FrameSink& frame);

}  // namespace samples::life
