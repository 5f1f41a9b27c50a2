// SPDX-License-Identifier: Apache-2.0
#include "hpl/array/annotation_splits.h"

namespace hpl::launch {

std::vector<geometry::DimSplit> splitsOf(const Annotation& annotation, const geometry::Box& whole,
                                         int parts, std::span<const double> weights) {
  std::vector<int> grid{parts};
  if (annotation.count > 1) {
    geometry::Extents split;
    for (int k = 0; k < annotation.count; ++k) split.append(whole.extent(annotation.dims[k].dim));
    grid = geometry::gridOf(parts, split);
  }
  std::vector<geometry::DimSplit> splits;
  for (int k = 0; k < annotation.count; ++k) {
    const DimAnnotation& dim = annotation.dims[k];
    geometry::DimSplit& one = splits.emplace_back();
    one.dim = dim.dim;
    one.parts = grid[static_cast<std::size_t>(k)];
    one.before = dim.before;
    one.after = dim.after;
    if (annotation.count == 1) one.weights.assign(weights.begin(), weights.end());
  }
  return splits;
}

}  // namespace hpl::launch
