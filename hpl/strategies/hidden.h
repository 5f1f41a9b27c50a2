// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hpl::strategies {

/// A value that a rewritten kernel takes as an additional parameter (ulong), after its own ones.
struct Hidden {
  enum class Kind {
    /// The first id of the launch along an axis, and how many there are.
    First,
    Count,
    /// The value of get_global_size.
    Whole,
    /// How many ids a work-item computes along an axis.
    Block,
    /// Extent of an array parameter in a dimension.
    Extent
  };
  Kind kind = Kind::First;
  /// The axis, or the dimension of the array.
  int axis = 0;
  /// Extent: the array's parameter.
  int param = -1;
};

}  // namespace hpl::strategies
