// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hpl/coherence/machine.h"
#include "hpl/geometry/box_index.h"
#include "hpl/geometry/region.h"
#include "hpl/geometry/splits.h"

namespace hpl::coherence {

class Distribution;
using DistributionPtr = std::shared_ptr<const Distribution>;

/// One dimension of a grid of parts.
struct GridAxis {
  geometry::DimSplit split;
  /// The first and the last part are neighbours, and a single part its own: ghosts beyond the ends
  /// of the array are images of the cells at the other end.
  bool periodic = false;
};

/// The part of a distributed array that one device has.
struct Part {
  SpaceId space = kHosts;
  /// The cells that the device works on: core and ghosts. Periodic ghosts lie outside of the
  /// array's box.
  geometry::Box full;
  /// The cells whose value there is the array's.
  geometry::Region core;
};

/// Ghosts of one part and the part that owns them.
struct GhostLink {
  int mirror = 0;
  int owner = 0;
  /// In the mirror's coordinates: the owner has them at `cells - shift`.
  geometry::Box cells;
  geometry::Point shift;
};

/// A part that owns ghosts of another one, which sees the owner's cells `shift` away.
struct Neighbour {
  int owner = 0;
  geometry::Point shift;
};

/// How an array is spread over devices. Immutable; those with equal parts are equal, however they
/// were made, and interchangeable. Parts are numbered from 0; parts without cells are left out.
class Distribution {
 public:
  enum class Origin {
    Annotated,  ///< `PART1(a, r)` and the like: one part per device, cores cover the array
    Explicit    ///< launches that wrote overlapping views on several devices
  };

  /// A grid: the dimensions of `axes` are split as geometry::splitBox does, the last one listed
  /// varying fastest; the others are whole. One device for each part. Throws ArgumentError when the
  /// number of devices is another one, a device is listed twice, a periodic dimension has no ghosts
  /// or ghosts wider than the array, and what splitBox throws.
  static DistributionPtr grid(const geometry::Box& root, const std::vector<GridAxis>& axes,
                              std::vector<SpaceId> devices);
  /// Parts that form no grid. Throws ArgumentError when the cores are no disjoint cover of the root
  /// (the message names the boxes), a core is no box or not within its part, a part leaves the root
  /// or a device is listed twice.
  static DistributionPtr blocks(const geometry::Box& root, std::vector<Part> parts);
  /// Explicit parts; `neighbours` lists for each part those that have ghosts of each other,
  /// ascending.
  static DistributionPtr views(const geometry::Box& root, std::vector<Part> parts,
                               std::vector<std::vector<int>> neighbours);

  Origin origin() const noexcept { return origin_; }
  /// The cells that the parts share among them: those of the array, or of a view of it.
  const geometry::Box& root() const noexcept { return root_; }
  int partCount() const noexcept { return static_cast<int>(spaces_.size()); }
  /// Whether some part has ghosts.
  bool hasGhosts() const noexcept { return hasGhosts_; }
  /// Whether ghosts lie outside of the root, in any dimension or in this one.
  bool isPeriodic() const noexcept;
  bool isPeriodic(int dim) const noexcept;

  SpaceId spaceOf(int part) const noexcept { return spaces_[static_cast<std::size_t>(part)]; }
  geometry::Box fullOf(int part) const;
  geometry::Region coreOf(int part) const;
  /// The smallest box around the core.
  geometry::Box coreBoxOf(int part) const;
  geometry::Region ghostsOf(int part) const;
  bool hasGhosts(int part) const;

  /// The parts on a device, in constant time.
  std::span<const int> partsOn(SpaceId device) const noexcept;
  /// The part on a device that contains the box; -1: none.
  int partOn(SpaceId device, const geometry::Box& box) const;
  /// Whether the parts have ghosts of each other, if they have common cells at all; where they have
  /// not, plain sequential consistency holds.
  bool areNeighbours(int a, int b) const;

  /// Calls f(part) for each part whose `full` meets the box: by arithmetic in a grid, else by an
  /// index.
  template <class F>
  void forEachPartMeeting(const geometry::Box& box, F&& f) const {
    if (!axes_.empty() || parts_.empty()) {
      for (const int part : gridPartsMeeting(box)) f(part);
    } else {
      index_.forEachMeeting(box, f);
    }
  }
  /// Where the ghosts of a part come from, ordered by owner. Where parts are thinner than the
  /// overlap a ghost region has several owners; a periodic part may own its own ghosts.
  std::vector<GhostLink> ghostLinks(int mirror) const;

  /// The parts that own ghosts of a part: once each for every distance at which the part sees their
  /// cells. In the order of owners.
  std::vector<Neighbour> neighboursOf(int mirror) const;

  std::size_t hash() const noexcept { return hash_; }
  friend bool operator==(const Distribution& a, const Distribution& b);

 private:
  // One dimension of a grid: part i owns [cuts[i], cuts[i + 1]).
  struct Axis {
    int dim = 0;
    std::vector<geometry::Index> cuts;
    geometry::Index before = 0;
    geometry::Index after = 0;
    bool periodic = false;

    int parts() const noexcept { return static_cast<int>(cuts.size()) - 1; }
    friend bool operator==(const Axis&, const Axis&) = default;
  };

  Distribution() = default;
  void finish();
  // Calls f(part) for each part that may own cells of the box, which lie in the root.
  template <class F>
  void forEachOwner(const geometry::Box& box, F&& f) const;
  std::vector<char> addAxis(const GridAxis& axis);
  std::vector<int> gridPartsMeeting(const geometry::Box& box) const;

  Origin origin_ = Origin::Annotated;
  geometry::Box root_;
  std::vector<Axis> axes_;                    // of a grid
  std::vector<Part> parts_;                   // of all others
  geometry::BoxIndex index_;                  // of their `full`
  std::vector<std::vector<int>> neighbours_;  // of explicit parts
  std::vector<SpaceId> spaces_;               // by part
  std::vector<int> firstOn_;                  // by space: where its parts begin in partsBySpace_
  std::vector<int> partsBySpace_;
  bool hasGhosts_ = false;
  std::size_t hash_ = 0;
};

bool operator==(const Distribution& a, const Distribution& b);

}  // namespace hpl::coherence
