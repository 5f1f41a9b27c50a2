// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "hpl/coherence/detail/draft.h"
#include "hpl/coherence/step.h"
#include "hpl/geometry/box_index.h"

namespace hpl::coherence::detail {

/// The spaces that have the cells of an array, as of the first question: copies that are under way
/// are no sources, so all transfers of one kind may run at once. Images are no sources either.
class Sources {
 public:
  Sources(const Machine& machine, Draft& draft) : machine_(machine), draft_(draft) {}

  /// Appends transfers that bring `missing`, which `to` does not have: each cell from the nearest
  /// space that has it, the one with the lowest number of several. Returns the cells that come; the
  /// others have no value anywhere. `like` says the rest.
  geometry::Region bring(const geometry::Region& missing, const Transfer& like,
                         std::vector<Transfer>& transfers);

 private:
  void build();
  struct Candidate {
    Distance distance;
    SpaceId space;
    int holder;
  };
  // Those that may have cells of the box, in the order in which `to` asks them.
  void findCandidates(const geometry::Box& box, SpaceId to);
  void take(const geometry::Region& here, SpaceId from, const geometry::Point& shift,
            const Transfer& like, std::vector<Transfer>& transfers);

  const Machine& machine_;
  Draft& draft_;
  bool isBuilt_ = false;
  struct Holder {
    SpaceId space;
    geometry::Region current;  // without images
  };
  std::vector<Holder> holders_;
  geometry::BoxIndex index_;
  // Kept from question to question for their memory.
  std::vector<Candidate> candidates_;
  std::vector<geometry::Box> found_;
};

}  // namespace hpl::coherence::detail
