// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "hpl/coherence/detail/draft.h"
#include "hpl/coherence/operation.h"

/// The rules of trust.h for one launch.
namespace hpl::coherence::detail {

/// One device's part of one array in a launch, of which an analysis has told something.
struct PartUse {
  const Use* use = nullptr;
  int useNumber = 0;
  /// That of the annotation, or the one that the array's explicit views amount to before the
  /// launch.
  DistributionPtr distribution = nullptr;
  int part = -1;  ///< -1: an explicit view that is no part yet.
  SpaceId device = kHosts;
  geometry::Box full;
  /// The cells of the part that are right before the launch.
  geometry::Region trusted;
  /// The cells that must be right so that the core cells of what the launch writes become right.
  geometry::Box needed;
};

/// Whether the part belongs to the array's present distribution. Where the array is distributed
/// otherwise nothing that the device has kept concerns the launch, which gets the owners' values.
bool isActive(const Draft& draft, const PartUse& use);

/// Fills `needed` of all uses of one device: the cores of what is written, in the coordinates of
/// each array that is read, grown by its reach.
void computeNeeds(std::span<PartUse> uses);

/// Ghost cells that the launch needs and that are not trusted; empty: none.
geometry::Region staleFor(Draft& draft, const PartUse& use);

/// The cells of a part whose values are right: all but those that the device keeps for itself and
/// that are not known to be right.
geometry::Region trustedCells(Draft& draft, const PartUse& use);

/// A launch's uses of parts with facts, by device, and what they make of the trust.
class LaunchTrust {
 public:
  /// One draft per operand, as of before the launch. The uses stay the caller's.
  LaunchTrust(std::span<const Use> uses, std::span<Draft*> drafts);

  /// By device, in the order of the launch's uses.
  std::span<std::vector<PartUse>> devices() noexcept { return devices_; }
  /// To be called before the launch changes the drafts, and after any exchange.
  void note(std::span<Draft*> drafts);
  /// To be called when it has: what of the ghosts is trusted from now on.
  void apply(std::span<Draft*> drafts) const;

 private:
  // The cells that a part wrote in the launch.
  struct Written {
    const PartUse* use = nullptr;
    geometry::Region right;
  };
  static void addParts(const Use& use, int number, std::vector<std::vector<PartUse>>& byDevice);
  const Written* find(int operand, const Distribution& distribution, int part) const;
  geometry::Region agreeing(const Written& mine, const Written& owner, const geometry::Point& shift,
                            const geometry::Box& whole) const;
  geometry::Region trustedAfter(const Written& mine, const Draft& draft) const;
  static void applyToView(const Written& written, Draft& draft);

  std::vector<std::vector<PartUse>> devices_;
  std::vector<Written> written_;
  std::vector<std::vector<std::vector<int>>> byPart_;  // by operand, part: in written_, or none
};

}  // namespace hpl::coherence::detail
