// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "samples/common/rle.h"

/// The Game of Life (B3/S23) on an unlimited plane: a sorted list of living cells. It shares no
/// code and no idea with the simulators it checks, which work on dense grids.
class PlaneLife {
 public:
  using Key = std::uint64_t;

  explicit PlaneLife(const samples::Pattern& pattern) {
    for (const auto& run : pattern.runs) {
      for (int c = 0; c < run.length; ++c) cells_.push_back(key(run.row, run.column + c));
    }
    std::sort(cells_.begin(), cells_.end());
  }

  void run(int generations) {
    for (int g = 0; g < generations; ++g) step();
  }

  std::size_t population() const { return cells_.size(); }

  /// Living cells as (row, column), sorted.
  std::vector<std::pair<int, int>> cells() const {
    std::vector<std::pair<int, int>> result;
    for (Key cell : cells_) {
      result.emplace_back(static_cast<int>(cell >> 32) - kOrigin,
                          static_cast<int>(cell & 0xffffffff) - kOrigin);
    }
    return result;
  }

 private:
  static constexpr int kOrigin = 1 << 30;  // keeps rows and columns positive within a key

  static Key key(int row, int column) {
    return static_cast<Key>(row + kOrigin) << 32 | static_cast<Key>(column + kOrigin);
  }

  void step() {
    touched_.clear();
    for (Key cell : cells_) {
      for (Key row : {cell - (Key{1} << 32), cell, cell + (Key{1} << 32)}) {
        touched_.insert(touched_.end(), {row - 1, row, row + 1});
      }
    }
    std::sort(touched_.begin(), touched_.end());
    std::vector<Key> next;
    for (std::size_t i = 0; i < touched_.size();) {
      std::size_t end = i;
      while (end < touched_.size() && touched_[end] == touched_[i]) ++end;
      // The count includes the cell itself: 3 means alive next time, 4 means as it was.
      const std::size_t count = end - i;
      if (count == 3 ||
          (count == 4 && std::binary_search(cells_.begin(), cells_.end(), touched_[i]))) {
        next.push_back(touched_[i]);
      }
      i = end;
    }
    cells_ = std::move(next);
  }

  std::vector<Key> cells_;
  std::vector<Key> touched_;
};
