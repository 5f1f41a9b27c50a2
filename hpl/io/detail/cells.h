// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hpl/array/array.h"
#include "hpl/geometry/index.h"
#include "hpl/ir/type.h"

namespace hpl::io::detail {

/// Where the cells of an array or a view lie in the host's memory; the type of the array is data
/// here, so that readers and writers need no templates.
struct CellLayout {
  ir::Type type;
  int rank = 0;
  /// One more than arrays have, for the lanes of vectors.
  std::array<std::int64_t, geometry::kMaxDims + 1> extents{};
  /// Cells between neighbours along each dimension.
  std::array<std::int64_t, geometry::kMaxDims + 1> strides{};
  /// The array's label; may be empty.
  std::string label;

  std::int64_t count() const {
    std::int64_t cells = 1;
    for (int d = 0; d < rank; ++d) cells *= extents[static_cast<std::size_t>(d)];
    return cells;
  }
  std::vector<std::int64_t> shape() const { return {extents.data(), extents.data() + rank}; }
};

/// Cells that may be read.
struct Cells {
  CellLayout layout;
  const void* first = nullptr;
};

template <class T, int N>
CellLayout layoutOf(const Array<T, N>& array) {
  static_assert(N <= geometry::kMaxDims);
  CellLayout layout;
  layout.type = irType<T>();
  layout.rank = N;
  for (int d = 0; d < N; ++d) {
    layout.extents[static_cast<std::size_t>(d)] = static_cast<std::int64_t>(array.getDimension(d));
    layout.strides[static_cast<std::size_t>(d)] = static_cast<std::int64_t>(array.stride(d));
  }
  layout.label = array.label();
  return layout;
}

/// The cells, current on the host.
template <class T, int N>
Cells cellsOf(const Array<T, N>& array) {
  return {layoutOf(array), array.data()};
}

template <class T, int N, std::size_t... I>
Array<T, N> makeArray(const std::int64_t* shape, std::index_sequence<I...>) {
  return Array<T, N>(shape[I]...);
}
/// An array of N extents.
template <class T, int N>
Array<T, N> makeArray(const std::vector<std::int64_t>& shape) {
  return makeArray<T, N>(shape.data(), std::make_index_sequence<N>());
}

/// Calls `visit(offset, length)` for each row, first to last: `length` cells from cell `offset` on,
/// `layout.strides[rank - 1]` apart.
template <class Visit>
void forEachRow(const CellLayout& layout, Visit visit) {
  const int last = layout.rank - 1;
  std::array<std::int64_t, geometry::kMaxDims + 1> at{};
  std::int64_t offset = 0;
  for (;;) {
    visit(offset, layout.extents[static_cast<std::size_t>(last)]);
    int d = last - 1;
    for (; d >= 0; --d) {
      const auto i = static_cast<std::size_t>(d);
      offset += layout.strides[i];
      if (++at[i] < layout.extents[i]) break;
      offset -= layout.extents[i] * layout.strides[i];
      at[i] = 0;
    }
    if (d < 0) return;
  }
}

/// The same cells with dimensions that follow each other without a gap joined: long rows.
CellLayout joined(const CellLayout& layout);
/// The same cells with the dimensions in reverse order.
CellLayout transposed(const CellLayout& layout);

/// The same memory as scalars: the lanes of vectors as a last dimension.
CellLayout asScalars(const CellLayout& layout);

/// "(48, 64)", as Python prints it: "(48,)" for one dimension.
std::string shapeText(const std::vector<std::int64_t>& shape);
/// "Array<float, 2>"; "Array<float, 2> 'pressure'" with a label.
std::string describeArray(const ir::Type& type, int rank, const std::string& label = {});

}  // namespace hpl::io::detail
