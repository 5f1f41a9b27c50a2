// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "cells.h"
#include "kernels.h"

namespace programs {

/// How a part stands to one of its ghosts.
enum class Ghost : unsigned char {
  Ordinary,  ///< has the owner's value whenever it is read
  Kept,      ///< has a value of its own
  Unclear    ///< one or the other: the documentation leaves it open
};

/// The meaning of a view of a view with a part's cells.
enum class Naming {
  Part,    ///< the part's copy
  Array,   ///< the array, as for any view
  Unclear  ///< one or the other
};

/// The values that are expected in the ghosts that a launch reads.
enum class Belief {
  Actual,  ///< what is there
  Owners,  ///< the owners' values
  Either   ///< what is there where an exchange would change nothing; else nobody knows
};

/// An array as docs/ghost-regions.md describes it: one value per cell, which its owner has, and
/// what parts keep in their ghosts.
class Field {
 public:
  explicit Field(const Box& whole);

  const Box& whole() const { return whole_; }
  unsigned value(const Point& p) const { return values_[whole_.offset(p)]; }
  bool isSplitAs(const Split& split) const { return !split_.empty() && split_ == split; }
  const Split& split() const { return split_; }
  /// Whether a view of a view with these cells names part number `part` of the present split.
  Naming namingOf(std::size_t part) const;

  /// The program writes a cell other than by a launch on parts; the parts' ghosts forget theirs.
  void write(const Point& p, unsigned value);
  /// A launch or an assignment may have written these cells; the ones that it wrote were noted by
  /// write().
  void mayHaveWritten(const Box& box);
  /// A view becomes a part of its own; it is unknown whether the others go on.
  void mayHaveEnded();
  /// The library distributes a launch that writes the array. `certain`: over several devices.
  void noteDivided(bool certain) { naming_ = certain ? Naming::Array : Naming::Unclear; }
  void syncGhosts();
  /// Another split; nothing is in its ghosts.
  void adopt(const Split& split);

  /// The value that part number `part` of a split finds in one of its cells.
  Cell seen(const Split& split, std::size_t part, const Point& p, Belief belief) const;
  /// Whether part number `part` may find something else than its owner's value in these cells.
  bool mayBeStale(const Split& split, std::size_t part, const Box& cells) const;
  /// A launch writes the parts of the present split.
  void noteLaunch() { naming_ = Naming::Part; }
  /// A launch on part number `part` of the present split leaves this in a cell of the core.
  void setCore(const Point& p, unsigned value) { values_[whole_.offset(p)] = value; }
  /// And this in a ghost.
  void setGhost(std::size_t part, const Point& p, const Cell& cell);
  /// AUTO_SYNC may have brought the ghosts up to date.
  void mayHaveSynced();
  /// The program writes into a core through a view of its part; others learn of it later.
  void writeThroughPart(const Point& p, unsigned value);

 private:
  struct Kept {
    Ghost state = Ghost::Ordinary;
    unsigned value = 0;
  };
  Kept& ghost(std::size_t part, const Point& p) { return ghosts_[part][whole_.offset(p)]; }
  const Kept& ghost(std::size_t part, const Point& p) const {
    return ghosts_[part][whole_.offset(p)];
  }

  Box whole_;
  std::vector<unsigned> values_;
  Split split_;
  /// The meaning of such views, unless several parts have the same cells.
  Naming naming_ = Naming::Unclear;
  /// By part, one for each cell of the array.
  std::vector<std::vector<Kept>> ghosts_;
};

/// An array argument that is split.
struct PartArgument {
  Field* field = nullptr;  ///< null: the kernel has no such argument
  Split split;
  bool autoSync = false;
};

/// A launch on parts.
class PartLaunch {
 public:
  /// `c`, `d`: one per part.
  PartLaunch(Work work, int dims, const PartArgument& out, const PartArgument& in,
             const std::vector<unsigned>& c, const std::vector<unsigned>& d);

  /// Whether the documentation says which values come out.
  bool isDefined() const { return defined_; }
  /// Whether a core cell gets another value than it would if all ghosts were up to date.
  bool isWrong() const { return wrong_; }
  /// Whether a core cell may be computed from a ghost that is out of date.
  bool mayBeWrong() const { return mayBeWrong_; }
  /// The launch takes place.
  void commit() const;

 private:
  std::vector<Cell> run(std::size_t part, Belief out, Belief in) const;
  static Belief coreBelief(const PartArgument& a) {
    return a.autoSync ? Belief::Owners : Belief::Actual;
  }
  static Belief ghostBelief(const PartArgument& a) {
    return a.autoSync ? Belief::Either : Belief::Actual;
  }

  Work work_;
  int dims_;
  PartArgument out_, in_;
  std::vector<unsigned> c_, d_;
  /// By part, row by row: what cores and what ghosts hold afterwards.
  std::vector<std::vector<Cell>> cores_, ghosts_;
  bool defined_ = true, wrong_ = false, mayBeWrong_ = false;
};

/// A launch on views that are one whole: `out` of shape `outBox` in its field, `in` likewise.
void launchOnWhole(Work work, int dims, Field& out, const Box& outBox, const Field* in,
                   const Box& inBox, unsigned c, unsigned d);

/// The cells that a kernel may read to compute those of `core`, of an array split alike.
Box neededFor(Work work, int dims, const Box& core, const Box& full);

}  // namespace programs
