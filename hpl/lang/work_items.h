// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "hpl/lang/expr.h"

/// Where a work-item is in its launch. All are of type `size_t`; x is OpenCL's dimension 0, which
/// runs along the last, contiguous dimension of arrays: write `a[idy][idx]`.
namespace hpl {

namespace detail {

/// A predefined variable of the kernel language.
struct WorkItemId : NoHostValue<std::size_t> {
  using hpl_value_type = std::size_t;
  constexpr WorkItemId(ir::Query whichQuery, int whichDim) : query(whichQuery), dim(whichDim) {}
  constexpr WorkItemId(const WorkItemId&) = default;
  template <class X>
  void operator=(const X&) const {
    static_assert(kNever<X>, HPL_NO_PLACE);
  }
  Node node() const { return workItemNode(query, dim); }

  ir::Query query;
  int dim;
};

/// idx plus where the launch begins in the whole array.
struct GridId : NoHostValue<std::size_t> {
  using hpl_value_type = std::size_t;
  constexpr explicit GridId(int whichDim) : dim(whichDim) {}
  constexpr GridId(const GridId&) = default;
  template <class X>
  void operator=(const X&) const {
    static_assert(kNever<X>, HPL_NO_PLACE);
  }
  Node node() const {
    const Node id = workItemNode(ir::Query::GlobalId, dim);
    return binaryNode(ir::BinaryOp::Add, irType<std::size_t>(), id,
                      workItemNode(ir::Query::Origin, dim));
  }

  int dim;
};

}  // namespace detail

/// Position in the global domain.
inline constexpr detail::WorkItemId idx{ir::Query::GlobalId, 0};
inline constexpr detail::WorkItemId idy{ir::Query::GlobalId, 1};
inline constexpr detail::WorkItemId idz{ir::Query::GlobalId, 2};
/// Position in the whole array, for values that depend on it: `idx` on a device's part of an
/// annotated array, or on a view, counts from the first cell of the part; `gridx` is the position
/// of the same cell in the array; on views with strides, of another shape or transposed it counts
/// as `idx` does. It refers to the first argument that is annotated, else to the
/// first array argument. Accesses take `idx`: a part is all that a kernel sees of an annotated
/// array.
inline constexpr detail::GridId gridx{0};
inline constexpr detail::GridId gridy{1};
inline constexpr detail::GridId gridz{2};
/// Position in the work-group.
inline constexpr detail::WorkItemId lidx{ir::Query::LocalId, 0};
inline constexpr detail::WorkItemId lidy{ir::Query::LocalId, 1};
inline constexpr detail::WorkItemId lidz{ir::Query::LocalId, 2};
/// Position of the work-group.
inline constexpr detail::WorkItemId gidx{ir::Query::GroupId, 0};
inline constexpr detail::WorkItemId gidy{ir::Query::GroupId, 1};
inline constexpr detail::WorkItemId gidz{ir::Query::GroupId, 2};
/// Size of the global domain.
inline constexpr detail::WorkItemId szx{ir::Query::GlobalSize, 0};
inline constexpr detail::WorkItemId szy{ir::Query::GlobalSize, 1};
inline constexpr detail::WorkItemId szz{ir::Query::GlobalSize, 2};
/// Size of the work-group.
inline constexpr detail::WorkItemId lszx{ir::Query::LocalSize, 0};
inline constexpr detail::WorkItemId lszy{ir::Query::LocalSize, 1};
inline constexpr detail::WorkItemId lszz{ir::Query::LocalSize, 2};
/// Number of work-groups.
inline constexpr detail::WorkItemId ngroupsx{ir::Query::NumGroups, 0};
inline constexpr detail::WorkItemId ngroupsy{ir::Query::NumGroups, 1};
inline constexpr detail::WorkItemId ngroupsz{ir::Query::NumGroups, 2};

}  // namespace hpl
