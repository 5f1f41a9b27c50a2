// SPDX-License-Identifier: Apache-2.0
#include "cells.h"

#include <fmt/format.h>

namespace programs {

namespace {

std::vector<int> evenSizes(int total, int parts) {
  std::vector<int> sizes;
  for (int i = 0; i < parts; ++i) sizes.push_back(total / parts + (i < total % parts ? 1 : 0));
  return sizes;
}

// The grid of `parts` blocks whose cuts are as short as possible; ties cut the slower dimension.
std::vector<int> gridOf(int parts, const Box& whole, const std::vector<Cut>& cuts) {
  std::vector<int> best;
  long shortest = 0;
  std::vector<int> grid(cuts.size(), 1);
  const auto lengthOf = [&] {
    long length = 0;
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      long face = 1;
      for (std::size_t j = 0; j < cuts.size(); ++j)
        if (j != i) face *= whole.extent(cuts[j].dim);
      length += face * (grid[i] - 1);
    }
    return length;
  };
  const auto search = [&](auto&& self, std::size_t i, int left) -> void {
    if (i + 1 == grid.size()) {
      grid[i] = left;
      const long length = lengthOf();
      if (best.empty() || length < shortest || (length == shortest && grid > best)) {
        best = grid;
        shortest = length;
      }
      return;
    }
    for (int n = 1; n <= left; ++n) {
      if (left % n != 0) continue;
      grid[i] = n;
      self(self, i + 1, left / n);
    }
  };
  search(search, 0, parts);
  return best;
}

}  // namespace

Split splitOf(const Box& whole, const std::vector<Cut>& cuts, const std::vector<int>& devices,
              const std::vector<int>& weights) {
  const std::vector<int> grid = gridOf(static_cast<int>(devices.size()), whole, cuts);
  Split split(1);
  split[0].core = split[0].full = whole;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    const auto d = static_cast<std::size_t>(cuts[i].dim);
    const std::vector<int> sizes =
        weights.empty() ? evenSizes(whole.extent(cuts[i].dim), grid[i]) : weights;
    Split finer;
    for (const Part& part : split) {
      int lo = whole.lo[d];
      for (const int size : sizes) {
        Part& piece = finer.emplace_back(part);
        piece.core.lo[d] = lo;
        piece.core.hi[d] = lo += size;
        piece.full.lo[d] = std::max(whole.lo[d], piece.core.lo[d] - cuts[i].before);
        piece.full.hi[d] = std::min(whole.hi[d], piece.core.hi[d] + cuts[i].after);
      }
    }
    split = finer;
  }
  for (std::size_t p = 0; p < split.size(); ++p) {
    split[p].device = static_cast<int>(p);
    split[p].id = devices[p];
  }
  std::erase_if(split, [](const Part& part) { return part.core.empty(); });
  return split;
}

std::string show(const Box& b, int dims) {
  std::string text;
  for (int d = 3 - dims; d < 3; ++d) {
    const auto i = static_cast<std::size_t>(d);
    text += fmt::format("{}Range({}, {})", text.empty() ? "" : ", ", b.lo[i], b.hi[i] - 1);
  }
  return text;
}

}  // namespace programs
