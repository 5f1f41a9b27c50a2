// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "hpl/coherence/detail/draft.h"

namespace hpl::coherence::detail {

/// The kind of operation that writes.
enum class Writer {
  Launch,  ///< Neighbours' copies are as good as before: a launch of theirs may be about to follow.
  Assignment,  ///< Neighbours have to learn of its changes.
  Host         ///< As an assignment; does not end parts unless it says so.
};

/// Cells that one space gets new values of.
struct Write {
  SpaceId space = kHosts;
  geometry::Box cells;
  /// The part of the active distribution that is written; -1: the array itself is.
  int part = -1;
};

/// Applies the writes. Core cells of a part become current there and stale elsewhere, where
/// neighbours whose ghosts they are go on with the value they have (kept); ghost cells keep their
/// new value for this part alone. A write of the array itself makes its cells current in one space
/// and stale in all others. Where two spaces write one cell, the later one in the list counts.
void applyWrites(Draft& draft, std::span<const Write> writes, Writer writer);

}  // namespace hpl::coherence::detail
