// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "hpl/geometry/box_index.h"
#include "hpl/geometry/hierarchy.h"

/// The cells that the blocks of a partition exchange.
namespace hpl::geometry {

inline bool isPeriodic(const PartitionProblem& problem, int d) {
  return !problem.periodic.empty() && problem.periodic[static_cast<std::size_t>(d)];
}

/// The widest halo of a dimension, below or above.
Index widestHalo(const PartitionProblem& problem, int d);

/// Calls f(to, from, bytes) for each part of a halo of block `to` that block `from` owns. Images of
/// the domain stand beside it where it is periodic.
template <class F>
void forEachExchange(const PartitionProblem& problem, const std::vector<Block>& blocks, F&& f) {
  const int rank = problem.domain.rank();
  std::vector<Box> boxes;
  boxes.reserve(blocks.size());
  for (const Block& block : blocks) boxes.push_back(block.cells);
  const BoxIndex index(std::move(boxes));
  std::vector<Point> images{Point::filled(rank, 0)};
  for (int d = 0; d < rank; ++d) {
    if (!isPeriodic(problem, d)) continue;
    const std::size_t known = images.size();
    for (std::size_t i = 0; i < known; ++i) {
      for (const Index step : {-problem.domain[d], problem.domain[d]}) {
        images.push_back(images[i]);
        images.back()[d] = step;
      }
    }
  }
  for (int to = 0; to < index.size(); ++to) {
    for (const HaloOfField& field : problem.fields) {
      const Box halo = index[to].grown(field.before, field.after);
      for (const Point& image : images) {
        const Box there = halo.translated(image);
        index.forEachMeeting(there, [&](int from) {
          if (from != to) f(to, from, intersect(there, index[from]).volume() * field.bytesPerCell);
        });
      }
    }
  }
}

/// Fills in the bytes between nodes and within them.
void sumExchanges(const PartitionProblem& problem, Hierarchy& hierarchy);

}  // namespace hpl::geometry
