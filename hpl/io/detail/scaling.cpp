// SPDX-License-Identifier: Apache-2.0
#include "hpl/io/detail/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "hpl/error.h"

namespace hpl::io::detail {
namespace {

template <class T>
void convert(const void* first, std::int64_t step, std::int64_t count, double* values) {
  const T* from = static_cast<const T*>(first);
  for (std::int64_t i = 0; i < count; ++i) values[i] = static_cast<double>(from[i * step]);
}

}  // namespace

void rowAsDouble(const Cells& cells, std::int64_t offset, std::int64_t count, double* values) {
  const ir::Scalar scalar = cells.layout.type.scalar;
  const auto* first = static_cast<const std::byte*>(cells.first) +
                      offset * static_cast<std::int64_t>(ir::sizeOf(scalar));
  const std::int64_t step = cells.layout.strides[static_cast<std::size_t>(cells.layout.rank - 1)];
  switch (scalar) {
    case ir::Scalar::Bool:
      return convert<bool>(first, step, count, values);
    case ir::Scalar::Char:
      return convert<std::int8_t>(first, step, count, values);
    case ir::Scalar::Uchar:
      return convert<std::uint8_t>(first, step, count, values);
    case ir::Scalar::Short:
      return convert<std::int16_t>(first, step, count, values);
    case ir::Scalar::Ushort:
      return convert<std::uint16_t>(first, step, count, values);
    case ir::Scalar::Int:
      return convert<std::int32_t>(first, step, count, values);
    case ir::Scalar::Uint:
      return convert<std::uint32_t>(first, step, count, values);
    case ir::Scalar::Long:
      return convert<std::int64_t>(first, step, count, values);
    case ir::Scalar::Ulong:
      return convert<std::uint64_t>(first, step, count, values);
    case ir::Scalar::Half:
      return convert<half>(first, step, count, values);
    case ir::Scalar::Float:
      return convert<float>(first, step, count, values);
    default:
      return convert<double>(first, step, count, values);
  }
}

std::pair<double, double> rangeFor(const Cells& cells, const ColorScale& scale) {
  if (scale.range()) return *scale.range();
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  std::vector<double> row;
  forEachRow(cells.layout, [&](std::int64_t offset, std::int64_t length) {
    row.resize(static_cast<std::size_t>(length));
    rowAsDouble(cells, offset, length, row.data());
    for (const double value : row) {
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  });
  if (!(low <= high)) return {0, 1};
  return {low, high};
}

std::vector<short> indicesOf(const Cells& cells, std::pair<double, double> range, int colors) {
  const auto [low, high] = range;
  std::vector<short> indices;
  indices.reserve(static_cast<std::size_t>(cells.layout.count()));
  std::vector<double> row;
  forEachRow(cells.layout, [&](std::int64_t offset, std::int64_t length) {
    row.resize(static_cast<std::size_t>(length));
    rowAsDouble(cells, offset, length, row.data());
    for (const double value : row) {
      if (std::isnan(value)) {
        indices.push_back(kNan);
        continue;
      }
      // Halved, because the distance of two numbers may be larger than any number; where all are
      // equal they get the first colour.
      const double t = value <= low    ? 0.0
                       : value >= high ? 1.0
                                       : (value / 2 - low / 2) / (high / 2 - low / 2);
      indices.push_back(static_cast<short>(std::lround((colors - 1) * t)));
    }
  });
  return indices;
}

std::pair<int, int> pixelsOf(const CellLayout& layout, int zoom) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  const std::int64_t rows = layout.extents[0], columns = layout.extents[1];
  if (rows > most / zoom || columns > most / zoom || rows * zoom > most / (columns * zoom)) {
    throw ArgumentError(fmt::format(
        "{} of {} with {} pixels a value would be a picture of 2^31 or more pixels: draw a view of "
        "it, or zoom less",
        describeArray(layout.type, layout.rank, layout.label), shapeText(layout.shape()), zoom));
  }
  return {static_cast<int>(columns * zoom), static_cast<int>(rows * zoom)};
}

}  // namespace hpl::io::detail
