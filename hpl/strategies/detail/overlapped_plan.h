// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "hpl/strategies/overlapped.h"

/// The facts about a time-tiled kernel that are known before any code is written.
namespace hpl::strategies::detail {

/// The most rows that a function computes at once.
inline constexpr int kMostRows = 8;

struct FieldPlan {
  /// The kernel reads it from global memory, or writes it there: it has no box.
  bool isGlobal = false;
  /// A function reads its neighbours while it writes it: old and new cells are kept apart, in two
  /// boxes, unless the box slides.
  bool hasTwo = false;
  /// Further rows (planes, in three dimensions) for which one box has room: new rows are written
  /// where old ones are that no row to come reads, that much higher and lower by turns. 0: it does
  /// not slide.
  std::int64_t slide = 0;
  /// Functions that write it.
  int writers = 0;
};

struct OverlappedPlan {
  std::vector<FieldPlan> fields;
  /// By stage: the box that it computes when a given number of steps is to follow, and whether it
  /// does so in the last step only.
  std::vector<LinearGrowth> boxes;
  std::vector<bool> isOfLastStep;
  /// The cells that are loaded for one step, and for each further one.
  LinearGrowth halo;
  std::array<bool, 3> isPeriodic{};
  /// Extents of the boxes in local memory, and where the tile begins in them.
  std::array<std::int64_t, 3> extent{1, 1, 1};
  std::array<std::int64_t, 3> margin{};

  /// Whether the stage keeps the field's old cells while it writes new ones.
  static bool swaps(const TimeStage& stage, int field);
  /// The farthest row that the stage reads of fields that it swaps.
  static std::int64_t rowsReach(const TimeStage& stage);
};

/// The cells that are read around a cell, those that mirrors show among them.
std::array<ir::Interval, 3> reachOf(const TimeRead& read);

/// Throws Refused where faces are periodic for some functions only.
OverlappedPlan planOverlapped(const TimeProgram& program, const OverlappedOptions& options);

}  // namespace hpl::strategies::detail
