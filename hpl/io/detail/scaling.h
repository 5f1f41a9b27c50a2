// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "hpl/io/color_map.h"
#include "hpl/io/detail/cells.h"

namespace hpl::io::detail {

/// One row of scalars of any type as double.
void rowAsDouble(const Cells& cells, std::int64_t offset, std::int64_t count, double* values);

/// The range of a scale for these cells: its own, else the lowest and highest finite value.
std::pair<double, double> rangeFor(const Cells& cells, const ColorScale& scale);

/// The index that indicesOf gives for NaN.
inline constexpr int kNan = -1;
/// For each cell the index of its colour among `colors`, or kNan.
std::vector<short> indicesOf(const Cells& cells, std::pair<double, double> range, int colors);

/// Pixels of the picture: width, height. Throws ArgumentError from 2^31 pixels on.
std::pair<int, int> pixelsOf(const CellLayout& layout, int zoom);

}  // namespace hpl::io::detail
