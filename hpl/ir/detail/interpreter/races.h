// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "hpl/ir/detail/interpreter/turns.h"

namespace hpl::ir::detail {

/// A work-item: its position in the NDRange and its group's, each in one number.
struct ItemIdentity {
  std::uint64_t item = 0;
  std::uint64_t group = 0;
};

/// Finds conflicting accesses: the same cell, different work-items, at least one writing, no
/// barrier between them. Nothing orders different groups, unless they run in turns: then a release
/// orders what came before it for those who acquire it. Cells are told apart by address, so that
/// overlapping arrays are seen through.
class RaceDetector {
 public:
  enum class Access : std::uint8_t { Read, Write, Atomic };
  /// The earlier access that a new one conflicts with.
  struct Conflict {
    ItemIdentity other;
    bool otherWrites;
  };

 private:
  struct Visit {
    ItemIdentity who;
    std::uint64_t epoch = 0;
    bool happened = false;
    bool atomic = false;
    /// The group's own clock, where groups run in turns.
    std::uint64_t time = 0;
  };
  /// Where groups run one after the other, the first reader and the last two different ones suffice
  /// to know whether anybody else has read the cell since the last barrier.
  struct Cell {
    Visit writer;
    Visit firstReader;
    Visit reader;
    Visit otherReader;
    /// Where they run in turns: the last reader of each group that has read it.
    std::vector<Visit> readers;
  };

 public:
  /// The state that detectors of groups that run in turns share.
  struct Shared {
    explicit Shared(std::size_t groups) : knowledge(groups) {}
    Knowledge knowledge;
    std::unordered_map<const std::byte*, Cell> cells;
  };

  explicit RaceDetector(bool enabled) : enabled_(enabled) {}
  bool enabled() const { return enabled_; }
  void share(Shared* shared) { shared_ = shared; }

  /// Records an access of one granule. Local cells and global cells have clocks of their own.
  std::optional<Conflict> access(const std::byte* cell, bool local, ItemIdentity item, Access kind);
  /// A barrier orders what the group did before it in the memories that it fences.
  void barrier(bool fencesLocal, bool fencesGlobal) {
    localEpoch_ += fencesLocal ? 1 : 0;
    globalEpoch_ += fencesGlobal ? 1 : 0;
  }
  /// Another group reuses the local memory.
  void nextGroup() { local_.clear(); }
  /// An atomic store or load of a global cell.
  void stored(const std::byte* cell, ItemIdentity item, bool releases) {
    if (shared_ != nullptr) shared_->knowledge.store(cell, item.group, releases);
  }
  void acquired(const std::byte* cell, ItemIdentity item) {
    if (shared_ != nullptr) shared_->knowledge.acquire(cell, item.group);
  }

 private:
  bool conflicts(const Visit& earlier, ItemIdentity now, std::uint64_t epoch) const;
  void noteReader(Cell& cell, const Visit& visit, bool inTurns) const;

  bool enabled_;
  Shared* shared_ = nullptr;
  std::unordered_map<const std::byte*, Cell> local_;
  std::unordered_map<const std::byte*, Cell> global_;
  std::uint64_t localEpoch_ = 0;
  std::uint64_t globalEpoch_ = 0;
};

}  // namespace hpl::ir::detail
