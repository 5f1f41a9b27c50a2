// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "hpl/coherence/detail/books.h"
#include "hpl/coherence/state.h"

namespace hpl::coherence::detail {

/// A state while it is changed. Costs nothing for the spaces that are never asked for.
class Draft {
 public:
  /// For a machine of `spaceCount` spaces, of which the state may know the first ones only.
  Draft(StatePtr base, int spaceCount);
  explicit Draft(const StatePtr& base);

  const Root& root() const noexcept { return base_->root(); }
  const geometry::Box& box() const noexcept { return base_->books_->box; }
  int spaceCount() const noexcept { return static_cast<int>(open_.size()); }
  const StatePtr& base() const noexcept { return base_; }

  /// The copies that a space has now.
  const Copies& copiesOf(SpaceId space);
  /// The same, to be changed.
  Copies& change(SpaceId space);
  /// Nothing, to be filled with what the space has from now on.
  Copies& replace(SpaceId space);
  /// Whether a space may have cells outside of the root's box.
  bool mayHaveImages() const;

  DistributionPtr active;
  /// Whether the active distribution has the parts of this one. Every part of a launch asks, and to
  /// compare two takes a look at all parts: the answer for the last one is remembered.
  bool isCutAs(const DistributionPtr& other) const;
  std::shared_ptr<const ExplicitParts> explicitParts;
  bool partsEnded = false;
  std::vector<LostCells> lost;
  /// The launch at hand made views parts, of which others were written before: what is known of the
  /// ghosts that those got is older than this launch.
  bool partsAreNew = false;
  /// Cells that become ghosts of explicit parts with this launch, by space. The device's former
  /// values there are no values of a part: they may have been another device's, in memory that both
  /// share.
  const geometry::Region& newGhostsOf(SpaceId space) const;
  /// The launch is over.
  void endNewCut();

  /// Throws DeviceError that names the array and why, when some of the cells are lost.
  void requireValues(const geometry::Region& cells) const;
  /// The part of `cells` that is current in this space and in no other.
  geometry::Region onlyIn(SpaceId space, geometry::Region cells);
  /// The whole array was written: parts by explicit views are none any more, unless the next launch
  /// writes one of them again.
  void endParts();
  /// The distribution is `next` from now on. Forgets the kept cells of parts, except those of
  /// explicit parts that are still their ghosts.
  void adopt(const DistributionPtr& next);
  /// The array is not distributed any more.
  void endDistribution();

  /// The state, once per root. Leaves the draft unusable.
  StatePtr finish();

 private:
  struct Open {
    Copies copies;
    bool isChanged = false;
  };
  Open& open(SpaceId space);
  void carryTrust(const Distribution& before, const Distribution& now);
  void noteNewGhosts(const Distribution* before, const Distribution& now);
  bool isChanged(std::size_t block) const;
  std::shared_ptr<const Block> finishBlock(std::size_t number);

  StatePtr base_;
  std::vector<std::unique_ptr<Open>> open_;  // by space
  std::map<SpaceId, geometry::Region> newGhosts_;
  // Found to be equal.
  mutable DistributionPtr oneCut_, otherCut_;
};

}  // namespace hpl::coherence::detail
