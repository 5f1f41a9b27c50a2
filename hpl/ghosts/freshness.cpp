// SPDX-License-Identifier: Apache-2.0
#include "hpl/ghosts/freshness.h"

#include <fmt/format.h>

#include <algorithm>

#include "hpl/error.h"
#include "hpl/ghosts/detail/parts_of_launch.h"
#include "hpl/memory/detail/exchange.h"
#include "hpl/memory/detail/trust.h"

namespace hpl::ghosts {

using detail::mapped;
using detail::replicaOf;
using geometry::Box;
using geometry::Extents;
using geometry::Region;
using memory::detail::Replica;

namespace {

Reach noReach(int rank) { return {false, Extents::filled(rank, 0), Extents::filled(rank, 0)}; }

// Whether each of `dims` is indexed by one axis plus constants; the axes, if so.
bool findAxes(const std::vector<ir::IndexForm>& forms, std::span<const int> dims,
              std::array<int, 3>& dimOf) {
  dimOf = {-1, -1, -1};
  for (const int dim : dims) {
    const ir::IndexForm& form = forms[static_cast<std::size_t>(dim)];
    if (!form.isAffine()) return false;
    int& ofAxis = dimOf[static_cast<std::size_t>(form.axis)];
    if (ofAxis >= 0) return false;
    ofAxis = dim;
  }
  return true;
}

}  // namespace

void noteAccess(PartUse& use, const ir::ArrayAccess& access, std::span<const int> dims) {
  const int rank = access.array->rank;
  use.reach = use.writers = noReach(rank);
  std::array<int, 3> reads{}, writes{};
  use.writers.known = !access.writes.empty() && findAxes(access.writes, dims, writes);
  use.reach.known = !access.reads.empty() && findAxes(access.reads, dims, reads) &&
                    !(use.writers.known && writes != reads);
  use.dimOf = use.writers.known ? writes : use.reach.known ? reads : use.dimOf;
  for (const int dim : dims) {
    const auto d = static_cast<std::size_t>(dim);
    if (use.reach.known) {
      use.reach.before[dim] = std::max<std::int64_t>(0, -access.reads[d].range.lo);
      use.reach.after[dim] = std::max<std::int64_t>(0, access.reads[d].range.hi);
    }
    if (use.writers.known) {
      use.writers.before[dim] = std::max<std::int64_t>(0, access.writes[d].range.hi);
      use.writers.after[dim] = std::max<std::int64_t>(0, -access.writes[d].range.lo);
    }
  }
}

namespace {

// Dimension d is written along axis rank - 1 - d, at the work-item's own index.
bool writesOwnCells(const ir::ArrayAccess& access) {
  const int rank = static_cast<int>(access.writes.size());
  for (int d = 0; d < rank; ++d) {
    const ir::IndexForm& form = access.writes[static_cast<std::size_t>(d)];
    if (!(form == ir::IndexForm::affine(rank - 1 - d, 0, 0))) return false;
  }
  return rank > 0 && !access.atomics;
}

Reach margins(int rank, const std::array<std::int64_t, 3>& before,
              const std::array<std::int64_t, 3>& after) {
  Reach result = noReach(rank);
  result.known = true;
  for (int d = 0; d < rank; ++d) {
    const auto axis = static_cast<std::size_t>(rank - 1 - d);
    result.before[d] = before[axis];
    result.after[d] = after[axis];
  }
  return result;
}

}  // namespace

Outcome outcomeOf(const ir::PartSummary& summary, int parameter) {
  Outcome outcome;
  const ir::ArrayAccess* access = summary.access.find(parameter);
  if (access == nullptr || !writesOwnCells(*access)) return outcome;
  outcome.known = summary.sameEverywhere[static_cast<std::size_t>(parameter)];
  const int rank = access->array->rank;
  const ir::Rim rim = access->writeRim();
  const ir::Rim bounds = access->writeBounds();
  outcome.alike = margins(rank, summary.before, summary.after);
  outcome.written = margins(rank, rim.before, rim.after);
  for (int d = 0; d < rank; ++d)
    outcome.written.known =
        outcome.written.known && rim.known[static_cast<std::size_t>(rank - 1 - d)];
  outcome.left = margins(rank, bounds.before, bounds.after);
  return outcome;
}

Replica* detail::replicaOf(const PartUse& use) {
  const auto* active = use.state->active.get();
  if (active == nullptr) return nullptr;
  const bool isPart = std::any_of(active->parts.begin(), active->parts.end(),
                                  [&](const auto& part) { return &part == use.part; });
  return isPart ? use.state->find(*use.part->device, false) : nullptr;
}

Box detail::mapped(const Box& cells, const PartUse& from, const PartUse& to) {
  const Box& source = from.part->full;
  const Box& target = to.part->full;
  Box result = target;
  for (std::size_t axis = 0; axis < from.dimOf.size(); ++axis) {
    const int f = from.dimOf[axis], t = to.dimOf[axis];
    if (f < 0 && t < 0) continue;
    if (f < 0 || t < 0 || source.lo(f) != target.lo(t) || source.hi(f) != target.hi(t)) return {};
    result = result.withRange(t, cells.lo(f), cells.hi(f));
  }
  return source == target && from.dimOf == to.dimOf ? cells : result;
}

void computeNeeds(std::span<PartUse> uses) {
  for (PartUse& read : uses) {
    if (!read.reads) continue;
    const Box& full = read.part->full;
    read.needed = full;
    if (!read.reach.known) continue;
    Box ids;
    bool aligned = true;
    for (const PartUse& written : uses) {
      if (!written.writes) continue;
      const Box core = written.part->core.boundingBox();
      const Box writers = core.grown(written.writers.before, written.writers.after);
      const Box there = written.writers.known ? mapped(writers, written, read) : Box();
      aligned = aligned && there.rank() > 0;
      if (aligned) ids = hull(ids, there);
    }
    if (!aligned) continue;
    if (ids.rank() == 0) ids = read.part->core.boundingBox();
    read.needed = intersect(ids.grown(read.reach.before, read.reach.after), full);
  }
}

Region staleFor(const PartUse& use) {
  if (!use.reads) return {};
  const Replica* replica = replicaOf(use);
  if (replica == nullptr || !replica->own.kept.intersects(use.needed)) return {};
  Region stale = intersectionOf(replica->own.kept, Region(use.needed));
  if (!use.reach.known) return stale;
  const Region* trusted = memory::detail::trustOf(*replica, *use.part);
  if (trusted == nullptr) return {};
  // Piece by piece, which allocates nothing as long as one box is left.
  for (const Box& box : *trusted) stale.subtract(box);
  return stale;
}

namespace {

[[noreturn]] void throwStale(const PartUse& use, const Region& stale, const std::string& kernel) {
  const memory::Root& root = use.state->root;
  const int launches = replicaOf(use)->launchesSinceRefresh;
  const std::string cells = stale.boundingBox().toString();
  throw StaleGhostError(
      fmt::format("kernel '{}' would compute core cells of part {} (device {}) from ghost cells {} "
                  "of {} that are out of date: {} launch{} wrote the part since its ghosts were "
                  "last brought up to date; call syncGhosts() before, annotate the array with "
                  "AUTO_SYNC, or give it wider ghosts",
                  kernel, use.number, use.part->device->name(), cells, root.describe(), launches,
                  launches == 1 ? "" : "es"),
      root.label(), use.number, cells, launches);
}

}  // namespace

void beforeLaunch(memory::detail::Lock& lock, std::span<const std::vector<PartUse>> devices,
                  bool check, const std::string& kernel) {
  for (const std::vector<PartUse>& uses : devices) {
    for (const PartUse& use : uses) {
      if (!use.refresh && !check) continue;
      const Region stale = staleFor(use);
      if (stale.empty()) continue;
      if (!use.refresh) throwStale(use, stale, kernel);
      memory::detail::refreshGhosts(lock, *use.state);
    }
  }
}

}  // namespace hpl::ghosts
