// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "hpl/layout/guard.h"

namespace hpl::launch {

/// While a kernel is captured: lets `guard` see its launches. Elsewhere without effect.
void addLaunchGuard(std::shared_ptr<const layout::LaunchGuard> guard);

}  // namespace hpl::launch
