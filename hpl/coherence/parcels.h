// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "hpl/coherence/machine.h"
#include "hpl/coherence/step.h"

/// The messages of a step. All cells that one process sends another one for a stretch of a step are
/// one message, whatever the number of arrays and devices; or several, for comparison. Both sides
/// derive what is where in them from the step.
namespace hpl::coherence {

/// Pieces begin at multiples of this, so that any element is aligned.
inline constexpr std::size_t kPieceAlignment = 128;

/// The cells of one transfer in a message, dense, in the order of their box.
struct Piece {
  std::size_t transfer = 0;  ///< Position in the step's list.
  std::size_t offset = 0;    ///< In the message, in bytes.
  std::size_t bytes = 0;
  friend bool operator==(const Piece&, const Piece&) = default;
};

/// The cells that share a message.
enum class Together {
  Ranks,    ///< All that one process has for another one.
  Devices,  ///< Cells of one device of the process for one of the other; those for the hosts.
  Fields    ///< The same of one array.
};

/// The message of one process to another one for a step, or a part of a step.
struct Parcel {
  int peer = 0;
  std::vector<Piece> pieces;
  std::size_t bytes = 0;
};

/// The messages of one process, by peer; without empty ones. Those between two processes are in
/// the same order at both.
struct Parcels {
  std::vector<Parcel> outgoing;
  std::vector<Parcel> incoming;
};

/// Neighbours in a step's list of transfers, by position; without `end`.
struct Stretch {
  std::size_t begin = 0;
  std::size_t end = 0;
  friend bool operator==(const Stretch&, const Stretch&) = default;
};

/// The step's transfers in stretches, in none of which a transfer reads cells that another one of
/// the stretch brings: what a process sends for a stretch may leave before it gets anything. Most
/// steps are one stretch; an assignment may first complete the part that it reads.
std::vector<Stretch> stretchesOf(const Step& step);

/// The messages that rank `me` of `ranks` sends and gets for a stretch of the step. Cells that go
/// from a device to the hosts go to all ranks; the hosts' cells are on each rank and go nowhere.
Parcels parcelsOf(const Step& step, Stretch which, const Machine& machine, int ranks, int me,
                  Together together = Together::Ranks);

}  // namespace hpl::coherence
