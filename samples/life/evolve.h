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

/// The cells after options.run.iterations generations on the devices of the plan.
Grid evolve(const LifeOptions& options, const hpl::ExecutionPlan& plan, Progress& progress,
            const FrameSink& frame);

}  // namespace samples::life
