// SPDX-License-Identifier: Apache-2.0
#include "model.h"

#include <algorithm>

namespace ghosts_model {

namespace {

constexpr std::uint64_t kCellBytes = sizeof(int);

}  // namespace

Bytes Model::moved;

Model::Model(const Machine& machine, int height, int width)
    : machine_(machine), height_(height), width_(width) {
  const auto cells = static_cast<std::size_t>(height) * static_cast<std::size_t>(width);
  const auto devices = static_cast<std::size_t>(machine.devices);
  values_.resize(cells);
  current_.assign(devices + 1, std::vector<char>(cells, 0));
  devices_.resize(devices);
  for (Device& device : devices_) {
    device.kept.assign(cells, 0);
    device.keptValue.assign(cells, 0);
    device.trusted.assign(cells, 0);
  }
}

bool Model::hasOwn(int device) const {
  return std::find(order_.begin(), order_.end(), device) != order_.end();
}

bool Model::allCurrent(int space, const Rect& r) const {
  bool all = true;
  const auto& current = current_[static_cast<std::size_t>(space)];
  forEachCell(r, [&](int y, int x) { all = all && current[at(y, x)]; });
  return all;
}

int Model::spaceOf(int device, bool ownBuffer) const {
  return machine_.sharesHostMemory && !ownBuffer ? 0 : 1 + device;
}

// ---- moving cells ----------------------------------------------------------------------------

// A device of the same context, the host, any device; -1: the cell was never written. Copies that
// are under way are no sources.
int Model::sourceOf(int space, std::size_t cell) const {
  int other = -1;
  for (int s = machine_.devices; s > 0; --s)
    if (s != space && before_[static_cast<std::size_t>(s)][cell]) other = s;
  if (space != 0 && machine_.oneContext && other > 0) return other;
  return space != 0 && before_[0][cell] ? 0 : other;
}

void Model::bringTo(int space, const Rect& r, bool acceptKept) {
  auto& current = current_[static_cast<std::size_t>(space)];
  forEachCell(r, [&](int y, int x) {
    const std::size_t cell = at(y, x);
    // A part goes on with its own value, though another reader may have got the owner's there.
    if (space > 0 && acceptKept && keeps(space - 1, y, x)) return;
    if (current[cell]) return;
    const int source = sourceOf(space, cell);
    if (source < 0) return;
    (space == 0 ? moved.down : source == 0 ? moved.up : moved.across) += kCellBytes;
    current[cell] = 1;
  });
}

void Model::place(int device, bool ownBuffer) {
  if (spaceOf(device, ownBuffer) == 0 || hasOwn(device)) return;
  order_.push_back(device);
}

// ---- the host --------------------------------------------------------------------------------

void Model::writeAll(int space, const Rect& r) {
  if (r == whole() && !views_.parts.empty()) views_.ended = true;
  forEachCell(r, [&](int y, int x) {
    for (std::size_t s = 0; s < current_.size(); ++s)
      current_[s][at(y, x)] = static_cast<int>(s) == space;
    for (Device& device : devices_) device.kept[at(y, x)] = 0;
  });
}

void Model::hostWrite(const Rect& r, bool discardOld) {
  if (!discardOld) hostRead(r);
  writeAll(0, r);
}

int Model::homeOf(const Rect& r) const {
  if (allCurrent(0, r)) return -1;
  for (int device = 0; device < machine_.devices; ++device)
    if (allCurrent(1 + device, r)) return device;
  return -1;
}

void Model::fill(const Rect& r, int value) {
  const int home = homeOf(r);
  if (home >= 0) place(home, false);
  writeAll(home < 0 ? 0 : spaceOf(home, false), r);
  forEachCell(r, [&](int y, int x) { set(y, x, value); });
}

// The rule of hpl/memory/contents.h: where both live; where the destination lives; where the
// source lives; on the host. Each cell comes from the nearest space.
void Model::copy(Model& dst, const Rect& dstRect, Model& src, const Rect& srcRect) {
  std::vector<int> values;
  forEachCell(srcRect, [&](int y, int x) { values.push_back(src.value(y, x)); });
  int both = -1;
  int holder = -1;
  for (int device = 0; device < src.machine_.devices && both < 0; ++device) {
    if (!src.allCurrent(1 + device, srcRect)) continue;
    if (dst.allCurrent(1 + device, dstRect)) both = device;
    if (holder < 0) holder = device;
  }
  const int home = dst.homeOf(dstRect);
  const int device = both >= 0 ? both : home >= 0 ? home : holder;
  const int site = device < 0 ? 0 : dst.spaceOf(device, false);
  if (site > 0) dst.place(device, false);
  src.snapshot();
  forEachCell(srcRect, [&](int y, int x) {
    const std::size_t cell = src.at(y, x);
    const bool isThere = src.current_[static_cast<std::size_t>(site)][cell] != 0;
    const int source = isThere ? site : src.sourceOf(site, cell);
    if (site == 0 && source == 0) return;
    (site == 0 ? moved.down : source == 0 ? moved.up : moved.across) += kCellBytes;
  });
  dst.writeAll(site, dstRect);
  std::size_t next = 0;
  forEachCell(dstRect, [&](int y, int x) { dst.set(y, x, values[next++]); });
}

// ---- distributions ---------------------------------------------------------------------------

const Part* Model::partOn(const Distribution& distribution, int device, const Rect& cells) const {
  for (const Part& part : distribution.parts)
    if (part.device == device && part.full.contains(cells)) return &part;
  return nullptr;
}

bool Model::isActive(const Use& use) const {
  return active_ && use.distribution && equal(*active_, *use.distribution);
}

Model::Role Model::roleOf(int device, const Use& use) const {
  Role role;
  if (use.distribution) {
    role.ownBuffer = use.distribution->hasGhosts();
    if (role.ownBuffer && isActive(use)) role.part = partOn(*active_, device, use.cells);
    return role;
  }
  if (!use.isView) return role;
  const auto hasGhosts = [&](const Part* part) {
    return part != nullptr && static_cast<std::size_t>(std::count(
                                  part->owns.begin(), part->owns.end(), 1)) < part->full.size();
  };
  if (use.write) {
    const auto future = cutViews(future_.parts, future_.round, height_, width_);
    role.ownBuffer = hasGhosts(partOn(*future, device, use.cells));
  }
  const Part* part = nullptr;
  if (active_ && active_->isExplicit) part = partOn(*active_, device, use.cells);
  // Cells that the device has in memory of its own, and the host has not, need not move.
  const bool isThere = allCurrent(1 + device, use.cells) && !allCurrent(0, use.cells);
  role.ownBuffer = role.ownBuffer || hasGhosts(part) || isThere;
  role.part = part;
  return role;
}

// ---- launches --------------------------------------------------------------------------------

std::vector<int> Model::seenBy(int d, const Use& use, const Role& role) const {
  const Device& device = devices_[static_cast<std::size_t>(d)];
  std::vector<int> seen;
  forEachCell(use.cells, [&](int y, int x) {
    const std::size_t cell = at(y, x);
    const bool keeps = role.part != nullptr && device.kept[cell];
    seen.push_back(keeps ? device.keptValue[cell] : values_[cell]);
  });
  return seen;
}

// Whether a device goes on with its value of a cell that another part has written: it is a ghost
// of a neighbour there.
bool Model::goesOn(int device, const Part& writer, int y, int x) const {
  for (const Part& part : active_->parts) {
    if (part.device != device || !part.full.has(y, x) || part.owns[at(y, x)]) continue;
    if (areNeighbours(*active_, writer, part)) return true;
  }
  return false;
}

void Model::writePart(int space, const Part& part, const Rect& r, const std::vector<int>& result) {
  std::size_t next = 0;
  forEachCell(r, [&](int y, int x) {
    const std::size_t cell = at(y, x);
    const int value = result[next++];
    Device& own = devices_[static_cast<std::size_t>(part.device)];
    if (!part.owns[cell]) {
      current_[static_cast<std::size_t>(1 + part.device)][cell] = 0;
      own.kept[cell] = 1;
      own.keptValue[cell] = value;
      return;
    }
    for (int s = 0; s <= machine_.devices; ++s) {
      if (s == space) continue;
      char& current = current_[static_cast<std::size_t>(s)][cell];
      if (s > 0) {
        Device& other = devices_[static_cast<std::size_t>(s - 1)];
        // A value from before the cell became a ghost is no value of the part's.
        const auto d = static_cast<std::size_t>(s - 1);
        const bool isNew = !newGhosts_.empty() && newGhosts_[d][cell] && !other.kept[cell];
        const bool stays = goesOn(s - 1, part, y, x) && !isNew;
        if (current && stays && !other.kept[cell]) other.keptValue[cell] = values_[cell];
        other.kept[cell] = stays && (current || other.kept[cell]);
      }
      current = 0;
    }
    own.kept[cell] = 0;
    current_[static_cast<std::size_t>(space)][cell] = 1;
    values_[cell] = value;
  });
}

void Model::note(int device, const Use& use, const std::vector<int>& result, bool ownBuffer) {
  if (use.distribution && (use.write || !active_)) {
    if (use.write) views_ = {};
    adopt(use.distribution);
  }
  if (!use.write) return;
  const Role role = roleOf(device, use);
  const int space = spaceOf(device, ownBuffer);
  if (role.part != nullptr) return writePart(space, *role.part, use.cells, result);
  writeAll(space, use.cells);
  std::size_t next = 0;
  forEachCell(use.cells, [&](int y, int x) { set(y, x, result[next++]); });
}

// Cells that parts overwrite, others own and no other space has go to the host first, unless their
// owner writes them in the same launch.
void Model::save(const std::vector<Share>& shares, int device, const Use& use, bool ownBuffer) {
  if (!use.write || !use.isView || use.distribution || spaceOf(device, ownBuffer) == 0) return;
  const auto then = cutViews(future_.parts, future_.round, height_, width_);
  const Part* part = partOn(*then, device, use.cells);
  if (part == nullptr) return;
  const auto ownerWrites = [&](int y, int x) {
    for (const Share& share : shares)
      for (const Use& other : share.uses) {
        if (other.array != this || !other.write || &other == &use) continue;
        const Part* owner = partOn(*then, share.device, other.cells);
        if (owner != nullptr && owner->owns[at(y, x)] && other.cells.contains({y, y + 1, x, x + 1}))
          return true;
      }
    return false;
  };
  const auto overwrites = [&](int d, int y, int x) {
    for (const Share& share : shares)
      for (const Use& other : share.uses) {
        if (share.device != d || other.array != this || !other.write || !other.cells.has(y, x))
          continue;
        const Part* its = partOn(*then, d, other.cells);
        if (its != nullptr && !its->owns[at(y, x)]) return true;
      }
    return false;
  };
  forEachCell(use.cells, [&](int y, int x) {
    if (part->owns[at(y, x)] || !isCurrentOn(device, y, x)) return;
    bool elsewhere = current_[0][at(y, x)] != 0;
    for (int d = 0; d < machine_.devices; ++d)
      elsewhere = elsewhere || (d != device && isCurrentOn(d, y, x) && !overwrites(d, y, x));
    if (elsewhere) return;
    if (heirOf(y, x) >= 0) return;
    if (!ownerWrites(y, x)) bringTo(0, {y, y + 1, x, x + 1}, false);
  });
}

void Model::launch(const std::vector<Share>& shares) {
  foresee(shares);
  for (const Share& share : shares)
    for (const Use& use : share.uses)
      if (use.autoSync && use.array->isStale(share.device, use, neededBy(share, use)))
        use.array->syncGhosts();
  std::vector<std::vector<std::vector<char>>> right;
  for (const Share& share : shares) {
    auto& ofShare = right.emplace_back();
    for (const Use& use : share.uses) {
      auto& cells = ofShare.emplace_back(use.array->values_.size(), 0);
      if (!use.write || !use.distribution || !use.distribution->hasGhosts()) continue;
      forEachCell(use.cells, [&](int y, int x) {
        cells[use.array->at(y, x)] = isRightAfter(shares, share, use, y, x);
      });
    }
  }
  std::vector<std::vector<std::vector<int>>> buffers;
  std::vector<std::vector<bool>> own;
  for (const Share& share : shares)
    for (const Use& use : share.uses)
      use.array->place(share.device, use.array->roleOf(share.device, use).ownBuffer);
  for (const Share& share : shares)
    for (const Use& use : share.uses) use.array->snapshot();
  // All find their places before any of them has got cells.
  std::vector<std::function<void()>> fetches;
  for (const Share& share : shares)
    for (const Use& use : share.uses) {
      const Role role = use.array->roleOf(share.device, use);
      const int space = use.array->spaceOf(share.device, role.ownBuffer);
      if (use.read || (use.write && !use.overwrites))
        fetches.emplace_back([&use, space, role] {
          if (use.touched.empty())
            return use.array->bringTo(space, use.cells, role.part != nullptr);
          for (const Rect& cells : use.touched)
            use.array->bringTo(space, cells, role.part != nullptr);
        });
    }
  std::vector<std::vector<bool>> places;
  for (const Share& share : shares) {
    auto& ofShare = places.emplace_back();
    for (const Use& use : share.uses)
      ofShare.push_back(use.array->roleOf(share.device, use).ownBuffer);
  }
  for (const auto& fetch : fetches) fetch();
  for (std::size_t s = 0; s < shares.size(); ++s)
    for (std::size_t u = 0; u < shares[s].uses.size(); ++u)
      shares[s].uses[u].array->save(shares, shares[s].device, shares[s].uses[u], places[s][u]);
  for (std::size_t s = 0; s < shares.size(); ++s) {
    const Share& share = shares[s];
    auto& ofShare = buffers.emplace_back();
    auto& ownOfShare = own.emplace_back();
    for (std::size_t u = 0; u < share.uses.size(); ++u) {
      const Use& use = share.uses[u];
      ofShare.push_back(use.array->seenBy(share.device, use, use.array->roleOf(share.device, use)));
      ownOfShare.push_back(places[s][u]);
    }
  }
  for (std::size_t s = 0; s < shares.size(); ++s) shares[s].run(buffers[s]);
  for (const Share& share : shares)
    for (const Use& use : share.uses)
      if (use.write && use.isView && !use.distribution) use.array->adoptViews();
  for (std::size_t s = 0; s < shares.size(); ++s)
    for (std::size_t u = 0; u < shares[s].uses.size(); ++u) {
      const Use& use = shares[s].uses[u];
      use.array->note(shares[s].device, use, buffers[s][u], own[s][u]);
    }
  for (const Share& share : shares)
    for (const Use& use : share.uses) use.array->newGhosts_.clear();
  // The devices may have written all of an array together.
  for (const Share& share : shares)
    for (const Use& use : share.uses) {
      if (!use.write || use.distribution || use.isView) continue;
      bool all = !use.array->views_.parts.empty();
      forEachCell(use.array->whole(), [&](int y, int x) {
        bool some = false;
        for (const Share& other : shares)
          for (const Use& same : other.uses)
            some = some ||
                   (same.array == use.array && same.write && !same.isView && same.cells.has(y, x));
        all = all && some;
      });
      if (all) use.array->views_.ended = true;
    }
  for (std::size_t s = 0; s < shares.size(); ++s)
    for (std::size_t u = 0; u < shares[s].uses.size(); ++u) {
      const Use& use = shares[s].uses[u];
      if (!use.write || !use.distribution || !use.distribution->hasGhosts()) continue;
      Device& device = use.array->devices_[static_cast<std::size_t>(shares[s].device)];
      device.trusted = right[s][u];
    }
}

// ---- ghosts ----------------------------------------------------------------------------------

void Model::syncGhosts() {
  if (!active_ || !active_->hasGhosts()) return;
  snapshot();
  for (int d = 0; d < machine_.devices; ++d)
    forEachCell(whole(), [&](int y, int x) {
      char& kept = devices_[static_cast<std::size_t>(d)].kept[at(y, x)];
      if (!kept) return;
      bringTo(1 + d, {y, y + 1, x, x + 1}, false);
      kept = !isCurrentOn(d, y, x);
    });
}

bool Model::keepsSome(int device, const Rect& r) const {
  bool some = false;
  const auto& kept = devices_[static_cast<std::size_t>(device)].kept;
  forEachCell(r, [&](int y, int x) { some = some || kept[at(y, x)]; });
  return some;
}

const Part& Model::partOf(int device, const Use& use) const {
  return *partOn(*use.distribution, device, use.cells);
}

// The cells that must be right so that the cores of what the launch writes become right.
Rect Model::neededBy(const Share& share, const Use& read) {
  if (!read.reach.known) return read.cells;
  Rect cores;
  for (const Use& use : share.uses) {
    if (!use.write || !use.distribution || !use.distribution->hasGhosts()) continue;
    if (!(use.cells == read.cells)) return read.cells;
    cores = hull(cores, use.array->partOf(share.device, use).core);
  }
  if (cores.empty()) cores = read.array->partOf(share.device, read).core;
  return intersect(grown(cores, read.reach), read.cells);
}

bool Model::isStale(int d, const Use& use, const Rect& needed) const {
  if (!use.read || !use.distribution->hasGhosts() || !isActive(use)) return false;
  const Device& device = devices_[static_cast<std::size_t>(d)];
  bool stale = false;
  forEachCell(needed, [&](int y, int x) {
    const bool believed = use.reach.known && device.trusted[at(y, x)];
    stale = stale || (device.kept[at(y, x)] && !believed);
  });
  return stale;
}

// Whether a part has its owner's value of a cell.
bool Model::isRight(int d, const Use& use, int y, int x) const {
  const Device& device = devices_[static_cast<std::size_t>(d)];
  return !isActive(use) || !device.kept[at(y, x)] || device.trusted[at(y, x)];
}

namespace {

bool isWritten(const Use& use, int y, int x) {
  const Reach& rim = use.rim;
  const Rect inner{use.cells.y0 + rim.beforeY, use.cells.y1 - rim.afterY,
                   use.cells.x0 + rim.beforeX, use.cells.x1 - rim.afterX};
  return inner.has(y, x);
}

}  // namespace

// Whether the share computes a cell from cells that have their owners' values.
bool Model::computesRight(const Share& share, const Use& written, int y, int x) {
  bool right = true;
  for (const Use& read : share.uses) {
    if (!read.read || !read.distribution || !read.distribution->hasGhosts()) continue;
    if (!read.reach.known || !(read.cells == written.cells)) return false;
    Rect around = intersect(grown({y, y + 1, x, x + 1}, read.reach), read.array->whole());
    if (read.reach.allY) around.y0 = read.cells.y0, around.y1 = read.cells.y1;
    if (read.reach.allX) around.x0 = read.cells.x0, around.x1 = read.cells.x1;
    forEachCell(around, [&](int i, int j) {
      right = right && read.cells.has(i, j) && read.array->isRight(share.device, read, i, j);
    });
  }
  return right;
}

// Whether a part will have its owner's value of a cell: both write it and compute the same, or
// neither writes it and it was right before.
bool Model::isRightAfter(const std::vector<Share>& shares, const Share& share, const Use& written,
                         int y, int x) {
  const auto owns = [&](const Share& one, const Use& use) {
    return use.array->partOf(one.device, use).owns[use.array->at(y, x)] != 0;
  };
  if (owns(share, written)) return true;
  if (!written.rim.known) return false;
  for (const Share& owner : shares) {
    const Use& own = owner.uses.front();
    if (own.array != written.array || !own.cells.has(y, x) || !owns(owner, own)) continue;
    const bool here = isWritten(written, y, x);
    if (here != isWritten(own, y, x)) return false;
    if (!here) return written.array->isRight(share.device, written, y, x);
    return computesRight(share, written, y, x) && computesRight(owner, own, y, x);
  }
  return false;
}

}  // namespace ghosts_model
