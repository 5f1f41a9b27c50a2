// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hpl/coherence/distribution.h"
#include "hpl/coherence/explicit_parts.h"

namespace hpl::coherence {

namespace detail {
class Draft;
struct Books;
struct Block;
}  // namespace detail

/// Identifies an array: a root and its shape.
struct Root {
  int number = 0;  ///< In order of creation, the same in every process.
  geometry::Extents extents;
  std::size_t elementSize = 1;
  std::string label = {};  ///< For messages; may be empty.
  /// Devices that share the hosts' memory may work there on this array.
  bool hostsMayBeShared = true;

  geometry::Box box() const { return geometry::Box::ofExtents(extents); }
  /// "array "u"", or "array 3" without a label.
  std::string describe() const;
};

/// The copies of an array's cells in one space.
struct Copies {
  /// Cells whose value here is the array's.
  geometry::Region current;
  /// Cells of the device's part that another part owns, and for which the device has a value of its
  /// own: one that it computed for its ghosts, or an earlier value of the owner's. Only the next
  /// launch of the same part reads them. A cell may be both, current and kept: then the space has
  /// two values of it.
  geometry::Region kept;
  /// Kept cells that have the values of their owners at the same point of the program, though owner
  /// and part may have computed them one after the other. Says nothing of cells that are not kept.
  geometry::Region trusted;

  bool empty() const noexcept { return current.empty() && kept.empty() && trusted.empty(); }
};

/// Cells that have no value any more: no space has a current copy.
struct LostCells {
  geometry::Region cells;
  std::string why;  ///< A clause of a sentence: "device 3 was lost".
};

/// Knowledge about the cells of one array: immutable, and each value exists once per root, so equal
/// states are one pointer. States share their common parts: a change of few spaces costs little, on
/// however many spaces.
class State {
 public:
  const Root& root() const noexcept;
  int spaceCount() const noexcept { return spaceCount_; }
  /// The copies in a space; none for a space that does not exist.
  Copies copiesOf(SpaceId space) const;
  /// How the array is distributed: what the launches that wrote parts of it last amount to; null:
  /// never, or not any more. All kept cells belong to it.
  const DistributionPtr& active() const noexcept { return active_; }
  /// The views that devices have written; null: none.
  const std::shared_ptr<const ExplicitParts>& explicitParts() const noexcept { return explicit_; }
  /// Views no longer mean the annotated parts that have the same cells: a launch that the library
  /// distributed by itself has written the array since.
  bool partsEnded() const noexcept { return partsEnded_; }
  const std::vector<LostCells>& lost() const noexcept { return lost_; }

  /// Whether a space may have cells outside of the root's box: ghosts beyond the ends of a periodic
  /// array.
  bool mayHaveImages() const noexcept;

  std::size_t hash() const noexcept { return hash_; }
  friend bool operator==(const State& a, const State& b);

 private:
  friend class detail::Draft;
  friend class RootStates;

  std::shared_ptr<detail::Books> books_;
  int spaceCount_ = 0;
  std::vector<std::shared_ptr<const detail::Block>> blocks_;  // of neighbouring spaces
  DistributionPtr active_;
  std::shared_ptr<const ExplicitParts> explicit_;
  bool partsEnded_ = false;
  std::vector<LostCells> lost_;
  std::size_t hash_ = 0;
};

using StatePtr = std::shared_ptr<const State>;

/// The states of one root. States keep what they need of it alive.
class RootStates {
 public:
  /// Throws ShapeError for a root without cells, ArgumentError for elements of 0 bytes or a machine
  /// without the hosts' space.
  RootStates(Root root, int spaceCount);

  const Root& root() const noexcept;
  /// The array's name in messages from now on.
  void setLabel(std::string label);
  /// An array that was never written: no cell has a value.
  StatePtr undefined() const;
  /// An array whose values the hosts have.
  StatePtr onHosts() const;
  /// How many states, and copies of single spaces, are known; some may be about to be forgotten.
  std::size_t stateCount() const noexcept;
  std::size_t copiesCount() const noexcept;

 private:
  std::shared_ptr<detail::Books> books_;
  int spaceCount_ = 0;
};

}  // namespace hpl::coherence
