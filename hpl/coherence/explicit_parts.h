// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hpl/coherence/distribution.h"

namespace hpl::coherence {

/// A view that a launch writes on a device.
struct WrittenView {
  SpaceId device = kHosts;
  geometry::Box box;
  /// The views that it was made from: `a(part)(piece)` was made from the part.
  std::vector<geometry::Box> madeFrom = {};
};

/// The views of an array that devices have written, from which explicit distributions follow. Only
/// launches that write make a view a part: a device that only reads another one's cells wants their
/// present values. A value: rounds are numbered by their order alone, so the parts of a program
/// that repeats its launches repeat, too.
///
/// Launches come in rounds: one belongs to the round under way as long as it writes some cell that
/// the round has not written yet; else it begins the next round.
/// - A written view becomes a part of its device, which gives up its parts of earlier rounds, and
///   those that the view overlaps. The same view on another device has moved.
/// - Parts of different devices that overlap so that neither contains the other
///   (geometry::areGhostNeighbours) meet when a round writes some cell on both. They have ghosts of
///   each other from then on. All others are sequentially consistent. So no update of a program
///   is lost that writes each cell once in a round.
/// - A relation lapses where a third device takes a view of common cells, or where the other part
///   was taken, in a round in which the part was not written. A part that is written only after
///   that round is taken anew.
/// - A view that lies in a part of its device is a piece of it. It is a view of its own when it
///   lacks cells that the part shares with a neighbour, was not made from the part
///   (`a(part)(piece)`), and one of these shows that the program cuts the array anew: the neighbour
///   took its view in this round, while the part has not been written; both divide what they share;
///   the device wrote this piece, and nothing else of its part, in the last round, too.
/// - The views that one launch writes are one cut: when one of them is new, none is a mere piece.
/// - A write of the whole array ends the parts, unless the next launch goes on with the round or
///   writes one of them again.
class ExplicitParts {
 public:
  /// Cells that a device wrote as ghosts of its part, and that turn out to be its own.
  struct Promotion {
    SpaceId device = kHosts;
    geometry::Region cells;
  };
  /// A part that is one no more, and the view of its device that took its place (rank 0: none).
  struct Change {
    SpaceId device = kHosts;
    geometry::Box before;
    geometry::Box now;
  };
  struct Outcome;

  /// No parts yet, of an array with these cells.
  explicit ExplicitParts(const geometry::Box& root) : root_(root) {}

  /// The outcome for the parts of a launch that writes these views.
  Outcome after(std::span<const WrittenView> written) const;
  /// The same parts after a write of the whole array.
  ExplicitParts ended() const;
  bool isEnded() const noexcept { return isEnded_; }
  bool empty() const noexcept { return known_.empty(); }
  /// The present parts; null when there are none.
  const DistributionPtr& distribution() const noexcept { return current_; }

  std::size_t hash() const noexcept;
  friend bool operator==(const ExplicitParts& a, const ExplicitParts& b);

 private:
  // Numbers of rounds and parts are compared, never counted: see renumber().
  struct Known {
    SpaceId device = kHosts;
    geometry::Box box;
    geometry::Box last;  // around what the device wrote of it in its last round
    int id = 0;
    int taken = 0;              // the round that made it a part
    int round = 0;              // the last one that wrote it or a piece of it
    std::vector<int> met = {};  // the parts that it has met, by id
    friend bool operator==(const Known&, const Known&) = default;
  };
  // More than the views of a round of most programs.
  static constexpr std::size_t kMostCovered = 64;
  struct Covered {
    SpaceId device = kHosts;  // the hosts: some device, and no present part has the cells
    geometry::Box box;
    friend bool operator==(const Covered&, const Covered&) = default;
  };

  const Known* partWith(const WrittenView& view) const;
  bool isCovered(const geometry::Box& box, std::size_t from) const;
  bool beginsRound(std::span<const WrittenView> written) const;
  static bool mayMeet(const Known& a, const Known& b);
  void meet(Known& known, const geometry::Box& box);
  bool hasLapsed(const Known& part, const geometry::Box& shared) const;
  bool areRelated(const Known& a, const Known& b) const;
  bool isGivenUp(const Known& part) const;
  geometry::Region coreOf(const Known& known) const;
  bool cutsAnew(const geometry::Box& piece, const Known& of, const Known& neighbour) const;
  bool isPiece(const WrittenView& view, const Known& of, int now) const;
  bool areParts(std::span<const WrittenView> written, int now) const;
  void write(Known& known, const geometry::Box& box);
  void beginRound();
  void shrink(Known& known);
  void become(const WrittenView& view, std::span<const WrittenView> written);
  void add(std::span<const WrittenView> written, bool hasEnded);
  void distribute();
  void mergeCovered();
  void renumber();
  std::vector<Promotion> promotionsSince(const ExplicitParts& before,
                                         std::span<const WrittenView> written) const;
  std::vector<Change> changesSince(const ExplicitParts& before,
                                   std::span<const WrittenView> written) const;

  geometry::Box root_;
  std::vector<Known> known_;
  int round_ = 1;
  int lastId_ = 0;
  std::vector<Covered> covered_;  // what the round has written
  bool isEnded_ = false;
  DistributionPtr current_;  // part i is known_[i]
};

/// The parts after a launch.
struct ExplicitParts::Outcome {
  ExplicitParts parts;
  std::vector<Promotion> promotions = {};
  /// Knowledge of before that no longer holds.
  std::vector<Change> changes = {};
};

}  // namespace hpl::coherence
