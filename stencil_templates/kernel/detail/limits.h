// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/array/scalar.h"
#include "hpl/lang/control.h"
#include "stencil_templates/kernel/detail/helper_layout.h"
#include "stencil_templates/kernel/detail/request.h"

/// The elements of a part that can be computed.
namespace hpl::kernel_stencils {

/// An integer of the helper array, in the kernel.
inline Expr<int> helperWord(const Request& request, int word) {
  const Node index = hpl::detail::hostConstant(word);
  return Expr<int>(hpl::detail::accessNode(request.helper, &index, 1));
}

/// How many elements at each end of a dimension cannot be computed: at an end that is the array's,
/// those that miss a neighbour of an input without boundary; at another, where the part ends in
/// ghosts, all that miss a neighbour.
struct Rim {
  int atBorder;
  int atGhosts;

  /// As a value of the kernel; null: 0 everywhere.
  Node node(const Request& request, int flagWord) const {
    if (atBorder == atGhosts) return atGhosts == 0 ? nullptr : hpl::detail::hostConstant(atGhosts);
    return where(helperWord(request, flagWord) != 0, atBorder, atGhosts).node();
  }
};

/// `condition && other`, where null is true.
inline Node both(Node condition, Node other) {
  if (condition == nullptr || other == nullptr) return condition == nullptr ? other : condition;
  return (Expr<int>(condition) && Expr<int>(other)).node();
}

}  // namespace hpl::kernel_stencils
