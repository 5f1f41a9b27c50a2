// SPDX-License-Identifier: Apache-2.0
#include "hpl/layout/heuristic_choice.h"

#include <algorithm>

#include "hpl/layout/rewritten_kernels.h"
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

int columnElements(const LaunchRequest& request, const Shape& shape) {
  if (request.device->type() == CPU || shape.dims < 2) return 1;
  constexpr std::size_t kItemsOfUnit = 2048;
  const KernelVersion& version = *request.version;
  const std::size_t items = shape.size[0] * shape.size[1] * shape.size[2];
  const std::size_t enough = kItemsOfUnit * std::max(1u, request.device->properties().computeUnits);
  int elements = strategies::columnElements(*version.kernel, version.access);
  while (elements > 1 && items / static_cast<std::size_t>(elements) < enough) elements /= 2;
  return elements;
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
    // Of kernels with atomics only those that count, which rows are worth most.
    if (!pointwise.isPointwise || version.access.usesAtomics) return {Strategy::Rows, {}};
    const strategies::PointwiseChoice choice =
        pointwiseChoice(pointwise, shape, leavesCaches(request, shape));
    return {choice.inRows ? Strategy::Rows : Strategy::Direct, choice.reason};
  }
  if (may(Strategy::Columns) && columnElements(request, shape) > 1) return {Strategy::Columns, {}};
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
  // Of a part of the domain only its share.
  for (std::size_t a = 0; a < 3; ++a)
    if (shape.whole[a] > 0)
      bytes *= static_cast<double>(shape.size[a]) / static_cast<double>(shape.whole[a]);
  return cache > 0 && bytes > static_cast<double>(cache);
}

}  // namespace hpl::layout
