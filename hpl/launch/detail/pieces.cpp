// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "hpl/launch/detail/shares.h"
#include "hpl/runtime/settings.h"

namespace hpl::launch {
namespace {

using geometry::Index;
using geometry::Interval;

/// The dimension that all annotations split, and the axis that walks through it.
struct SplitAxis {
  int dim = -1;
  int axis = -1;
};

/// Whether work-items may run in any order and in several launches: nothing ties them together.
bool mayBeCut(const ShareJob& job) {
  const ir::AccessSummary& summary = job.version->access;
  return !job.version->native && !summary.usesLocalIdOrGroup && !summary.sharesWithinGroups() &&
         !summary.usesAtomics && !runtime::settings().checkBounds && job.options.global.dims == 0 &&
         (!job.options.shares ||
          (job.options.shares->global.empty() && job.options.shares->local.empty()));
}

bool isOwn(const ir::IndexForm& form) {
  return form.isAffine() && form.range.lo == 0 && form.range.hi == 0;
}

/// The one axis along which every written array is written, and read if at all, at the work-item's
/// own index; axis -1 when there is none.
SplitAxis splitAxis(const ShareJob& job) {
  SplitAxis split;
  for (std::size_t i = 0; i < job.arguments.size(); ++i) {
    const Annotation& annotation = job.arguments[i].annotation();
    if (annotation.count == 0) continue;
    if (annotation.count > 1 || (split.dim >= 0 && annotation.dims[0].dim != split.dim)) return {};
    split.dim = annotation.dims[0].dim;
  }
  for (std::size_t i = 0; i < job.arguments.size(); ++i) {
    const ir::ArrayAccess* access = job.version->params[i].access;
    if (access == nullptr || !access->written || job.arguments[i].annotation().count == 0) continue;
    const auto dim = static_cast<std::size_t>(split.dim);
    if (!isOwn(access->writes[dim])) return {};
    if (!access->reads.empty() && !(access->reads[dim] == access->writes[dim])) return {};
    if (split.axis >= 0 && access->writes[dim].axis != split.axis) return {};
    split.axis = access->writes[dim].axis;
  }
  return split;
}

/// Whether transfers run beside kernels there. On a CPU they do, too, but take a core from the
/// kernel, and two more launches cost more than that gains (perf/distributed_bench: 3 to 7 %).
bool runsTransfersBeside(const runtime::DeviceState& device) { return device.type() != CPU; }

}  // namespace

std::vector<Interval> piecesOf(const ShareJob& job, const std::vector<Cut>& cuts,
                               std::size_t device, int& axis) {
  const runtime::Overlap wish = runtime::settings().overlap;
  if (wish == runtime::Overlap::Off || !mayBeCut(job)) return {};
  const SplitAxis split = splitAxis(job);
  if (split.axis < 0) return {};
  axis = split.axis;
  Index low = 0;
  Index high = 0;
  Index rows = -1;
  Index cells = 0;
  for (std::size_t i = 0; i < job.arguments.size(); ++i) {
    if (cuts[i].empty()) continue;
    const geometry::Part& part = cuts[i][device];
    const Index extent = part.full.extent(split.dim);
    // The domain must be the part, for every annotated array alike.
    if (rows >= 0 && extent != rows) return {};
    rows = extent;
    const DimAnnotation& dim = job.arguments[i].annotation().dims[0];
    const Index ghostsBelow = part.core.lo(split.dim) - part.full.lo(split.dim);
    const Index ghostsAbove = part.full.hi(split.dim) - part.core.hi(split.dim);
    // Our ghosts, and the core cells that are the neighbour's ghosts.
    if (ghostsBelow > 0) low = std::max(low, ghostsBelow + dim.after);
    if (ghostsAbove > 0) high = std::max(high, ghostsAbove + dim.before);
    cells = std::max(cells, part.full.volume());
  }
  const geometry::Extents* first = nullptr;
  for (std::size_t i = 0; i < job.arguments.size() && first == nullptr; ++i)
    if (job.arguments[i].kind == Argument::Kind::Array)
      first = cuts[i].empty() ? &job.arguments[i].view->extents : nullptr;
  if (first != nullptr || low + high == 0 || rows <= low + high) return {};
  constexpr Index kWorthIt = Index{1} << 16;
  const bool pays = runsTransfersBeside(*job.devices[device]) && cells >= kWorthIt &&
                    rows - low - high >= 4 * (low + high);
  if (wish == runtime::Overlap::Auto && !pays) return {};
  std::vector<Interval> pieces;
  if (low > 0) pieces.push_back({0, low});
  if (high > 0) pieces.push_back({rows - high, rows});
  pieces.push_back({low, rows - high});
  return pieces;
}

}  // namespace hpl::launch
