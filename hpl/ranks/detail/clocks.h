// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hpl::ranks {

class World;

/// One moment as two clocks show it, in seconds.
struct Moment {
  double own = 0;   ///< trace::clockSeconds() of this rank.
  double root = 0;  ///< The same of rank 0.
};

/// Collective, while no other message is under way. Ranks on rank 0's machine share its clock. Each
/// other rank asks rank 0 a few times and assumes that the quickest answer lies in the middle
/// between question and answer (F. Cristian, "Probabilistic clock synchronization", 1989): it is
/// off by half of the time that a message and its answer take, at most. Throws RankError.
Moment compareClocks(World& world);

/// This rank's clock as a line on rank 0's: `shift + rate * own`.
struct ClockLine {
  double shift = 0;
  double rate = 1;
};
/// The line through two moments. Those within a second of each other give its shift only.
ClockLine lineThrough(const Moment& first, const Moment& last);

}  // namespace hpl::ranks
