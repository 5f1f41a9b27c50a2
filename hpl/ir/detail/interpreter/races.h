// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

namespace hpl::ir::detail {

/// A work-item: its position in the NDRange and its group's, each in one number.
struct ItemIdentity {
  std::uint64_t item = 0;
  std::uint64_t group = 0;
};

/// Finds conflicting accesses: the same cell, different work-items, at least one writing, no
/// barrier between them (or different groups, which no barrier orders). Cells are told apart by
/// address, so that overlapping arrays are seen through.
class RaceDetector {
 public:
  enum class Access : std::uint8_t { Read, Write, Atomic };
  /// The earlier access that a new one conflicts with.
  struct Conflict {
    ItemIdentity other;
    bool otherWrites;
  };

  explicit RaceDetector(bool enabled) : enabled_(enabled) {}
  bool enabled() const { return enabled_; }

  /// Records an access of one granule. Local cells and global cells have clocks of their own.
  std::optional<Conflict> access(const std::byte* cell, bool local, ItemIdentity item, Access kind);
  /// A barrier orders what the group did before it in the memories that it fences.
  void barrier(bool fencesLocal, bool fencesGlobal) {
    localEpoch_ += fencesLocal ? 1 : 0;
    globalEpoch_ += fencesGlobal ? 1 : 0;
  }
  /// Another group reuses the local memory.
  void nextGroup() { local_.clear(); }

 private:
  struct Visit {
    ItemIdentity who;
    std::uint64_t epoch = 0;
    bool happened = false;
    bool atomic = false;
  };
  /// Groups run one after the other, so that the first reader and the last two different ones
  /// suffice to know whether anybody else has read the cell since the last barrier.
  struct Cell {
    Visit writer;
    Visit firstReader;
    Visit reader;
    Visit otherReader;
  };
  static bool conflicts(const Visit& earlier, ItemIdentity now, std::uint64_t epoch) {
    return earlier.happened && earlier.who.item != now.item &&
           (earlier.who.group != now.group || earlier.epoch == epoch);
  }

  bool enabled_;
  std::unordered_map<const std::byte*, Cell> local_;
  std::unordered_map<const std::byte*, Cell> global_;
  std::uint64_t localEpoch_ = 0;
  std::uint64_t globalEpoch_ = 0;
};

}  // namespace hpl::ir::detail
