// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "hpl/strategies/detail/overlapped_plan.h"

namespace hpl::strategies::detail {

/// The facts about a streaming kernel that are known before any code is written.
///
/// When plane F of the fields comes into sight, function k of step s (from 0 on) computes plane F -
/// lag[k] - s * lagPerStep. All states of a field share one ring of planes: a function writes a
/// plane to where the plane that lies `made - seen` planes before it was, which is not read any
/// more. With a distance of 0 it writes over the plane's old cells, and those that it leaves out
/// stay as they are.
struct StreamPlan {
  /// How far a state lies back: planes; and cells, vectors, so that a plane that is written where
  /// its computation reads overwrites nothing before it has been read.
  struct Back {
    std::int64_t planes = 0;
    std::int64_t cells = 0;
    friend bool operator==(const Back&, const Back&) = default;
  };
  struct Ring {
    /// Planes; 0: the field has none.
    std::int64_t slots = 0;
    /// How much further back a step's states lie than those of the step before.
    Back perStep;
    /// Functions of a state see the same beyond the faces: what one has filled, others find.
    bool hasOneBeyond = true;
    /// The function after which a step's state does not change any more; -1: none.
    int lastWriter = -1;
  };

  /// The boxes are planes: their extent along the slowest dimension does not count.
  OverlappedPlan planes;
  int depth = 1;
  std::int64_t lagPerStep = 0;
  std::vector<std::int64_t> lag;
  std::vector<Ring> rings;
  /// Per function and field: how far back the state lies that it sees, and the one that it makes,
  /// from where the step began.
  std::vector<std::vector<Back>> seen;
  std::vector<std::vector<Back>> made;
  /// Some planes are written where their computation reads.
  bool isShifted = false;
  /// The last step's results go straight to global memory. (Where planes take the places of those
  /// that are read, they are in the first-level cache, and copying them takes no longer.)
  bool isLastStraight = false;
  /// Cells of a plane in local memory.
  std::int64_t planeCells = 1;

  /// Cells of a field's ring beside its planes.
  std::int64_t moreCells(std::size_t field) const { return depth * rings[field].perStep.cells; }
};

/// Throws Refused for programs of one dimension, and as planOverlapped() does.
StreamPlan planStream(const TimeProgram& program, const OverlappedOptions& options);

}  // namespace hpl::strategies::detail
