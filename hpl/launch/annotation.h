// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hpl/array/array.h"
#include "hpl/array/parameter.h"

/// How arrays are spread over the devices of a launch: `eval(k)(PART1(out, 1), PART1(in, 1))`
/// (paper, Section 2.2.2). The annotated dimension is cut into one part per device; the kernel sees
/// the part of its device as the array, with `idx = idy = idz = 0` at the part's first cell.
namespace hpl {

/// Whether the library refreshes ghosts by itself.
enum SyncMode : std::uint8_t {
  /// The program calls a.syncGhosts().
  MANUAL_SYNC,
  /// Before each launch that would compute a core cell from a ghost that is out of date, the
  /// library does what a.syncGhosts() does: with r ghost cells and a stencil of radius 1, every
  /// r-th time. A kernel whose read offsets cannot be told is synchronised before each launch.
  AUTO_SYNC
};

namespace launch {

/// One dimension that is split, with the cells of overlap towards the previous and the next part.
struct DimAnnotation {
  int dim = 0;  ///< counted from 0
  std::int64_t before = 0;
  std::int64_t after = 0;

  friend bool operator==(const DimAnnotation&, const DimAnnotation&) = default;
};

/// How one array argument is split; no dimension: it is not.
struct Annotation {
  DimAnnotation dims[3];
  int count = 0;
  SyncMode sync = MANUAL_SYNC;

  friend bool operator==(const Annotation&, const Annotation&) = default;
};

/// An array together with its annotation; lives as long as the call that it is an argument of.
template <class A>
struct Annotated {
  const A* array;
  Annotation annotation;
};

/// What PART1(2.0f) gives: an error.
template <class X>
struct NoArrayToSplit {
  static_assert(hpl::detail::kNever<X>,
                "HPL: PART1 and its like split an Array<T, N>; other arguments, which are the same "
                "for all devices, stand alone");
  const X* array;
  Annotation annotation;
};

template <class A>
Annotated<A> annotate(const A& array, SyncMode sync, DimAnnotation first) {
  return {&array, {{first}, 1, sync}};
}

}  // namespace launch

/// PART1 splits the first dimension (the rows of a row-major matrix), PART2 the second, PART3 the
/// third; without further arguments the parts do not overlap. `r`: every part has r cells more on
/// both sides, its ghosts, which the parts beside it own: several where parts are thinner. `x, y`:
/// x cells towards the previous part, y towards the next one. FST, SND and TRD are older names.
///
/// Errors at the launch: ArgumentError for negative overlaps, and for dimensions that the array
/// does not have.
#define HPL_DEFINE_PART(NAME, DIM)                                                          \
  template <class T, int N, MemoryFlag M>                                                   \
  launch::Annotated<Array<T, N, M>> NAME(const Array<T, N, M>& array, std::int64_t x,       \
                                         std::int64_t y, SyncMode sync = MANUAL_SYNC) {     \
    return launch::annotate(array, sync, {DIM, x, y});                                      \
  }                                                                                         \
  template <class T, int N, MemoryFlag M>                                                   \
  launch::Annotated<Array<T, N, M>> NAME(const Array<T, N, M>& array, std::int64_t r = 0) { \
    return launch::annotate(array, MANUAL_SYNC, {DIM, r, r});                               \
  }                                                                                         \
  template <class T, int N, MemoryFlag M>                                                   \
  launch::Annotated<Array<T, N, M>> NAME(const Array<T, N, M>& array, std::int64_t r,       \
                                         SyncMode sync) {                                   \
    return launch::annotate(array, sync, {DIM, r, r});                                      \
  }                                                                                         \
  template <class X, class... More>                                                         \
    requires(!detail::ArrayTraits<X>::kIsArray)                                             \
  launch::NoArrayToSplit<X> NAME(const X& x, const More&...);
HPL_DEFINE_PART(PART1, 0)
HPL_DEFINE_PART(PART2, 1)
HPL_DEFINE_PART(PART3, 2)
HPL_DEFINE_PART(FST, 0)
HPL_DEFINE_PART(SND, 1)
HPL_DEFINE_PART(TRD, 2)
#undef HPL_DEFINE_PART

/// Blocks over two or three dimensions, with r cells of overlap in each: the devices form a grid
/// whose cuts are as short as possible. Weights do not apply to blocks.
#define HPL_DEFINE_BLOCKS(NAME, FIRST, SECOND)                                               \
  template <class T, int N, MemoryFlag M>                                                    \
  launch::Annotated<Array<T, N, M>> NAME(const Array<T, N, M>& array, std::int64_t r0 = 0,   \
                                         std::int64_t r1 = 0, SyncMode sync = MANUAL_SYNC) { \
    return {&array, {{{FIRST, r0, r0}, {SECOND, r1, r1}}, 2, sync}};                         \
  }
HPL_DEFINE_BLOCKS(PART12, 0, 1)
HPL_DEFINE_BLOCKS(PART13, 0, 2)
HPL_DEFINE_BLOCKS(PART23, 1, 2)
#undef HPL_DEFINE_BLOCKS

template <class T, int N, MemoryFlag M>
launch::Annotated<Array<T, N, M>> PART123(const Array<T, N, M>& array, std::int64_t r0 = 0,
                                          std::int64_t r1 = 0, std::int64_t r2 = 0,
                                          SyncMode sync = MANUAL_SYNC) {
  return {&array, {{{0, r0, r0}, {1, r1, r1}, {2, r2, r2}}, 3, sync}};
}

}  // namespace hpl
