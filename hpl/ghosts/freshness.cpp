// SPDX-License-Identifier: Apache-2.0
#include "hpl/ghosts/freshness.h"

#include <fmt/format.h>

#include <algorithm>

#include "hpl/error.h"
#include "hpl/memory/detail/exchange.h"
#include "hpl/memory/detail/trust.h"

namespace hpl::ghosts {

using geometry::Box;
using geometry::Extents;
using geometry::Region;
using memory::detail::Replica;
using memory::detail::setTrusted;
using memory::detail::trustedBox;

Reach reachOf(const ir::ArrayAccess& access, std::span<const int> dims) {
  const int rank = static_cast<int>(access.reads.size());
  Reach reach;
  if (rank == 0) return reach;
  reach.before = Extents::filled(rank, 0);
  reach.after = Extents::filled(rank, 0);
  for (const int dim : dims) {
    const ir::IndexForm& form = access.reads[static_cast<std::size_t>(dim)];
    if (!form.isAffine()) return reach;
    reach.before[dim] = std::max<std::int64_t>(0, -form.range.lo);
    reach.after[dim] = std::max<std::int64_t>(0, form.range.hi);
  }
  reach.known = true;
  return reach;
}

Reach rimOf(const ir::ArrayAccess& access, std::span<const int> dims) {
  const int rank = static_cast<int>(access.writes.size());
  Reach rim;
  if (rank == 0) return rim;
  rim.before = Extents::filled(rank, 0);
  rim.after = Extents::filled(rank, 0);
  const ir::Rim written = access.writeRim();
  for (const int dim : dims) {
    const ir::IndexForm& form = access.writes[static_cast<std::size_t>(dim)];
    if (!form.isAffine()) return rim;
    const auto axis = static_cast<std::size_t>(form.axis);
    if (!written.known[axis]) return rim;
    rim.before[dim] = written.before[axis];
    rim.after[dim] = written.after[axis];
  }
  rim.known = true;
  return rim;
}

namespace {

Box boxOf(const memory::detail::RootState& state) { return state.wholeBox(); }

// Null where the array is distributed otherwise at present: then nothing that the device has kept
// concerns the launch, which gets the owners' values.
Replica* replicaOf(const PartUse& use) {
  const auto* active = use.state->active.get();
  if (active == nullptr) return nullptr;
  const bool isPart = std::any_of(active->parts.begin(), active->parts.end(),
                                  [&](const auto& part) { return &part == use.part; });
  return isPart ? use.state->find(*use.part->device, false) : nullptr;
}

// The cells of the part whose values are right, as a box.
Box trustedOf(const PartUse& use) {
  const Replica* replica = replicaOf(use);
  return replica == nullptr ? use.part->full : trustedBox(*replica, *use.part);
}

// What is right of a part in any case, when nobody can tell what a launch did to its ghosts. A part
// without ghosts may be about to get some: none of its cells is sure to stay its own.
Box certainOf(const PartUse& use) {
  return memory::detail::Distribution::needsOwnBuffer(*use.part) ? use.part->core.boundingBox()
                                                                 : Box();
}

// A box without `before` and `after` cells of its ends, except where `whole` ends as well.
Box shrunk(const Box& box, const Extents& before, const Extents& after, const Box& whole) {
  Box result = box;
  for (int d = 0; d < box.rank(); ++d) {
    const geometry::Index lo = box.lo(d) + (box.lo(d) > whole.lo(d) ? before[d] : 0);
    const geometry::Index hi = box.hi(d) - (box.hi(d) < whole.hi(d) ? after[d] : 0);
    result = result.withRange(d, std::min(lo, box.hi(d)), std::max(std::min(lo, box.hi(d)), hi));
  }
  return result;
}

// The cells of `written`'s part that the kernel writes for certain.
Box writtenBox(const PartUse& written) {
  if (!written.rim.known) return certainOf(written);
  return shrunk(written.part->full, written.rim.before, written.rim.after, boxOf(*written.state));
}

// Cells of one array's part in the coordinates of another array that is split alike: the arrays may
// differ in what is not split. Rank 0 when they are not split alike.
Box carried(const Box& cells, const PartUse& from, const PartUse& to) {
  const Box& source = from.part->full;
  const Box& target = to.part->full;
  if (source == target) return cells;
  if (from.dim < 0 || to.dim < 0 || source.lo(from.dim) != target.lo(to.dim) ||
      source.hi(from.dim) != target.hi(to.dim)) {
    return {};
  }
  return target.withRange(to.dim, cells.lo(from.dim), cells.hi(from.dim));
}

// The cells of `written`'s part that come out right when `read` is right in `trusted`.
Box rightAfter(const PartUse& written, const PartUse& read, const Box& trusted) {
  if (!read.reach.known || trusted.rank() == 0) return certainOf(written);
  const Box right = shrunk(trusted, read.reach.before, read.reach.after, boxOf(*read.state));
  const Box there = carried(right, read, written);
  return there.rank() > 0 ? there : certainOf(written);
}

}  // namespace

void computeNeeds(std::span<PartUse> uses) {
  for (PartUse& read : uses) {
    if (!read.reads) continue;
    const Box& full = read.part->full;
    read.needed = full;
    if (!read.reach.known) continue;
    Box cores;
    bool aligned = true;
    for (const PartUse& written : uses) {
      if (!written.writes) continue;
      const Box core = carried(written.part->core.boundingBox(), written, read);
      aligned = aligned && core.rank() > 0;
      if (aligned) cores = hull(cores, core);
    }
    if (!aligned) continue;
    if (cores.rank() == 0) cores = read.part->core.boundingBox();
    read.needed = intersect(cores.grown(read.reach.before, read.reach.after), full);
  }
}

Region staleFor(const PartUse& use) {
  if (!use.reads) return {};
  const Replica* replica = replicaOf(use);
  if (replica == nullptr || !replica->own.kept.intersects(use.needed)) return {};
  Region stale = intersectionOf(replica->own.kept, Region(use.needed));
  const Box trusted = trustedBox(*replica, *use.part);
  if (trusted.rank() > 0 && use.reach.known) stale.subtract(trusted);
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

void noteTrust(std::span<std::vector<PartUse>> devices) {
  for (std::vector<PartUse>& uses : devices) {
    for (PartUse& use : uses) {
      if (use.reads) use.trusted = trustedOf(use);
    }
  }
}

void afterLaunch(std::span<const std::vector<PartUse>> devices) {
  for (const std::vector<PartUse>& uses : devices) {
    for (const PartUse& written : uses) {
      if (!written.writes) continue;
      Replica* replica = replicaOf(written);
      if (replica == nullptr) continue;
      Box right = writtenBox(written);
      int launches = 0;
      for (const PartUse& read : uses) {
        if (!read.reads) continue;
        const Box there = rightAfter(written, read, read.trusted);
        right = right.rank() > 0 && there.rank() > 0 ? intersect(right, there) : Box();
        const Replica* source = replicaOf(read);
        if (source != nullptr) launches = std::max(launches, source->launchesSinceRefresh);
      }
      setTrusted(*replica, *written.part, right);
      replica->launchesSinceRefresh = launches + 1;
    }
  }
}

}  // namespace hpl::ghosts
