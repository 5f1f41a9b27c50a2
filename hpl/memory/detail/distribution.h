// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hpl/geometry/region.h"
#include "hpl/memory/view.h"
#include "hpl/runtime/detail/device_state.h"

namespace hpl::memory::detail {

/// What one device has of a distributed array.
struct DistributedPart {
  runtime::DeviceState* device = nullptr;
  /// The cells that the device works on: core and ghosts.
  geometry::Box full;
  /// The cells whose value there is the array's.
  geometry::Region core;
  /// The cells that another part owns: the others. Filled when the distribution is made.
  geometry::Region ghosts = {};
};

/// How an array is spread over devices (DESIGN.md section 5). Immutable; compared by address, since
/// a root keeps one object for equal distributions.
struct Distribution {
  enum class Origin {
    Annotated,  ///< PART1(a, r) and the like: one part per device
    Explicit    ///< launches that wrote overlapping views on several devices
  };

  Origin origin = Origin::Annotated;
  std::vector<DistributedPart> parts;
  /// Whether some part has ghosts.
  bool hasGhosts = false;

  /// The part on a device that contains the box, or null.
  const DistributedPart* partOn(const runtime::DeviceState& device, const geometry::Box& box) const;
  /// Whether the part has ghosts, so that the device needs memory of its own for it.
  static bool needsOwnBuffer(const DistributedPart& part) { return !part.ghosts.empty(); }
  /// Whether the parts have ghosts of each other, if they have common cells at all; where they have
  /// not, plain sequential consistency holds.
  bool areNeighbours(const DistributedPart& a, const DistributedPart& b) const;
};

/// An annotated distribution: a plain split grown by overlaps. Parts of empty `full` are left out.
std::shared_ptr<const Distribution> annotatedDistribution(std::vector<DistributedPart> parts);

/// The views of a root that devices have written, from which explicit distributions follow. Only
/// launches that write make a view a part: a device that only reads somebody else's cells wants
/// their present values. What a written view means:
/// - It is a part of its device already: nothing changes.
/// - It lies in such a part and is a piece of it: the program works on the part piece by piece, or
///   sets a boundary.
/// - It lies in such a part, but shows that the program cuts the array in another way. Views made
///   from the part (`a(part)(piece)`) never do. Others do when they divide what the part shares
///   with a neighbour (hold some of it but neither all nor what the device owns, or end where the
///   neighbour begins) and the neighbour became one after the part was last written, or was last
///   written by a piece that divides it, too; and when the device writes one and the same piece
///   again, and nothing else of its part, after the neighbour was written.
/// - Otherwise the program cuts the array in another way, too.
/// - A view that is a new cut becomes a part, and those of its device that it overlaps are parts no
///   more. So is the same view on another device, which has moved. Where a device wrote only a
///   piece of its part last, and that piece divides what the part shares with the new one, its part
///   is that piece from now on.
/// - The views that one launch writes are one cut: when one of them is new, none is a mere piece.
///
/// Two parts of different devices are ghost neighbours when they overlap and neither contains the
/// other (geometry::areGhostNeighbours); all others are sequentially consistent. While the parts
/// change one by one, a new part meets old ones that are about to be replaced. What it wrote beyond
/// its half of such an overlap counts once the old part is gone (Promotion), unless its owner has
/// written it in the meantime.
class ExplicitParts {
 public:
  struct Part {
    runtime::DeviceState* device = nullptr;
    geometry::Box box;
    /// What the view was made from; null: the array.
    const View* parent = nullptr;
  };
  /// Cells that a device wrote as ghosts of its part, and that turn out to be its own.
  struct Promotion {
    runtime::DeviceState* device = nullptr;
    geometry::Region cells;
  };

  /// Whether a launch that writes these views leaves the parts as they are.
  bool keeps(std::span<const Part> written) const;
  /// Whether a launch that writes this view, and no other one of the array, also leaves unchanged
  /// which piece of a part was written last.
  bool repeats(const Part& written) const;
  /// A launch that leaves the parts as they are has written these views. True when it changed which
  /// piece of a part was written last.
  bool note(std::span<const Part> written);
  /// A launch has cut the array anew by writing these views.
  std::vector<Promotion> add(std::span<const Part> written);
  /// The present parts; null when there are none.
  const std::shared_ptr<const Distribution>& distribution() const noexcept { return current_; }
  void clear() noexcept;

 private:
  struct Known {
    runtime::DeviceState* device = nullptr;
    geometry::Box box;
    geometry::Box last;         ///< of what lies in the part, the view that was written last
    std::uint64_t since = 0;    ///< number of the launch that made it a part
    std::uint64_t written = 0;  ///< of the last one that wrote it or a piece of it
    std::uint64_t whole = 0;    ///< of the last one that wrote all of it
    const DistributedPart* part = nullptr;  ///< in current_
  };

  const Known* partWith(const Part& view) const;
  static bool cutsAnew(const geometry::Box& piece, const Known& of, const Known& neighbour);
  bool isPiece(const Part& view, const Known& of) const;
  void become(const Part& view);
  void distribute();
  std::vector<Promotion> promotionsSince(const std::vector<Known>& before) const;

  std::vector<Known> known_;
  std::uint64_t launches_ = 0;
  std::shared_ptr<const Distribution> current_;
};

}  // namespace hpl::memory::detail
