// SPDX-License-Identifier: Apache-2.0
#include "hpl/layout/heuristic_choice.h"

#include <algorithm>

#include "hpl/layout/rewritten_kernels.h"
#include "hpl/memory/root.h"
#include "hpl/runtime/device_state.h"
#include "hpl/strategies/columns.h"

namespace hpl::layout {
namespace {

/// Going along the slowest axis is worth its bookkeeping: a star at least, whose values each serve
/// three planes, in a domain that gives every unit several groups with slabs of some length.
bool isSolid(const LaunchRequest& request, const Shape& shape) {
  constexpr int kPlanes = 3;
  // Cells: of a group of 256 with a slab of 16.
  constexpr std::size_t kReads = 7, kCells = 4096, kGroups = 4;
  if (request.device->type() != GPU || shape.dims != 3) return false;
  const ir::AccessSummary& access = request.version->access;
  const std::size_t cells = shape.size[0] * shape.size[1] * shape.size[2];
  return strategies::planesRead(access, orderOf(shape)[2]) >= kPlanes &&
         strategies::distinctReads(access) >= kReads &&
         cells / kCells >= kGroups * std::max(1u, request.device->properties().computeUnits);
}

}  // namespace

namespace {

/// Neighbours in a vector, such that a work-item moves 16 bytes of the widest elements at once; 1
/// where rows do not begin at multiples of that, or are short.
int columnLanes(const LaunchRequest& request, const Shape& shape, const std::array<int, 3>& order) {
  const auto row = static_cast<std::size_t>(order[0]);
  constexpr std::size_t kVector = 16, kShortest = 32;
  const int lanes =
      static_cast<int>(kVector / static_cast<std::size_t>(widestElement(*request.version)));
  const auto isWhole = [lanes](std::int64_t place) { return place % lanes == 0; };
  if (shape.size[row] < kShortest * static_cast<std::size_t>(lanes)) return 1;
  // The replicas of a share may begin anywhere in a row, unless it has whole rows.
  if (shape.size[row] != shape.whole[row]) return 1;
  for (const Argument& argument : request.arguments) {
    if (argument.kind != Argument::Kind::Array) continue;
    const geometry::Box& box = argument.view->box();
    const int last = box.rank() - 1;
    if (argument.mapped() != nullptr || !isWhole(box.lo(last)) ||
        !isWhole(argument.view->root().whole().extents[last]))
      return 1;
  }
  return lanes;
}

}  // namespace

bool areWholeRows(const LaunchRequest& request, int lanes) {
  return std::all_of(request.arguments.begin(), request.arguments.end(), [&](const Argument& a) {
    if (a.kind != Argument::Kind::Array) return true;
    const geometry::Extents& extents = a.view->extents;
    return extents[extents.rank() - 1] % lanes == 0;
  });
}

strategies::ColumnsOptions columnsOf(const LaunchRequest& request, const Shape& shape,
                                     bool inVectors) {
  strategies::ColumnsOptions options;
  options.dims = static_cast<int>(shape.dims);
  options.order = orderOf(shape);
  options.exact = request.fp == STRICT;
  options.elements = 1;
  for (std::size_t a = 0; a < 3; ++a) options.size[a] = shape.whole[a];
  if (shape.dims < 2) return options;
  const KernelVersion& version = *request.version;
  if (inVectors) options.lanes = columnLanes(request, shape, options.order);
  const strategies::ColumnShape found =
      strategies::columnShape(*version.kernel, version.access, options);
  if (found.elements == 0) {
    options.lanes = 1;
    return options;
  }
  options.elements = found.elements;
  options.between = found.between;
  options.marches = found.marches && marchOf(request, shape, options) > 0;
  if (options.marches) return options;
  if (found.marches) {
    const strategies::ColumnShape still =
        strategies::columnShape(*version.kernel, version.access, options, false);
    options.elements = still.elements;
    options.between = still.between;
  }
  if (runtime::settings().strategy == runtime::Strategy::Columns) return options;
  // All units need work-items enough to wait for memory.
  constexpr std::size_t kItemsOfUnit = 2048;
  const std::size_t items = shape.size[0] * shape.size[1] * shape.size[2];
  const std::size_t enough = kItemsOfUnit * std::max(1u, request.device->properties().computeUnits);
  const auto areFew = [&] {
    return items / static_cast<std::size_t>(options.elements * options.between * options.lanes) <
           enough;
  };
  while (options.between > 1 && areFew()) options.between /= 2;
  while (options.elements > 1 && areFew()) options.elements /= 2;
  return options.lanes > 1 && areFew() ? columnsOf(request, shape, false) : options;
}

std::size_t marchOf(const LaunchRequest& request, const Shape& shape,
                    const strategies::ColumnsOptions& options) {
  // As was fastest on an NVIDIA H200: work-items that compute several rows have more to gain from
  // each plane that they keep. And every unit needs as many of them as it holds.
  constexpr std::size_t kItemsOfUnit = 1536, kLongest = 64, kUsual = 16, kShortest = 8;
  const std::size_t items = shape.size[0] * shape.size[1] * shape.size[2] /
                            static_cast<std::size_t>(options.between * options.lanes);
  const std::size_t enough = kItemsOfUnit * std::max(1u, request.device->properties().computeUnits);
  std::size_t planes = options.between > 1 ? kLongest : kUsual;
  while (planes >= kShortest && items / planes < enough) planes /= 2;
  if (planes >= kShortest) return planes;
  return runtime::settings().strategy == runtime::Strategy::Columns ? kShortest : 0;
}

int registersOf(const LaunchRequest& request, const strategies::ColumnsOptions& options) {
  const KernelVersion& version = *request.version;
  const strategies::ColumnShape usual =
      strategies::columnShape(*version.kernel, version.access, options, options.marches);
  const bool isUsual = usual.marches == options.marches && usual.between == options.between &&
                       (usual.marches || usual.elements == options.elements);
  return isUsual ? usual.registers : 0;
}

bool paysColumns(const LaunchRequest& request, const Shape& shape) {
  if (request.device->type() == CPU || shape.dims < 2) return false;
  const strategies::ColumnsOptions options = columnsOf(request, shape);
  return options.marches || options.elements * options.between * options.lanes > 1;
}

HeuristicChoice heuristicChoice(const LaunchRequest& request, const Shape& shape,
                                const std::vector<runtime::Strategy>& refused) {
  using runtime::Strategy;
  const Strategy asked = runtime::settings().strategy;
  if (asked != Strategy::Auto) return {asked, {}};
  const KernelVersion& version = *request.version;
  const auto may = [&](Strategy strategy) {
    return std::find(refused.begin(), refused.end(), strategy) == refused.end();
  };
  if (request.device->type() == CPU) {
    const strategies::Pointwise& pointwise = version.rewritten->pointwise(version);
    // Those with barriers, too, are computed group by group.
    if (version.access.sharesWithinGroups()) return {Strategy::Rows, {}};
    // Among kernels with atomics only those that count, for which rows gain most.
    if (!pointwise.isPointwise || version.access.usesAtomics) return {Strategy::Rows, {}};
    const strategies::PointwiseChoice choice =
        pointwiseChoice(pointwise, shape, leavesCaches(request, shape));
    return {choice.inRows ? Strategy::Rows : Strategy::Direct, choice.reason};
  }
  if (may(Strategy::Columns) && paysColumns(request, shape)) return {Strategy::Columns, {}};
  if (may(Strategy::Stream) && isSolid(request, shape)) return {Strategy::Stream, {}};
  // The caches of GPUs serve small neighbourhoods as well as local memory does.
  constexpr std::size_t kManyReads = 16;
  if (strategies::distinctReads(version.access) >= kManyReads) return {Strategy::Tile, {}};
  return {Strategy::Direct, "its work-items share few reads, which caches serve"};
}

strategies::PointwiseChoice pointwiseChoice(const strategies::Pointwise& kernel, const Shape& shape,
                                            bool leavesCaches) {
  const double workItems = static_cast<double>(shape.size[0]) * static_cast<double>(shape.size[1]) *
                           static_cast<double>(shape.size[2]);
  return strategies::choosePointwise(kernel, workItems, shape.guardDims > 0, leavesCaches);
}

bool leavesCaches(const LaunchRequest& request, const Shape& shape) {
  const std::size_t cache = request.device->properties().cache;
  double bytes = 0;
  for (std::size_t i = 0; i < request.arguments.size(); ++i) {
    if (request.arguments[i].kind != Argument::Kind::Array) continue;
    const geometry::Extents& extents = request.arguments[i].view->extents;
    double own = static_cast<double>(ir::sizeOf(request.version->params[i].type));
    for (int d = 0; d < extents.rank(); ++d) own *= static_cast<double>(extents[d]);
    bytes += own;
  }
  // A part of the domain gets only its share.
  for (std::size_t a = 0; a < 3; ++a)
    if (shape.whole[a] > 0)
      bytes *= static_cast<double>(shape.size[a]) / static_cast<double>(shape.whole[a]);
  return cache > 0 && bytes > static_cast<double>(cache);
}

int widestElement(const KernelVersion& version) {
  bool isWide = version.access.needsDouble;
  for (const Parameter& parameter : version.params)
    if (parameter.isBuffer()) isWide = isWide || ir::sizeOf(parameter.type.scalar) >= 8;
  return isWide ? 8 : 4;
}

}  // namespace hpl::layout
