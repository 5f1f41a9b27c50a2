// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/launch/detail/plan.h"

namespace hpl::launch {

/// The shape of a launch (chooseShape) whose surplus work-items do no harm: where they would spoil
/// what their group combines, a local domain of the library's choice divides the global one, and
/// one of the program's (`isOwnLocal`) that does not is a LaunchError.
Shape chooseHarmlessShape(const KernelVersion& version, const LaunchOptions& options,
                          const geometry::Extents* firstArray, runtime::DeviceState& device,
                          bool isOwnLocal, const Axes& axes = kNaturalAxes);

}  // namespace hpl::launch
