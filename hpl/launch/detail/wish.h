// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "hpl/launch/detail/plan.h"
#include "hpl/runtime/settings.h"
#include "hpl/strategies/pointwise.h"

namespace hpl::launch {

/// The strategy that a launch would like, before it is known whether that one applies.
struct Wish {
  /// Direct: nothing is to be tried.
  runtime::Strategy strategy = runtime::Strategy::Direct;
  /// Why; a phrase for people. Empty where the strategy's own words tell.
  std::string reason;
};

/// What HPL_STRATEGY says, else what the rules say for the kernel, the device and the domain.
/// `mayStream`: streams have not been refused.
Wish wishFor(const Plan& plan, const Shape& shape, bool mayStream);

/// What a CPU device does with a kernel whose work-items read their own elements only, unless
/// somebody asks for something else.
strategies::PointwiseChoice pointwiseChoice(const strategies::Pointwise& kernel,
                                            const Shape& shape);

}  // namespace hpl::launch
