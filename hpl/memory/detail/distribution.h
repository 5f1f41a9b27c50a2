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
  /// Of an explicit one: which parts may have ghosts of each other, one row for each part.
  std::vector<char> related = {};

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
/// launches that write make a view a part: a device that only reads another one's cells wants their
/// present values.
///
/// Launches come in rounds: one belongs to the round under way as long as it writes some cell that
/// the round has not written yet; else it begins the next round.
/// - A written view becomes a part of its device, which gives up its parts of earlier rounds, and
///   those that the view overlaps. The same view on another device has moved.
/// - Parts of different devices that overlap so that neither contains the other
///   (geometry::areGhostNeighbours) meet when a round writes some cell on both. They have ghosts of
///   each other from then on. All others are sequentially consistent. So no update of a program
///   is lost that writes each cell once in a round.
/// - A relation lapses where a third device takes a view of common cells, or where the other part
///   was taken, in a round in which the part was not written. A part that is written only after
///   that round is taken anew.
/// - A view that lies in a part of its device is a piece of it. It is a view of its own when it
///   lacks cells that the part shares with a neighbour, was not made from the part
///   (`a(part)(piece)`), and one of these shows that the program cuts the array anew: the neighbour
///   took its view in this round, while the part has not been written; both divide what they share;
///   the device wrote this piece, and nothing else of its part, in the last round, too.
/// - The views that one launch writes are one cut: when one of them is new, none is a mere piece.
/// - A write of the whole array ends the parts, unless the next launch goes on with the round or
///   writes one of them again.
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
  /// A part that is one no more, and the view of its device that took its place (rank 0: none).
  struct Change {
    runtime::DeviceState* device = nullptr;
    geometry::Box before;
    geometry::Box now;
  };

  /// Whether a launch that writes these views leaves the parts and their relations as they are.
  bool keeps(std::span<const Part> written) const;
  /// Whether a launch that writes this view, and no other one of the array, also leaves unchanged
  /// which piece of a part was written last.
  bool repeats(const Part& written) const;
  /// A launch that leaves the parts as they are has written these views. True when it changed which
  /// piece of a part was written last.
  bool note(std::span<const Part> written);
  /// A launch has changed the parts by writing these views.
  std::vector<Promotion> add(std::span<const Part> written);
  /// What add() changed in what was known before.
  const std::vector<Change>& changes() const noexcept { return changes_; }
  /// The whole array was written.
  void setEnded(bool ended) noexcept { isEnded_ = ended && !known_.empty(); }
  bool isEnded() const noexcept { return isEnded_; }
  /// The present parts; null when there are none.
  const std::shared_ptr<const Distribution>& distribution() const noexcept { return current_; }
  void clear() noexcept;

 private:
  struct Known {
    runtime::DeviceState* device = nullptr;
    geometry::Box box;
    geometry::Box last;  ///< around what the device wrote of it in its last round
    std::uint64_t id = 0;
    std::uint64_t taken = 0;                ///< the round that made it a part
    std::uint64_t round = 0;                ///< the last one that wrote it or a piece of it
    const DistributedPart* part = nullptr;  ///< in current_
    std::vector<std::uint64_t> met = {};    ///< the parts that it has met
  };
  struct Written {
    const runtime::DeviceState* device = nullptr;
    geometry::Box box;
  };

  const Known* partWith(const Part& view) const;
  bool isCovered(const geometry::Box& box, std::size_t from) const;
  bool beginsRound(std::span<const Part> written) const;
  static bool mayMeet(const Known& a, const Known& b);
  bool meetsAnother(const Known& known, const geometry::Box& box) const;
  bool meetEachOther(std::span<const Part> written) const;
  void meet(Known& known, const geometry::Box& box);
  bool hasLapsed(const Known& part, const geometry::Box& shared) const;
  bool areRelated(const Known& a, const Known& b) const;
  bool isGivenUp(const Known& part) const;
  static bool cutsAnew(const geometry::Box& piece, const Known& of, const Known& neighbour);
  bool isPiece(const Part& view, const Known& of, std::uint64_t now) const;
  bool areParts(std::span<const Part> written, std::uint64_t now) const;
  void write(Known& known, const geometry::Box& box);
  void beginRound();
  void shrink(Known& known);
  void become(const Part& view, std::span<const Part> written);
  void distribute();
  std::vector<Promotion> promotionsSince(const std::vector<Known>& before,
                                         std::span<const Part> written) const;
  void noteChanges(const std::vector<Known>& before, std::span<const Part> written);

  std::vector<Known> known_;
  std::uint64_t round_ = 1;
  std::uint64_t lastId_ = 0;
  std::vector<Written> covered_;  // what the round has written
  bool isEnded_ = false;
  std::shared_ptr<const Distribution> current_;
  std::vector<Change> changes_;
};

}  // namespace hpl::memory::detail
