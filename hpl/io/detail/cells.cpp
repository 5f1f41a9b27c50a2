// SPDX-License-Identifier: Apache-2.0
#include "hpl/io/detail/cells.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace hpl::io::detail {

CellLayout joined(const CellLayout& layout) {
  CellLayout result = layout;
  // Dimensions are taken from the last one outwards; `first` is where the last joined one stands.
  std::vector<std::pair<std::int64_t, std::int64_t>> kept;  // extent, stride; last one first
  for (int d = layout.rank - 1; d >= 0; --d) {
    const std::int64_t extent = layout.extents[static_cast<std::size_t>(d)];
    const std::int64_t stride = layout.strides[static_cast<std::size_t>(d)];
    if (!kept.empty() && kept.back().first * kept.back().second == stride) {
      kept.back().first *= extent;
    } else {
      kept.emplace_back(extent, stride);
    }
  }
  result.rank = static_cast<int>(kept.size());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    result.extents[kept.size() - 1 - i] = kept[i].first;
    result.strides[kept.size() - 1 - i] = kept[i].second;
  }
  return result;
}

CellLayout transposed(const CellLayout& layout) {
  CellLayout result = layout;
  std::reverse(result.extents.begin(), result.extents.begin() + layout.rank);
  std::reverse(result.strides.begin(), result.strides.begin() + layout.rank);
  return result;
}

CellLayout asScalars(const CellLayout& layout) {
  if (!layout.type.isVector()) return layout;
  CellLayout scalars = layout;
  const std::int64_t lanesInMemory = layout.type.lanes == 3 ? 4 : layout.type.lanes;
  for (std::int64_t& stride : scalars.strides) stride *= lanesInMemory;
  const auto last = static_cast<std::size_t>(layout.rank);
  scalars.extents[last] = layout.type.lanes;
  scalars.strides[last] = 1;
  scalars.rank = layout.rank + 1;
  scalars.type = layout.type.element();
  return scalars;
}

std::string shapeText(const std::vector<std::int64_t>& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

std::string describeArray(const ir::Type& type, int rank, const std::string& label) {
  return fmt::format("Array<{}, {}>{}", ir::describe(type), rank,
                     label.empty() ? "" : fmt::format(" '{}'", label));
}

}  // namespace hpl::io::detail
