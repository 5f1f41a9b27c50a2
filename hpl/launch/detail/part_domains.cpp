// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "hpl/error.h"
#include "hpl/launch/detail/shares.h"

namespace hpl::launch {
namespace {

using geometry::Index;

/// A split dimension of an annotated array, and the axis of the domain that walks through it.
struct Walk {
  std::size_t argument;
  int dim;
  /// Then all parts have neighbours on both sides.
  bool isPeriodic;
  int axis;
  /// By the kernel's accesses; else by the order of axes alone.
  bool isProven;
};

/// How an axis of the domain is shared out: like the parts of an array, whose extent it may fall
/// short of by `missing`.
struct AxisShare {
  const Walk* like = nullptr;
  Index missing = 0;
};

Index extentOf(const ShareJob& job, const Walk& walk) {
  return job.arguments[walk.argument].view->extents[walk.dim];
}

Index sizeOf(const ShareJob& job, int axis) {
  return static_cast<Index>(job.options.global.size[axis]);
}

[[noreturn]] void refuse(const ShareJob& job, const Walk& walk, const std::string& reason) {
  throw LaunchError(fmt::format(
      "kernel '{}': the global domain cannot be shared out over {} devices: argument {} ({}), "
      "which is split along dimension {}, has {} cells there, and {}; leave .global(...) out (each "
      "device runs its part's own shape), or give each device its own domain, "
      ".global(std::vector<Domain>{{...}})",
      job.version->name, job.devices.size(), walk.argument + 1,
      job.arguments[walk.argument].view->root().describe(), walk.dim + 1, extentOf(job, walk),
      reason));
}

std::vector<Walk> walksOf(const ShareJob& job) {
  std::vector<Walk> walks;
  for (std::size_t i = 0; i < job.arguments.size(); ++i) {
    const Argument& argument = job.arguments[i];
    const ir::ArrayAccess* access = job.version->params[i].access;
    for (int k = 0; k < argument.annotation().count; ++k) {
      const int dim = argument.annotation().dims[k].dim;
      const int proven = access != nullptr ? axisThrough(*access, dim) : -1;
      const bool isPeriodic = argument.annotation().dims[k].wrapping == PERIODIC;
      walks.push_back(
          {i, dim, isPeriodic, proven >= 0 ? proven : argument.rank - 1 - dim, proven >= 0});
    }
  }
  return walks;
}

/// The cells along a dimension of a part, counted from its first one, that it computes as owner.
struct Core {
  Index lo;
  Index hi;
  bool isFirst;
  bool isLast;
};

Core coreOf(const geometry::Part& part, const Walk& walk, const geometry::Box& whole) {
  const int dim = walk.dim;
  return {part.core.lo(dim) - part.full.lo(dim), part.core.hi(dim) - part.full.lo(dim),
          !walk.isPeriodic && part.core.lo(dim) == whole.lo(dim),
          !walk.isPeriodic && part.core.hi(dim) == whole.hi(dim)};
}

/// A domain smaller than the arrays leaves cells at their ends alone. Each part's domain falls
/// short of the part by as much, so that the cells at its inner borders must be ghosts, which the
/// neighbours compute.
void checkCovered(const ShareJob& job, const std::vector<Cut>& cuts, const Walk& walk,
                  const AxisShare& share) {
  const ir::ArrayAccess& access = *job.version->params[walk.argument].access;
  if (!access.written) return;
  const ir::IndexForm& form = access.writes[static_cast<std::size_t>(walk.dim)];
  const std::string size =
      fmt::format("the domain has {} along {}", sizeOf(job, walk.axis), axisName(walk.axis));
  if (!form.isAffine() || !form.isExact())
    refuse(job, walk, size + ", while the kernel writes several cells per work-item");
  const Index offset = form.range.lo;
  const geometry::Box& whole = job.arguments[walk.argument].view->box();
  for (std::size_t d = 0; d < job.devices.size(); ++d) {
    if (cuts[walk.argument][d].full.empty()) continue;
    const Core core = coreOf(cuts[walk.argument][d], walk, whole);
    const Index items = cuts[share.like->argument][d].full.extent(share.like->dim) - share.missing;
    const bool below = core.isFirst || offset <= core.lo;
    const bool above = core.isLast || items + offset >= core.hi;
    if (items < 1 || !below || !above)
      refuse(job, walk,
             size + fmt::format(", so that no work-item would compute some cells at the borders "
                                "between devices (device {}); ghosts of {} cells would cover them",
                                d, std::max(offset, share.missing - offset)));
  }
}

/// The first array that has exactly as many cells as the domain, one that the kernel certainly
/// walks through before others.
const Walk* sameSize(const ShareJob& job, const std::vector<Walk>& walks, int axis, bool isProven) {
  for (const Walk& walk : walks)
    if (walk.axis == axis && walk.isProven == isProven && extentOf(job, walk) == sizeOf(job, axis))
      return &walk;
  return nullptr;
}

AxisShare shareOf(const ShareJob& job, const std::vector<Cut>& cuts, const std::vector<Walk>& walks,
                  int axis) {
  if (const Walk* walk = sameSize(job, walks, axis, true)) return {walk, 0};
  const Walk* first = nullptr;
  for (const Walk& walk : walks)
    if (walk.axis == axis && walk.isProven && first == nullptr) first = &walk;
  if (first == nullptr) {
    if (const Walk* walk = sameSize(job, walks, axis, false)) return {walk, 0};
    for (const Walk& walk : walks)
      if (walk.axis == axis)
        refuse(job, walk,
               fmt::format("the domain has {} along {}", sizeOf(job, axis), axisName(axis)));
    return {};
  }
  const AxisShare share{first, extentOf(job, *first) - sizeOf(job, axis)};
  for (const Walk& walk : walks) {
    if (walk.axis != axis || !walk.isProven) continue;
    if (share.missing < 0 || extentOf(job, walk) != extentOf(job, *first))
      refuse(job, walk,
             fmt::format("the domain has {} along {}", sizeOf(job, axis), axisName(axis)));
    checkCovered(job, cuts, walk, share);
  }
  return share;
}

}  // namespace

std::vector<Domain> partDomains(const ShareJob& job, const std::vector<Cut>& cuts) {
  const Domain& whole = job.options.global;
  const bool isGiven = job.options.shares && !job.options.shares->global.empty();
  if (whole.dims == 0 || isGiven || job.devices.size() < 2 || !job.anyAnnotated()) return {};
  const std::vector<Walk> walks = walksOf(job);
  for (const Walk& walk : walks)
    if (walk.axis >= whole.dims)
      refuse(job, walk,
             fmt::format("no axis of the domain, which has {} dimension{}, walks through them",
                         whole.dims, whole.dims == 1 ? "" : "s"));
  std::vector<Domain> domains(job.devices.size(), whole);
  for (int axis = 0; axis < whole.dims; ++axis) {
    const AxisShare share = shareOf(job, cuts, walks, axis);
    if (share.like == nullptr) continue;
    for (std::size_t d = 0; d < domains.size(); ++d) {
      const geometry::Box& full = cuts[share.like->argument][d].full;
      // Parts without cells have no work, whatever their domain.
      domains[d].size[axis] =
          full.empty() ? 1 : static_cast<std::size_t>(full.extent(share.like->dim) - share.missing);
    }
  }
  return domains;
}

}  // namespace hpl::launch
