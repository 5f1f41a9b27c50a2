// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include "hpl/layout/request.h"
#include "hpl/layout/shape.h"
#include "hpl/runtime/cl.h"
#include "hpl/strategies/hidden.h"

namespace hpl::layout::detail {

inline std::size_t dividedUp(std::size_t size, std::size_t by) { return (size + by - 1) / by; }
inline std::size_t roundedUp(std::size_t size, std::size_t to) { return dividedUp(size, to) * to; }

/// The value of a hidden parameter of a rewritten kernel in this launch. `block`: ids per work-item
/// along each axis.
inline cl_ulong valueOf(const strategies::Hidden& hidden, const LaunchRequest& request,
                        const Shape& shape, const std::array<std::size_t, 3>& block) {
  using strategies::Hidden;
  const auto axis = static_cast<std::size_t>(hidden.axis);
  switch (hidden.kind) {
    case Hidden::Kind::First:
      return shape.first[axis];
    case Hidden::Kind::Count:
      return shape.size[axis];
    case Hidden::Kind::Whole:
      return shape.whole[axis];
    case Hidden::Kind::Block:
      return block[axis];
    default:
      return static_cast<cl_ulong>(
          request.arguments[hidden.param].view->extents[static_cast<int>(hidden.axis)]);
  }
}

}  // namespace hpl::layout::detail
