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

/// The cells beyond the ends of an array along a split dimension.
enum Wrapping : std::uint8_t {
  /// Nothing: the first and the last part have no ghosts there.
  NOT_PERIODIC,
  /// The array begins again: the first and the last part are neighbours, and a single part is its
  /// own.
  PERIODIC
};

namespace launch {

/// One dimension that is split, with the cells of overlap towards the previous and the next part.
struct DimAnnotation {
  int dim = 0;  ///< counted from 0
  std::int64_t before = 0;
  std::int64_t after = 0;
  Wrapping wrapping = NOT_PERIODIC;

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

/// The type of PART1(2.0f): an error.
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

/// The ghosts of a part along one dimension of blocks: a number of cells, or with the wrapping,
/// `PART12(a, {1, PERIODIC}, 2)`.
struct GhostCells {
  // NOLINTNEXTLINE(google-explicit-constructor): a number is one
  constexpr GhostCells(std::int64_t onBothSides, Wrapping beyondEnds = NOT_PERIODIC)
      : cells(onBothSides), wrapping(beyondEnds) {}

  std::int64_t cells;
  Wrapping wrapping;
};

/// PART1 splits the first dimension (the rows of a row-major matrix), PART2 the second, PART3 the
/// third; without further arguments the parts do not overlap. `r`: every part has r cells more on
/// both sides, its ghosts, which the parts beside it own: several where parts are thinner. `x, y`:
/// x cells towards the previous part, y towards the next one. PERIODIC: the first part has ghosts
/// of the array's last cells, and the last part of its first ones. FST, SND and TRD are older
/// names.
///
/// Errors at the launch: ArgumentError for negative overlaps, for dimensions that the array does
/// not have, and for PERIODIC without ghosts, with ghosts that are wider than a part, or on a view.
#define HPL_DEFINE_PART(NAME, DIM)                                                           \
  template <class T, int N, MemoryFlag M>                                                    \
  launch::Annotated<Array<T, N, M>> NAME(const Array<T, N, M>& array, std::int64_t x,        \
                                         std::int64_t y, SyncMode sync = MANUAL_SYNC) {      \
    return launch::annotate(array, sync, {DIM, x, y});                                       \
  }                                                                                          \
  template <class T, int N, MemoryFlag M>                                                    \
  launch::Annotated<Array<T, N, M>> NAME(const Array<T, N, M>& array, std::int64_t x,        \
                                         std::int64_t y, Wrapping beyondEnds,                \
                                         SyncMode sync = MANUAL_SYNC) {                      \
    return launch::annotate(array, sync, {DIM, x, y, beyondEnds});                           \
  }                                                                                          \
  template <class T, int N, MemoryFlag M>                                                    \
  launch::Annotated<Array<T, N, M>> NAME(const Array<T, N, M>& array, std::int64_t r = 0) {  \
    return launch::annotate(array, MANUAL_SYNC, {DIM, r, r});                                \
  }                                                                                          \
  template <class T, int N, MemoryFlag M>                                                    \
  launch::Annotated<Array<T, N, M>> NAME(const Array<T, N, M>& array, std::int64_t r,        \
                                         SyncMode sync) {                                    \
    return launch::annotate(array, sync, {DIM, r, r});                                       \
  }                                                                                          \
  template <class T, int N, MemoryFlag M>                                                    \
  launch::Annotated<Array<T, N, M>> NAME(const Array<T, N, M>& array, std::int64_t r,        \
                                         Wrapping beyondEnds, SyncMode sync = MANUAL_SYNC) { \
    return launch::annotate(array, sync, {DIM, r, r, beyondEnds});                           \
  }                                                                                          \
  template <class X, class... More>                                                          \
    requires(!detail::ArrayTraits<X>::kIsArray)                                              \
  launch::NoArrayToSplit<X> NAME(const X& x, const More&...);
HPL_DEFINE_PART(PART1, 0)
HPL_DEFINE_PART(PART2, 1)
HPL_DEFINE_PART(PART3, 2)
HPL_DEFINE_PART(FST, 0)
HPL_DEFINE_PART(SND, 1)
HPL_DEFINE_PART(TRD, 2)
#undef HPL_DEFINE_PART

namespace launch {

constexpr DimAnnotation blockSide(int dim, const GhostCells& ghosts) {
  return {dim, ghosts.cells, ghosts.cells, ghosts.wrapping};
}

}  // namespace launch

/// Blocks over two or three dimensions, with r cells of overlap in each: the devices form a grid
/// whose cuts are as short as possible. `{r, PERIODIC}` for one dimension, or PERIODIC behind them
/// for all: as in PART1. Weights do not apply to blocks.
#define HPL_DEFINE_BLOCKS(NAME, FIRST, SECOND)                                                 \
  template <class T, int N, MemoryFlag M>                                                      \
  launch::Annotated<Array<T, N, M>> NAME(const Array<T, N, M>& array, GhostCells r0 = 0,       \
                                         GhostCells r1 = 0, SyncMode sync = MANUAL_SYNC) {     \
    return {&array, {{launch::blockSide(FIRST, r0), launch::blockSide(SECOND, r1)}, 2, sync}}; \
  }                                                                                            \
  template <class T, int N, MemoryFlag M>                                                      \
  launch::Annotated<Array<T, N, M>> NAME(const Array<T, N, M>& array, std::int64_t r0,         \
                                         std::int64_t r1, Wrapping beyondEnds,                 \
                                         SyncMode sync = MANUAL_SYNC) {                        \
    return NAME(array, GhostCells(r0, beyondEnds), GhostCells(r1, beyondEnds), sync);          \
  }
HPL_DEFINE_BLOCKS(PART12, 0, 1)
HPL_DEFINE_BLOCKS(PART13, 0, 2)
HPL_DEFINE_BLOCKS(PART23, 1, 2)
#undef HPL_DEFINE_BLOCKS

template <class T, int N, MemoryFlag M>
launch::Annotated<Array<T, N, M>> PART123(const Array<T, N, M>& array, GhostCells r0 = 0,
                                          GhostCells r1 = 0, GhostCells r2 = 0,
                                          SyncMode sync = MANUAL_SYNC) {
  return {
      &array,
      {{launch::blockSide(0, r0), launch::blockSide(1, r1), launch::blockSide(2, r2)}, 3, sync}};
}
template <class T, int N, MemoryFlag M>
launch::Annotated<Array<T, N, M>> PART123(const Array<T, N, M>& array, std::int64_t r0,
                                          std::int64_t r1, std::int64_t r2, Wrapping beyondEnds,
                                          SyncMode sync = MANUAL_SYNC) {
  return PART123(array, GhostCells(r0, beyondEnds), GhostCells(r1, beyondEnds),
                 GhostCells(r2, beyondEnds), sync);
}

}  // namespace hpl
