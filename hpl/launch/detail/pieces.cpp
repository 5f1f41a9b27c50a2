// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "hpl/launch/detail/axis_dims.h"
#include "hpl/runtime/explain.h"
#include "hpl/runtime/global_list.h"
#include "hpl/runtime/settings.h"

namespace hpl::launch {
namespace {

using geometry::Index;
using geometry::Interval;
using runtime::Overlap;

// ---- whether it pays -------------------------------------------------------------------------

/// A message takes latency + bytes / bytesPerSecond. Rough figures, equal on all ranks, which have
/// to choose alike.
struct Speed {
  const char* name;
  double latency;
  double bytesPerSecond;
};

Speed speedOf(Passage passage) {
  switch (passage) {
    case Passage::Network:
      return {"messages between nodes", 50e-6, 1e9};
    case Passage::Node:
      return {"messages between ranks of a node", 25e-6, 3e9};
    case Passage::Host:
      return {"copies through the host", 15e-6, 6e9};
    default:
      return {"copies within a context", 5e-6, 10e9};
  }
}

/// One more launch, and the borders' lower efficiency with it.
constexpr double kLaunch = 12e-6;
/// The time that parts or copies of a CPU lose in a step in which each waits for the others: a core
/// that went idle is woken, and the slowest step counts. A border that is ready early lets them
/// drift. Measured with hpl_rank_bench compute, like the cost of one more launch there.
struct Meeting {
  double lost;
  double launch;
};
constexpr Meeting kMeetingOfParts{60e-6, 20e-6};
/// They copy through the host.
constexpr Meeting kMeetingOfCopies{80e-6, 30e-6};
/// The interior is memory-bound at best.
constexpr double kBytesPerSecondOfCpu = 10e9;
constexpr double kBytesPerSecondOfOthers = 300e9;

Passage passageBetween(runtime::DeviceState& a, runtime::DeviceState& b) {
  if (a.node() != b.node()) return Passage::Network;
  if (a.rank() != b.rank()) return Passage::Node;
  // Other ranks cannot know what shares a context here.
  const bool isKnown = !runtime::hasRanks() && a.isLocal();
  return isKnown && a.context()() == b.context()() ? Passage::Context : Passage::Host;
}

/// The slowest way to one of the devices that the share may exchange with.
Passage passageOf(const ShareJob& job, std::size_t device, bool isInBands) {
  const std::size_t count = job.devices.size();
  Passage slowest = Passage::Context;
  const auto look = [&](std::size_t other) {
    if (other == device) return;
    slowest = std::min(slowest, passageBetween(*job.devices[device], *job.devices[other]));
  };
  if (isInBands) {
    look((device + 1) % count);
    look((device + count - 1) % count);
  } else {
    for (std::size_t other = 0; other < count && slowest != Passage::Network; ++other) look(other);
  }
  return slowest;
}

bool haveOwnCores(const ShareJob& job) {
  const runtime::DeviceState& first = *job.devices.front();
  // Other ranks cannot know.
  if (runtime::hasRanks() || first.type() != CPU) return false;
  const bool areAlike = std::all_of(job.devices.begin(), job.devices.end(), [&](const auto& other) {
    return first.samePhysicalDeviceAs(*other);
  });
  return areAlike && job.devices.size() <= first.physicalUnits();
}

Index volumeOf(const Slice& slice) {
  return slice[0].length() * slice[1].length() * slice[2].length();
}

// ---- kernels ---------------------------------------------------------------------------------

/// Whether work-items may run in any order and in several launches: nothing ties them together.
bool mayBeCut(const ShareJob& job) {
  const ir::AccessSummary& summary = job.version->access;
  return !job.version->native && !summary.usesLocalIdOrGroup && !summary.sharesWithinGroups() &&
         !summary.usesAtomics && !summary.usesProbe && !runtime::settings().checkBounds &&
         job.options.local.dims == 0 &&
         (!job.options.shares ||
          (job.options.shares->global.empty() && job.options.shares->local.empty()));
}

bool isOwn(const ir::IndexForm& form) {
  return form.isAffine() && form.range.lo == 0 && form.range.hi == 0;
}

bool isCut(const Interval& ends) { return ends.lo > 0 || ends.hi > 0; }

/// The share in pieces as HPL_OVERLAP and the model say.
std::vector<Slice> chosen(const ShareJob& job, std::size_t device, const Slice& share,
                          const Slice& ends, OverlapCase known, double bytesOfCell) {
  const Overlap wish = runtime::settings().overlap;
  std::vector<Slice> pieces = frameOf(share, ends);
  const auto explain = [&](const std::string& what) {
    if (runtime::settings().explain)
      runtime::explainOnce(fmt::format("kernel '{}' on {}: {}", job.version->name,
                                       job.devices[device]->name(), what));
  };
  if (pieces.empty()) {
    explain("all cells at once: the borders leave no interior");
    return {};
  }
  known.moreLaunches = static_cast<int>(pieces.size()) - 1;
  known.runsBeside = job.devices[device]->type() != CPU;
  known.hasOwnCores = haveOwnCores(job);
  known.interiorBytes = static_cast<double>(volumeOf(pieces.back())) * bytesOfCell;
  const OverlapChoice choice = choiceFor(known);
  if (wish == Overlap::On) {
    explain(fmt::format("borders first, in {} pieces: HPL_OVERLAP says so", pieces.size()));
  } else if (choice.pays) {
    explain(fmt::format("borders first, in {} pieces: {}", pieces.size(), choice.why));
  } else {
    explain("all cells at once: " + choice.why);
    return {};
  }
  return pieces;
}

// ---- annotated parts -------------------------------------------------------------------------

/// By dimension of the array, the axis along which every written array is written, and read if at
/// all, at the work-item's own index; nothing when the annotations or the kernel allow no pieces.
std::optional<std::vector<std::pair<int, int>>> splitAxes(const ShareJob& job) {
  std::vector<std::pair<int, int>> split;
  for (std::size_t i = 0; i < job.arguments.size(); ++i) {
    const Annotation& annotation = job.arguments[i].annotation();
    if (annotation.count == 0) continue;
    if (split.empty())
      for (int n = 0; n < annotation.count; ++n) split.emplace_back(annotation.dims[n].dim, -1);
    if (annotation.count != static_cast<int>(split.size())) return std::nullopt;
    for (int n = 0; n < annotation.count; ++n)
      if (annotation.dims[n].dim != split[static_cast<std::size_t>(n)].first) return std::nullopt;
  }
  for (std::size_t i = 0; i < job.arguments.size(); ++i) {
    const ir::ArrayAccess* access = job.version->params[i].access;
    if (access == nullptr || !access->written || job.arguments[i].annotation().count == 0) continue;
    for (auto& [dim, axis] : split) {
      const auto d = static_cast<std::size_t>(dim);
      if (!isOwn(access->writes[d])) return std::nullopt;
      if (!access->reads.empty() && !(access->reads[d] == access->writes[d])) return std::nullopt;
      if (axis >= 0 && access->writes[d].axis != axis) return std::nullopt;
      axis = access->writes[d].axis;
    }
  }
  if (split.empty() || split.front().second < 0) return std::nullopt;
  return split;
}

/// The extents of the part as a domain; nothing where the annotated arrays do not agree, or do not
/// say what the domain is.
std::optional<Slice> domainOfPart(const ShareJob& job, const std::vector<Cut>& cuts,
                                  std::size_t device) {
  std::optional<geometry::Extents> extents;
  for (std::size_t i = 0; i < job.arguments.size(); ++i) {
    if (job.arguments[i].kind != Argument::Kind::Array) continue;
    // The domain is that of the first array.
    if (!extents && cuts[i].empty()) return std::nullopt;
    if (cuts[i].empty()) continue;
    const geometry::Box& full = cuts[i][device].full;
    if (!extents) extents = geometry::Extents(full.extents());
    const Annotation& annotation = job.arguments[i].annotation();
    for (int n = 0; n < annotation.count; ++n) {
      const int d = annotation.dims[n].dim;
      if (d >= extents->rank() || full.extent(d) != (*extents)[d]) return std::nullopt;
    }
  }
  if (!extents || extents->rank() > 3) return std::nullopt;
  Slice domain{Interval{0, 1}, Interval{0, 1}, Interval{0, 1}};
  for (int d = 0; d < extents->rank(); ++d)
    domain[static_cast<std::size_t>(extents->rank() - 1 - d)] = {0, (*extents)[d]};
  return domain;
}

// ---- blocks of the library -------------------------------------------------------------------

/// How far work-items read around the cells that they write along each axis, below and above, and
/// the bytes of the arrays where they do.
struct Reads {
  Slice reach{};
  /// Beyond the ends, at the other end.
  AxisSet goesOn{};
  double elementBytes = 0;
};

/// By axis, the first and the last of the cells at which id 0 begins to write.
Slice firstCells(const ShareJob& job, const DomainSize& domain) {
  Slice cells{};
  AxisSet isKnown{};
  for (std::size_t i = 0; i < job.arguments.size(); ++i) {
    const ir::ArrayAccess* access = job.version->params[i].access;
    if (access == nullptr || !access->written || job.arguments[i].kind != Argument::Kind::Array)
      continue;
    const AxisDims dims = dimsWritten(*access, domain);
    for (std::size_t a = 0; a < 3; ++a) {
      if (dims.dim[a] < 0 || dims.cells[a] != 1 || dims.ids[a] != 1) continue;
      cells[a].lo = isKnown[a] ? std::min(cells[a].lo, dims.first[a]) : dims.first[a];
      cells[a].hi = isKnown[a] ? std::max(cells[a].hi, dims.first[a]) : dims.first[a];
      isKnown[a] = true;
    }
  }
  return cells;
}

/// Whether several work-items write one cell, which borders and interior would do at once.
bool sharesCells(const ShareJob& job, const DomainSize& domain) {
  for (std::size_t i = 0; i < job.arguments.size(); ++i) {
    const ir::ArrayAccess* access = job.version->params[i].access;
    if (access == nullptr || !access->written || job.arguments[i].kind != Argument::Kind::Array)
      continue;
    const AxisDims dims = dimsWritten(*access, domain);
    if (std::any_of(dims.ids.begin(), dims.ids.end(), [](Index ids) { return ids > 1; }))
      return true;
  }
  return false;
}

DomainSize sizesOf(const Domain& global) {
  DomainSize sizes{};
  std::copy_n(global.size, 3, sizes.begin());
  return sizes;
}

Reads readsOf(const ShareJob& job, const Domain& global) {
  const DomainSize sizes = sizesOf(global);
  const Slice written = firstCells(job, sizes);
  Reads reads;
  for (std::size_t i = 0; i < job.arguments.size(); ++i) {
    const ir::ArrayAccess* access = job.version->params[i].access;
    if (access == nullptr || !access->read || job.arguments[i].kind != Argument::Kind::Array)
      continue;
    const memory::View& view = *job.arguments[i].view;
    bool reaches = false;
    for (const ir::AccessSite& site : access->sites) {
      for (std::size_t d = 0; site.reads && d < site.index.size(); ++d) {
        const ir::IndexForm& form = site.index[d];
        if (form.isFlat() && form.flat.isKnownFor(sizes)) {
          const auto [lo, hi] = form.flat.distances(sizes);
          Interval& reach = reads.reach[static_cast<std::size_t>(form.flat.slowest())];
          reach = {std::max(reach.lo, -lo), std::max(reach.hi, hi)};
          reaches = reaches || lo != 0 || hi != 0;
        }
        if (!form.isNearIdOrEdge()) continue;
        // Views with cells of the other end begin before the grid's first cell.
        const Index shift = std::min<Index>(0, view.box().lo(static_cast<int>(d)));
        const auto a = static_cast<std::size_t>(form.axis);
        Interval& reach = reads.reach[a];
        const Interval around{written[a].hi - (form.range.lo + shift),
                              form.range.hi + shift - written[a].lo};
        reach = {std::max(reach.lo, around.lo), std::max(reach.hi, around.hi)};
        reads.goesOn[a] = reads.goesOn[a] || shift < 0 || form.hasEdges();
        reaches = reaches || around.lo != 0 || around.hi != 0;
      }
    }
    if (reaches) reads.elementBytes += static_cast<double>(view.root().elementSize());
  }
  return reads;
}

double bytesOfCell(const ShareJob& job) {
  double bytes = 0;
  for (std::size_t i = 0; i < job.arguments.size(); ++i)
    if (job.arguments[i].kind == Argument::Kind::Array)
      bytes += static_cast<double>(job.arguments[i].view->root().elementSize());
  return bytes;
}

}  // namespace

std::vector<Slice> frameOf(const Slice& share, const Slice& ends) {
  std::vector<Slice> pieces;
  Slice rest = share;
  for (std::size_t a = 3; a-- > 0;) {
    const auto [low, high] = ends[a];
    if (rest[a].length() <= low + high) return {};
    Slice border = rest;
    border[a] = {rest[a].lo, rest[a].lo + low};
    if (low > 0) pieces.push_back(border);
    border[a] = {rest[a].hi - high, rest[a].hi};
    if (high > 0) pieces.push_back(border);
    rest[a] = {rest[a].lo + low, rest[a].hi - high};
  }
  if (pieces.empty()) return {};
  pieces.push_back(rest);
  return pieces;
}

OverlapChoice choiceFor(const OverlapCase& known) {
  const bool isMessage = known.passage <= Passage::Node;
  const bool isMeeting = known.hasOwnCores && !known.runsBeside && !isMessage;
  const bool areParts = known.passage == Passage::Context;
  const Meeting& meeting = areParts ? kMeetingOfParts : kMeetingOfCopies;
  const Speed speed = speedOf(known.passage);
  const double exchange = isMeeting
                              ? meeting.lost
                              : known.messages * speed.latency + known.bytes / speed.bytesPerSecond;
  const double interior =
      known.interiorBytes / (known.runsBeside ? kBytesPerSecondOfOthers : kBytesPerSecondOfCpu);
  const double cost = known.moreLaunches * (isMeeting ? meeting.launch : kLaunch);
  const std::string what = isMeeting
                               ? fmt::format("{} of a CPU wait about {:.0f} us for each other",
                                             areParts ? "parts" : "copies", exchange * 1e6)
                               : fmt::format("{} of {:.0f} bytes take about {:.0f} us", speed.name,
                                             known.bytes, exchange * 1e6);
  OverlapChoice choice;
  choice.pays = (known.runsBeside || isMessage || isMeeting) && std::min(exchange, interior) > cost;
  choice.why = fmt::format("{}, the interior {:.0f} us or more, {} more launches {:.0f} us", what,
                           interior * 1e6, known.moreLaunches, cost * 1e6);
  if (!known.runsBeside && !isMessage && !isMeeting)
    choice.why = "copies take a core from the kernel; " + choice.why;
  return choice;
}

std::vector<Slice> piecesOfPart(const ShareJob& job, const std::vector<Cut>& cuts,
                                std::size_t device) {
  if (runtime::settings().overlap == Overlap::Off || job.options.global.dims > 0 || !mayBeCut(job))
    return {};
  const auto split = splitAxes(job);
  const std::optional<Slice> domain = split ? domainOfPart(job, cuts, device) : std::nullopt;
  if (!domain) return {};
  Slice ends{};
  OverlapCase known;
  for (std::size_t i = 0; i < job.arguments.size(); ++i) {
    if (cuts[i].empty()) continue;
    const geometry::Part& part = cuts[i][device];
    for (std::size_t n = 0; n < split->size(); ++n) {
      const auto [d, axis] = (*split)[n];
      const DimAnnotation& dim = job.arguments[i].annotation().dims[n];
      const Index ghostsBelow = part.core.lo(d) - part.full.lo(d);
      const Index ghostsAbove = part.full.hi(d) - part.core.hi(d);
      // Our ghosts, and the core cells that are the neighbour's ghosts.
      Interval& end = ends[static_cast<std::size_t>(axis)];
      if (ghostsBelow > 0) end.lo = std::max(end.lo, ghostsBelow + dim.after);
      if (ghostsAbove > 0) end.hi = std::max(end.hi, ghostsAbove + dim.before);
      const Index area = part.full.volume() / part.full.extent(d);
      known.bytes += static_cast<double>(area * (ghostsBelow + ghostsAbove)) *
                     static_cast<double>(job.arguments[i].view->root().elementSize());
    }
  }
  for (const Interval& end : ends) known.messages += (end.lo > 0 ? 1 : 0) + (end.hi > 0 ? 1 : 0);
  if (known.messages == 0) return {};
  known.passage = passageOf(job, device, split->size() == 1);
  return chosen(job, device, *domain, ends, known, bytesOfCell(job));
}

std::vector<Slice> piecesOfBlock(const ShareJob& job, const Division& division,
                                 std::size_t device) {
  if (runtime::settings().overlap == Overlap::Off || job.devices.size() < 2 || job.runAtOnce() ||
      !mayBeCut(job) || sharesCells(job, sizesOf(division.global)))
    return {};
  const Slice& share = division.slices[device];
  const Reads reads = readsOf(job, division.global);
  Slice ends{};
  OverlapCase known;
  for (std::size_t a = 0; a < 3; ++a) {
    if (!division.cut[a]) continue;
    // The cells of ours that neighbours read, and the cells where we read theirs.
    const Index thick = std::max(reads.reach[a].lo, reads.reach[a].hi);
    const auto whole = static_cast<Index>(division.global.size[a]);
    if (share[a].lo > 0 || reads.goesOn[a]) ends[a].lo = thick;
    if (share[a].hi < whole || reads.goesOn[a]) ends[a].hi = thick;
    const Index area = volumeOf(share) / share[a].length();
    if (ends[a].lo > 0) known.bytes += static_cast<double>(area * reads.reach[a].hi);
    if (ends[a].hi > 0) known.bytes += static_cast<double>(area * reads.reach[a].lo);
    known.messages += (ends[a].lo > 0 ? 1 : 0) + (ends[a].hi > 0 ? 1 : 0);
  }
  if (std::none_of(ends.begin(), ends.end(), isCut)) return {};
  known.bytes *= reads.elementBytes;
  const auto axes = std::count(division.cut.begin(), division.cut.end(), true);
  known.passage = passageOf(job, device, axes == 1);
  return chosen(job, device, share, ends, known, bytesOfCell(job));
}

}  // namespace hpl::launch
