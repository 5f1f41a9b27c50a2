// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/layout/shape.h"

namespace hpl::layout {

/// The shape of a launch (chooseShape) whose surplus work-items do no harm: where they would spoil
/// what their group combines, a local domain of the library's choice divides the global one, and
/// one of the program's (`isOwnLocal`) that does not is a LaunchError.
Shape chooseHarmlessShape(const KernelVersion& version, const Domains& domains,
                          const geometry::Extents* firstArray, runtime::DeviceState& device,
                          bool isOwnLocal, const ir::AxisOrder& axes = {});

}  // namespace hpl::layout
