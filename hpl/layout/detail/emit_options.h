// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/codegen/emit.h"
#include "hpl/layout/request.h"
#include "hpl/layout/strategy.h"

namespace hpl::layout::detail {

/// How the kernel of a layout is to be emitted for the launch and its device.
codegen::EmitOptions emitOptions(const LaunchRequest& request, const Layout& layout);

}  // namespace hpl::layout::detail
