// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Measured constants of the model of tile_choice.h, as data: one row for each kind of device and
/// way to go through cells.
namespace hpl::stencils {

/// Cycles of one unit; bytes are those that memory moves per cycle of a unit when all units ask for
/// them.
struct DeviceCost {
  double perOperation;
  double perRead;
  double perWrite;
  double bytesPerCycle;
  /// Bytes that storing an element moves for each of its own: caches load what is overwritten.
  double perStoredByte;
  /// To begin a row of vectors, or to wait for the other work-items of a group.
  double perRow;
  double perStep;
  /// The part of local memory that boxes may take, so that the rest of what is at work has a place.
  double usable;
  /// The gain from which on tiling is chosen.
  double worthwhile;
  /// One group computes while memory serves another one.
  bool overlaps;
};

/// One work-item per tile: a vector's operations, loads and stores in the second-level cache,
/// measured on an x86 CPU with 512-bit vectors.
inline constexpr DeviceCost kAlone{0.4, 0.25, 1.2, 11.5, 2, 12, 0, 0.75, 0.93, false};
/// The same for streams of planes, which share most loads, but wait for the planes of each result;
/// for those of rows, which compute each row alone and share none; and for chains, which read rows
/// soon after they were written.
inline constexpr DeviceCost kPlanes{0.1, 0.2, 2.4, 11.5, 2, 12, 0, 0.75, 0.93, false};
inline constexpr DeviceCost kRows{0.4, 1.1, 1.2, 11.5, 2, 12, 0, 0.75, 0.93, false};
inline constexpr DeviceCost kChain{0.37, 0.22, 1.1, 11.5, 2, 12, 0, 0.75, 0.93, false};
/// A group per tile: 128 operations and 32 accesses of local memory per cycle, as GPUs' data sheets
/// have it. On an NVIDIA H200 (perf/RESULTS.md) a copy moves 15.8 bytes, and the sweep of five
/// points takes 0.64 cycles one by one.
inline constexpr DeviceCost kGroup{1.0 / 128, 1.0 / 32, 1.0 / 32, 15, 1, 0, 100, 0.75, 0.75, true};

/// The loss of a core for each plane beyond the next ones that a step by itself reads: blocks of
/// few planes read them again, from far away.
inline constexpr double kPerFarPlane = 0.08;

}  // namespace hpl::stencils
