// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stencil_templates/detail/step_run.h"

/// Chooses how the steps of a program are done.
namespace hpl::stencils {

/// The choice for a plan, in which `joined` steps are done without a look at the result, and
/// `looked` steps with looks that groups take by themselves (0: none do): what was chosen before,
/// else what tuning has found or the model says. Says so under HPL_EXPLAIN. Throws ArgumentError
/// and LaunchError where what the user asked for is impossible.
TimeChoice chooseSteps(StepProgram& program, const StepData& data,
                       const launch::LaunchOptions& options, const IterationPlan& plan,
                       std::int64_t joined, std::int64_t looked = 0);

/// Measures tiles for runs of a plan with `joined` steps and keeps the finding: `call` is what the
/// user wrote.
TuneResult tuneSteps(const std::string& call, StepProgram& program, const StepData& data,
                     const launch::LaunchOptions& options, const IterationPlan& plan,
                     std::int64_t joined);

/// The key under which tuning keeps findings for such runs.
std::string findingKey(const StepProgram& program, const StepData& data,
                       const launch::LaunchOptions& options, const IterationPlan& plan,
                       std::int64_t joined);

}  // namespace hpl::stencils
