// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "hpl/layout/request.h"
#include "hpl/layout/shape.h"
#include "hpl/layout/strategy.h"
#include "hpl/layout/variant.h"

/// Kernels rewritten for work-groups that share what they load, and for work-items of GPUs. Without
/// a kernel where the strategy does not apply; `reason` gets the choice, or why not.
namespace hpl::layout::detail {

Layout inTiles(const LaunchRequest& request, const Shape& shape, const Variant& variant,
               std::string& reason);
Layout inStreams(const LaunchRequest& request, const Shape& shape, const Variant& variant,
                 std::string& reason);
Layout inColumns(const LaunchRequest& request, const Shape& shape, const Variant& variant,
                 std::string& reason);

}  // namespace hpl::layout::detail
