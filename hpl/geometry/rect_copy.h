// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hpl/geometry/box.h"

namespace hpl::geometry {

/// One rectangular copy between two linear buffers, in BYTES and in the form of OpenCL's
/// clEnqueue{Copy,Read,Write}BufferRect: entry 0 of the triples counts bytes in a row, entry 1
/// rows, entry 2 slices. Pitches are never 0, so that a plain loop can execute it as well.
struct RectCopy {
  std::size_t srcOrigin[3];
  std::size_t dstOrigin[3];
  std::size_t region[3];
  std::size_t srcRowPitch;
  std::size_t srcSlicePitch;
  std::size_t dstRowPitch;
  std::size_t dstSlicePitch;

  /// True if both sides are one contiguous piece: a plain copy of bytes() bytes suffices.
  bool isContiguous() const noexcept { return region[1] == 1 && region[2] == 1; }
  std::size_t bytes() const noexcept { return region[0] * region[1] * region[2]; }
  /// First byte read, from the start of the source buffer.
  std::size_t srcOffset() const noexcept {
    return srcOrigin[2] * srcSlicePitch + srcOrigin[1] * srcRowPitch + srcOrigin[0];
  }
  /// First byte written, from the start of the destination buffer.
  std::size_t dstOffset() const noexcept {
    return dstOrigin[2] * dstSlicePitch + dstOrigin[1] * dstRowPitch + dstOrigin[0];
  }
  /// "64x3x1 bytes from 8 (pitch 80, 240) to 0 (pitch 64, 192)".
  std::string toString() const;
};

/// The copies that move the cells of `srcBox`, stored row-major in a buffer that holds
/// `srcEnclosing`, to `dstBox` in a buffer that holds `dstEnclosing`. Dimensions that are
/// contiguous on both sides are merged: a contiguous box gives one copy with isContiguous(), up to
/// three remaining dimensions one rectangle, more of them a list that covers the outer ones. No
/// copies for an empty box. Throws ShapeError when the boxes differ in extents or are not inside
/// their enclosing boxes, or when byte offsets do not fit 63 bits.
std::vector<RectCopy> rectCopies(const Box& srcEnclosing, const Box& srcBox,
                                 const Box& dstEnclosing, const Box& dstBox,
                                 std::size_t elementSize);

/// The copies for one box that has the same coordinates on both sides.
std::vector<RectCopy> rectCopies(const Box& srcEnclosing, const Box& dstEnclosing, const Box& box,
                                 std::size_t elementSize);

}  // namespace hpl::geometry
