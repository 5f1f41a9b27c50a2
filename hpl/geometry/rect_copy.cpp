// SPDX-License-Identifier: Apache-2.0
#include "hpl/geometry/rect_copy.h"

#include "hpl/error.h"
#include "hpl/geometry/layout.h"

namespace hpl::geometry {

namespace {

using Size = std::size_t;

/// One loop of the copy: how often, and how many bytes apart on each side.
struct Loop {
  Size count;
  Size srcStride;
  Size dstStride;
};

/// The loops of a copy, fastest first; loop 0 runs over the bytes of a contiguous piece.
struct LoopNest {
  Loop loops[kMaxDims + 1];
  int depth = 0;
  Size srcOffset = 0;
  Size dstOffset = 0;
};

void checkBytes(const Box& enclosing, Size elementSize) {
  Index bytes = 0;
  if (elementSize > static_cast<Size>(INT64_MAX) ||
      __builtin_mul_overflow(enclosing.volume(), static_cast<Index>(elementSize), &bytes)) {
    throw ShapeError("box " + enclosing.toString() + " of " + std::to_string(elementSize) +
                     "-byte elements exceeds 63-bit addresses: use smaller extents");
  }
}

LoopNest mergedLoops(const Box& srcEnclosing, const Box& srcBox, const Box& dstEnclosing,
                     const Box& dstBox, Size elementSize) {
  const Extents srcStrides = rowMajorStrides(srcEnclosing.extents());
  const Extents dstStrides = rowMajorStrides(dstEnclosing.extents());
  LoopNest nest;
  nest.srcOffset = static_cast<Size>(linearOffset(srcEnclosing, srcBox)) * elementSize;
  nest.dstOffset = static_cast<Size>(linearOffset(dstEnclosing, dstBox)) * elementSize;
  nest.loops[nest.depth++] = {elementSize, 1, 1};
  for (int d = srcBox.rank() - 1; d >= 0; --d) {
    const Size count = static_cast<Size>(srcBox.extent(d));
    if (count == 1) continue;
    const Size srcStride = static_cast<Size>(srcStrides[d]) * elementSize;
    const Size dstStride = static_cast<Size>(dstStrides[d]) * elementSize;
    Loop& inner = nest.loops[nest.depth - 1];
    if (srcStride == inner.srcStride * inner.count && dstStride == inner.dstStride * inner.count) {
      inner.count *= count;
    } else {
      nest.loops[nest.depth++] = {count, srcStride, dstStride};
    }
  }
  return nest;
}

/// Splits a byte offset into bytes, rows and slices: drivers may check the triple, not the sum.
void setOrigin(Size (&origin)[3], Size offset, Size rowPitch, Size slicePitch, int depth) {
  origin[0] = origin[1] = origin[2] = 0;
  if (depth > 2) {
    origin[2] = offset / slicePitch;
    offset %= slicePitch;
  }
  if (depth > 1) {
    origin[1] = offset / rowPitch;
    offset %= rowPitch;
  }
  origin[0] = offset;
}

/// The rectangle over the three fastest loops, at the given byte offsets.
RectCopy rectangle(const LoopNest& nest, Size srcOffset, Size dstOffset) {
  RectCopy copy{};
  for (int d = 0; d < 3; ++d) copy.region[d] = d < nest.depth ? nest.loops[d].count : 1;
  copy.srcRowPitch = nest.depth > 1 ? nest.loops[1].srcStride : copy.region[0];
  copy.dstRowPitch = nest.depth > 1 ? nest.loops[1].dstStride : copy.region[0];
  copy.srcSlicePitch = nest.depth > 2 ? nest.loops[2].srcStride : copy.srcRowPitch * copy.region[1];
  copy.dstSlicePitch = nest.depth > 2 ? nest.loops[2].dstStride : copy.dstRowPitch * copy.region[1];
  setOrigin(copy.srcOrigin, srcOffset, copy.srcRowPitch, copy.srcSlicePitch, nest.depth);
  setOrigin(copy.dstOrigin, dstOffset, copy.dstRowPitch, copy.dstSlicePitch, nest.depth);
  return copy;
}

}  // namespace

std::string RectCopy::toString() const {
  const auto pitches = [](Size row, Size slice) {
    return " (pitch " + std::to_string(row) + ", " + std::to_string(slice) + ")";
  };
  return std::to_string(region[0]) + "x" + std::to_string(region[1]) + "x" +
         std::to_string(region[2]) + " bytes from " + std::to_string(srcOffset()) +
         pitches(srcRowPitch, srcSlicePitch) + " to " + std::to_string(dstOffset()) +
         pitches(dstRowPitch, dstSlicePitch);
}

std::vector<RectCopy> rectCopies(const Box& srcEnclosing, const Box& srcBox,
                                 const Box& dstEnclosing, const Box& dstBox,
                                 std::size_t elementSize) {
  if (!(srcBox.extents() == dstBox.extents())) {
    throw ShapeError("cannot copy box " + srcBox.toString() + " to box " + dstBox.toString() +
                     ": their extents differ; give boxes of one shape");
  }
  std::vector<RectCopy> copies;
  if (srcBox.empty() || elementSize == 0) return copies;
  checkBytes(srcEnclosing, elementSize);
  checkBytes(dstEnclosing, elementSize);
  const LoopNest nest = mergedLoops(srcEnclosing, srcBox, dstEnclosing, dstBox, elementSize);

  Size outer = 1;
  for (int l = 3; l < nest.depth; ++l) outer *= nest.loops[l].count;
  copies.reserve(outer);
  for (Size i = 0; i < outer; ++i) {
    Size srcOffset = nest.srcOffset;
    Size dstOffset = nest.dstOffset;
    Size rest = i;
    for (int l = 3; l < nest.depth; ++l) {
      const Loop& loop = nest.loops[l];
      srcOffset += rest % loop.count * loop.srcStride;
      dstOffset += rest % loop.count * loop.dstStride;
      rest /= loop.count;
    }
    copies.push_back(rectangle(nest, srcOffset, dstOffset));
  }
  return copies;
}

std::vector<RectCopy> rectCopies(const Box& srcEnclosing, const Box& dstEnclosing, const Box& box,
                                 std::size_t elementSize) {
  return rectCopies(srcEnclosing, box, dstEnclosing, box, elementSize);
}

}  // namespace hpl::geometry
