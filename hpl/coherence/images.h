// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/geometry/box.h"

namespace hpl::coherence {

/// Cells outside of an array's box are images: copies of the cell one period, which is the array's
/// extent, away. Periodic ghosts are such cells. A cell has at most one image on each side.
///
/// Calls f(home, shift) for each piece of `cells` that images (or, with a shift of zeros, are)
/// cells of `root`: `home` lies in the root, and home + shift in `cells`. Cells farther than one
/// period outside belong to no piece.
template <class F>
void forEachHome(const geometry::Box& root, const geometry::Box& cells, F&& f) {
  if (root.contains(cells)) {
    if (!cells.empty()) f(cells, geometry::Point::filled(cells.rank(), 0));
    return;
  }
  const int rank = cells.rank();
  int combinations = 1;
  for (int d = 0; d < rank; ++d) combinations *= 3;
  for (int c = 0; c < combinations; ++c) {
    geometry::Point shift = geometry::Point::filled(rank, 0);
    for (int d = 0, rest = c; d < rank; ++d, rest /= 3)
      shift[d] = (rest % 3 == 0 ? 0 : rest % 3 == 1 ? -1 : 1) * root.extent(d);
    const geometry::Box home = intersect(cells.translatedBack(shift), root);
    if (!home.empty()) f(home, shift);
  }
}

/// Calls f(image) for each image of `cells`, which lie in `root`, that meets `within`; not for
/// `cells` themselves.
template <class F>
void forEachImage(const geometry::Box& root, const geometry::Box& cells,
                  const geometry::Box& within, F&& f) {
  if (root.contains(within)) return;
  const int rank = cells.rank();
  int combinations = 1;
  for (int d = 0; d < rank; ++d) combinations *= 3;
  for (int c = 1; c < combinations; ++c) {
    geometry::Point shift = geometry::Point::filled(rank, 0);
    bool isNear = true;
    for (int d = 0, rest = c; d < rank; ++d, rest /= 3) {
      if (rest % 3 == 1) isNear = isNear && within.lo(d) < root.lo(d);
      if (rest % 3 == 2) isNear = isNear && within.hi(d) > root.hi(d);
      shift[d] = (rest % 3 == 0 ? 0 : rest % 3 == 1 ? -1 : 1) * root.extent(d);
    }
    if (!isNear) continue;
    const geometry::Box image = intersect(cells.translated(shift), within);
    if (!image.empty()) f(image);
  }
}

}  // namespace hpl::coherence
