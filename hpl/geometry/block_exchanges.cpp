// SPDX-License-Identifier: Apache-2.0
#include "hpl/geometry/block_exchanges.h"

#include <algorithm>

namespace hpl::geometry {

Index widestHalo(const PartitionProblem& problem, int d) {
  Index widest = 0;
  for (const HaloOfField& field : problem.fields)
    widest = std::max({widest, field.before[d], field.after[d]});
  return widest;
}

void sumExchanges(const PartitionProblem& problem, Hierarchy& hierarchy) {
  hierarchy.bytesBetweenNodes = hierarchy.bytesWithinNodes = 0;
  forEachExchange(problem, hierarchy.blocks, [&](int to, int from, Index bytes) {
    const bool isNear = hierarchy.blocks[static_cast<std::size_t>(to)].node ==
                        hierarchy.blocks[static_cast<std::size_t>(from)].node;
    (isNear ? hierarchy.bytesWithinNodes : hierarchy.bytesBetweenNodes) += bytes;
  });
}

}  // namespace hpl::geometry
