// SPDX-License-Identifier: Apache-2.0
#include "hpl/layout/detail/group_layouts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "hpl/layout/detail/hidden_value.h"
#include "hpl/layout/heuristic_choice.h"
#include "hpl/layout/rewritten_kernels.h"
#include "hpl/runtime/device_state.h"

namespace hpl::layout::detail {
namespace {

using strategies::Columns;
using strategies::ColumnsOptions;
using strategies::Hidden;
using strategies::PlaneQueue;
using strategies::PlaneQueueOptions;
using strategies::Tiled;
using strategies::TileOptions;

/// Work-items that a group may have, of the kernel if that is known.
std::size_t mostItems(const DeviceProperties& device, const Shape& shape) {
  return shape.groupLimit > 0 ? std::min(device.maxWorkGroupSize, shape.groupLimit)
                              : device.maxWorkGroupSize;
}

/// Planes that a work-item goes along: as the variant says, else as many as leave every unit some
/// groups, but enough to be worth filling a queue.
std::size_t slabFor(const Shape& shape, std::size_t slow, const std::array<int, 3>& local,
                    unsigned units, const Variant& variant) {
  const std::size_t planes = shape.size[slow];
  if (variant.depth > 0) return std::min(planes, static_cast<std::size_t>(variant.depth));
  std::size_t columns = 1;
  for (std::size_t a = 0; a < 3; ++a)
    if (a != slow) columns *= dividedUp(shape.size[a], static_cast<std::size_t>(local[a]));
  constexpr std::size_t kGroupsPerUnit = 8, kShortest = 16;
  const std::size_t slabs = dividedUp(kGroupsPerUnit * std::max(1u, units), columns);
  return std::min(planes, std::max(kShortest, dividedUp(planes, slabs)));
}

/// Work-items of a group of columns along each axis, as were fastest on an NVIDIA H200, unless the
/// variant says otherwise; no more along rows than there are ids.
std::array<std::size_t, 3> columnGroups(const Shape& shape, const ColumnsOptions& options,
                                        std::size_t most, const Variant& variant) {
  struct Group {
    std::size_t width, height;
  };
  const bool isPlane = shape.dims == 2;
  const Group usual = options.marches     ? Group{64, 4}
                      : options.lanes > 1 ? (isPlane ? Group{64, 2} : Group{32, 4})
                                          : (isPlane ? Group{128, 2} : Group{64, 2});
  std::array<std::size_t, 3> local{1, 1, 1};
  const auto across = static_cast<std::size_t>(options.order[0]);
  std::size_t& width = local[across];
  std::size_t& height = local[static_cast<std::size_t>(options.order[1])];
  const std::size_t row = dividedUp(shape.size[across], static_cast<std::size_t>(options.lanes));
  width = variant.width > 0 ? static_cast<std::size_t>(variant.width) : usual.width;
  while (variant.width == 0 && width > 8 && width / 2 >= row) width /= 2;
  width = std::min(width, most);
  height = std::clamp<std::size_t>(variant.height > 0 ? static_cast<std::size_t>(variant.height)
                                                      : usual.width * usual.height / width,
                                   1, std::max<std::size_t>(1, most / width));
  return local;
}

/// The kernel in columns as the variant says, else as the library thinks best; where it is not
/// written like that, as it is.
std::shared_ptr<const Columns> columnsFor(const LaunchRequest& request, const Shape& shape,
                                          const Variant& variant, ColumnsOptions& options) {
  options = columnsOf(request, shape, variant.lanes != 1);
  if (variant.lanes > 1) options.lanes = variant.lanes;
  if (variant.elements > 0) {
    options.elements = variant.elements;
    options.between = std::max(1, variant.jam);
    options.marches = variant.depth > 0;
  }
  // The program asked for this strategy.
  if (options.elements * options.between * options.lanes == 1) options.elements = 2;
  if (options.lanes == 1) options.marches = false;
  options.wholeRows = areWholeRows(request, options.lanes);
  const KernelVersion& version = *request.version;
  std::shared_ptr<const Columns> columns = version.rewritten->columns(version, options);
  if (!columns->kernel && options.marches) {
    options.marches = false;
    const strategies::ColumnShape still =
        strategies::columnShape(*version.kernel, version.access, options, false);
    options.elements = still.elements;
    options.between = still.between;
    columns = version.rewritten->columns(version, options);
  }
  if (!columns->kernel && options.lanes > 1) {
    if (variant.elements == 0) options = columnsOf(request, shape, false);
    options.lanes = 1;
    options.marches = options.wholeRows = false;
    options.elements = std::max(2, options.elements);
    columns = version.rewritten->columns(version, options);
  }
  return columns;
}

}  // namespace

Layout inTiles(const LaunchRequest& request, const Shape& shape, const Variant& variant,
               std::string& reason) {
  Layout result{nullptr, {}, shape, true, runtime::Strategy::Tile, 0};
  TileOptions options;
  options.dims = static_cast<int>(shape.dims);
  options.order = orderOf(shape);
  // On CPUs the default is one long row per group, which makes poor tiles.
  constexpr int kOnCpu[3][3] = {{64, 1, 1}, {16, 16, 1}, {16, 4, 4}};
  for (std::size_t a = 0; a < 3; ++a)
    options.local[a] = request.device->type() == CPU ? kOnCpu[options.dims - 1][a]
                                                     : static_cast<int>(shape.local[a]);
  if (variant.width > 0) options.local = {variant.width, std::max(1, variant.height), 1};
  options.perItem = variant.elements > 0 ? variant.elements : 4;
  options.localMemory = request.device->properties().localMemory;
  const std::shared_ptr<const Tiled> tiled =
      request.version->rewritten->tiled(*request.version, options);
  reason = tiled->reason;
  if (!tiled->kernel) return result;
  for (const Hidden& hidden : tiled->hidden)
    result.hidden.push_back(valueOf(hidden, request, shape, {1, 1, 1}));
  result.kernel = tiled->kernel;
  for (std::size_t a = 0; a < 3; ++a) {
    const auto local = static_cast<std::size_t>(options.local[a]);
    const std::size_t groups = dividedUp(shape.size[a], static_cast<std::size_t>(tiled->covers[a]));
    result.shape.local[a] = local;
    result.shape.global[a] = groups * local;
  }
  reason =
      "tile: " + reason +
      fmt::format(", groups of {} x {} x {}", options.local[0], options.local[1], options.local[2]);
  return result;
}

Layout inStreams(const LaunchRequest& request, const Shape& shape, const Variant& variant,
                 std::string& reason) {
  Layout result{nullptr, {}, shape, true, runtime::Strategy::Stream, 0};
  const DeviceProperties& device = request.device->properties();
  PlaneQueueOptions options;
  options.dims = static_cast<int>(shape.dims);
  options.order = orderOf(shape);
  options.localMemory = device.localMemory;
  const auto most = static_cast<int>(std::min<std::size_t>(mostItems(device, shape), 1024));
  const auto row = static_cast<std::size_t>(options.order[0]);
  const auto slow =
      static_cast<std::size_t>(options.order[static_cast<std::size_t>(options.dims - 1)]);
  if (options.dims == 3) {
    const auto middle = static_cast<std::size_t>(options.order[1]);
    options.local[row] = std::min(variant.width > 0 ? variant.width : 32, most);
    options.local[middle] =
        std::clamp(most / options.local[row], 1, variant.height > 0 ? variant.height : 8);
  } else if (options.dims == 2) {
    options.local[row] = std::min(variant.width > 0 ? variant.width : 128, most);
  }
  const std::shared_ptr<const PlaneQueue> queue =
      request.version->rewritten->streamed(*request.version, options);
  reason = queue->reason;
  if (!queue->kernel) return result;
  std::array<std::size_t, 3> block{1, 1, 1};
  block[slow] = slabFor(shape, slow, options.local, device.computeUnits, variant);
  for (const Hidden& hidden : queue->hidden)
    result.hidden.push_back(valueOf(hidden, request, shape, block));
  result.kernel = queue->kernel;
  for (std::size_t a = 0; a < 3; ++a) {
    const auto local = static_cast<std::size_t>(options.local[a]);
    result.shape.local[a] = local;
    result.shape.global[a] =
        a == slow ? dividedUp(shape.size[a], block[a]) : roundedUp(shape.size[a], local);
  }
  reason = "stream: " + reason +
           fmt::format(", groups of {} x {} x {}, slabs of {}", options.local[0], options.local[1],
                       options.local[2], block[slow]);
  return result;
}

Layout inColumns(const LaunchRequest& request, const Shape& shape, const Variant& variant,
                 std::string& reason) {
  Layout result{nullptr, {}, shape, true, runtime::Strategy::Columns, 0};
  ColumnsOptions options;
  const std::shared_ptr<const Columns> columns = columnsFor(request, shape, variant, options);
  reason = columns->reason;
  if (!columns->kernel) return result;
  const auto slow = static_cast<std::size_t>(options.order[shape.dims - 1]);
  const auto row = static_cast<std::size_t>(options.order[0]);
  std::array<std::size_t, 3> block{1, 1, 1};
  for (std::size_t a = 0; a < shape.dims; ++a)
    block[a] = static_cast<std::size_t>(a == slow  ? options.elements
                                        : a == row ? options.lanes
                                                   : options.between);
  if (options.marches)
    block[slow] = variant.depth > 0 ? static_cast<std::size_t>(variant.depth)
                                    : std::max<std::size_t>(1, marchOf(request, shape, options));
  for (const Hidden& hidden : columns->hidden)
    result.hidden.push_back(valueOf(hidden, request, shape, block));
  result.kernel = columns->kernel;
  result.registers = registersOf(request, options);
  result.distinctArrays = true;
  const std::array<std::size_t, 3> local =
      columnGroups(shape, options, mostItems(request.device->properties(), shape), variant);
  for (std::size_t a = 0; a < shape.dims; ++a) {
    // Vectors begin at multiples of their lanes.
    const std::size_t ids = shape.size[a] + (a == row ? shape.first[a] % block[a] : 0);
    result.shape.local[a] = local[a];
    result.shape.global[a] = roundedUp(dividedUp(ids, block[a]), local[a]);
  }
  reason =
      "columns: " + reason + fmt::format(", groups of {} x {} x {}", local[0], local[1], local[2]);
  if (options.marches) reason += fmt::format(", {} at a time", block[slow]);
  return result;
}

}  // namespace hpl::layout::detail
