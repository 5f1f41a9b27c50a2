// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "samples/canny/values.h"

namespace samples::canny {

/// The pixels that one work-item links at a time: wide, because rows are looked through in vectors,
/// and low enough that a picture has many of them.
constexpr int kTileRows = 32, kTileColumns = 256;

/// Whether a weak pixel beside (y, x), or the pixel itself, is strong.
inline Int besideStrong(const Bytes& labels, const Int& y, const Int& x) {
  Int strongest = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) strongest = max(strongest, cast<int>(labels[y + dy][x + dx]));
  }
  return where(strongest == kStrong, 1, 0);
}

/// Makes the pixel strong if it is weak and has a strong neighbour, and notes that in `grown`.
inline void growPixel(Bytes& labels, const Int& y, const Int& x, Int& grown) {
  if_(labels[y][x] == kWeak) {
    if_(besideStrong(labels, y, x) != 0) {
      labels[y][x] = kStrong;
      grown = 1;
    }
  }
}

/// Whether the row has weak pixels from `first` to `last`; a loop without branches, for vectors.
inline Int hasWeak(const Bytes& labels, const Int& y, const Int& first, const Int& last) {
  Int weak = 0;
  for_(Int x = first, x <= last, x++) {
    weak = max(weak, where(labels[y][x] == kWeak, 1, 0));
  }
  return weak;
}

/// One work-item lets the edges of one tile grow until nothing changes in it: from its first pixel
/// to its last and back again. Edges grow the whole length of a row at once, because each pixel
/// sees what became of the one before.
///
/// A launch runs every second tile in both directions, from tile (firstY, firstX) on, so that no
/// work-item reads what another one writes. `step` counts launches. A tile is left alone if none of
/// its neighbours has changed since its last visit in this picture, which began after `begin`.
/// `changed` and `visited` hold steps; `changed` has a ring of tiles around those of the picture.
inline void linkTiles(Bytes labels, Ints changed, Ints visited, Int rows, Int columns, Int firstY,
                      Int firstX, Int step, Int begin) {
  Int tileY = 2 * cast<int>(idy) + firstY;
  Int tileX = 2 * cast<int>(idx) + firstX;
  Int last = visited[tileY][tileX];
  Int isDue = where(last <= begin, 1, 0);
  for (int dy = 0; dy <= 2; ++dy) {
    for (int dx = 0; dx <= 2; ++dx)
      isDue = max(isDue, where(changed[tileY + dy][tileX + dx] > last, 1, 0));
  }
  if_(isDue != 0) {
    Int top = max(tileY * kTileRows, 1), left = max(tileX * kTileColumns, 1);
    Int bottom = min(tileY * kTileRows + kTileRows, rows - 1) - 1;
    Int right = min(tileX * kTileColumns + kTileColumns, columns - 1) - 1;
    Int forwards = 1, grown = 1, grew = 0;
    while_(grown != 0) {
      grown = 0;
      for_(Int row = 0, row <= bottom - top, row++) {
        Int y = where(forwards != 0, top + row, bottom - row);
        if_(hasWeak(labels, y, left, right) != 0) {
          for_(Int column = 0, column <= right - left, column++) {
            growPixel(labels, y, where(forwards != 0, left + column, right - column), grown);
          }
        }
      }
      grew = max(grew, grown);
      forwards = 1 - forwards;
    }
    visited[tileY][tileX] = step;
    if_(grew != 0) {
      changed[tileY + 1][tileX + 1] = step;
    }
  }
}

/// Lets the edges of pictures of one extent grow on one device, tile by tile. The host looks at
/// what has changed after some rounds; rounds in which nothing is due cost four launches that end
/// at once. For CPUs: on a GPU one work-item is too slow for a tile, and whole sweeps are cheap.
class TileLinker {
 public:
  static bool suits(const ExecutionPlan& plan) {
    return plan.shares().size() == 1 && plan.shares().front().device.type() == CPU;
  }

  TileLinker(int rows, int columns, const Device& device)
      : rows_(rows),
        columns_(columns),
        tilesY_((rows + kTileRows - 1) / kTileRows),
        tilesX_((columns + kTileColumns - 1) / kTileColumns),
        changed_(tilesY_ + 2, tilesX_ + 2),
        visited_(tilesY_, tilesX_),
        device_(device) {
    changed_ = 0;
    visited_ = 0;
  }

  /// Until no weak pixel has a strong neighbour any more.
  void link(Bytes& labels) {
    const int begin = step_;
    int lastRound = 0;
    do {
      for (int i = 0; i < kRounds; ++i) {
        lastRound = step_ + 1;
        round(labels, begin);
      }
    } while (changed_.reduce([](int a, int b) { return std::max(a, b); }) >= lastRound);
  }

 private:
  /// Between two looks of the host.
  static constexpr int kRounds = 3;

  void round(Bytes& labels, int begin) {
    for (int firstY = 0; firstY < std::min(2, tilesY_); ++firstY) {
      for (int firstX = 0; firstX < std::min(2, tilesX_); ++firstX) {
        // One tile a group: they differ in work, and no other size has to be compiled.
        eval(linkTiles)
            .device(device_)
            .global((tilesX_ - firstX + 1) / 2, (tilesY_ - firstY + 1) / 2)
            .local(1, 1)(labels, changed_, visited_, rows_, columns_, firstY, firstX, ++step_,
                         begin);
      }
    }
  }

  int rows_, columns_, tilesY_, tilesX_;
  Ints changed_, visited_;
  Device device_;
  int step_ = 0;
};

}  // namespace samples::canny
