// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "hpl/geometry/region.h"
#include "hpl/geometry/splits.h"
#include "hpl/ir/access.h"

namespace hpl::launch {

/// The work-items of one device: an interval of each axis of the domain, 0 = idx.
using Slice = std::array<geometry::Interval, 3>;

/// Some axes of a domain.
using AxisSet = std::array<bool, 3>;

/// The domain that is cut into slices: its size along each axis, and the axes along which the
/// slices differ.
struct SlicedDomain {
  std::array<geometry::Index, 3> size{1, 1, 1};
  AxisSet cut{};
};

/// The cells of an array that a kernel touches, access by access: a star of neighbours has no
/// corners.
class Footprint {
 public:
  explicit Footprint(const ir::ArrayAccess& access);
  /// For a kernel that reads the array at these indices: one form per dimension in each of them.
  explicit Footprint(std::vector<std::vector<ir::IndexForm>> reads);

  /// The cells of a view that a slice of the domain touches; empty: none. In a written array, whole
  /// dimensions where an axis walks through them that is not `cut`: one device has all of it.
  geometry::Region of(const geometry::Box& view, const Slice& slice,
                      const SlicedDomain& domain) const;
  /// Those among them that it reads, or writes.
  geometry::Region readBy(const geometry::Box& view, const Slice& slice,
                          const SlicedDomain& domain) const;
  geometry::Region writtenBy(const geometry::Box& view, const Slice& slice,
                             const SlicedDomain& domain) const;

  /// How far from its own index along an axis a work-item reads at most, below and above.
  geometry::Index reachAlong(int axis) const;
  /// Whether what a slice touches lies the same way around it wherever it is: accesses are own
  /// index plus constants.
  bool movesWithSlice() const;

 private:
  using Forms = std::vector<ir::IndexForm>;

  void add(geometry::Region& cells, const Forms& forms, const geometry::Box& view,
           const Slice& slice, const SlicedDomain& domain) const;

  std::vector<Forms> reads_;
  Forms writes_;
};

/// The cells of an array that a device needs to run a slice.
struct TouchedCells {
  /// A box where the array is written, because the device has new values of all of it then. Never
  /// empty: an array that is not accessed needs a place, too.
  geometry::Region own;
  /// False: that is no more than a place, since the slice lies beyond the array's end, or has no
  /// work-items that access the array.
  bool isAccessed = true;
  /// Cells around those, in a written array, that the slice reads as they were before the launch.
  geometry::Region around;
};
TouchedCells cellsTouched(const ir::ArrayAccess& access, const geometry::Box& view,
                          const Slice& slice, const SlicedDomain& domain);

}  // namespace hpl::launch
