// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hpl/coherence/operation.h"
#include "hpl/coherence/state.h"

namespace hpl::coherence {

/// Why cells travel. The transfers of a step are listed in this order of their reasons.
enum class Why {
  Exchange,  ///< Ghosts get their owners' values.
  Save,      ///< The hosts take the only copy of cells before a part overwrites it.
  Contents,  ///< The operation needs the cells there.
  Assign     ///< An assignment's own move. All are read before any is written.
};

/// Distinguishes the two values that a space may have of a cell.
enum class Value {
  OfArray,  ///< The current one.
  OfPart    ///< The kept one where there is one, else the current one.
};

/// Cells that move from one space to another, or within one. The cells were current (or the part's
/// own) in `from` before the operation.
struct Transfer {
  Why why = Why::Contents;
  int fromOperand = 0;
  int toOperand = 0;
  SpaceId from = kHosts;
  SpaceId to = kHosts;
  Value read = Value::OfArray;
  Value written = Value::OfArray;
  /// In the target's coordinates; outside of the root's box: a periodic image.
  geometry::Box target;
  /// From source to target.
  geometry::Point shift;

  geometry::Box source() const { return target.translatedBack(shift); }
  friend bool operator==(const Transfer&, const Transfer&) = default;
};

/// The order in which transfers are listed, and messages of two processes match.
bool precedes(const Transfer& a, const Transfer& b);

/// A list of transfers, packed: it is kept for as long as a step is remembered, and looked at as a
/// whole once.
class TransferList {
 public:
  TransferList() = default;
  /// In the order of precedes().
  explicit TransferList(const std::vector<Transfer>& transfers);

  std::size_t size() const noexcept { return lines_.size(); }
  bool empty() const noexcept { return lines_.empty(); }
  Transfer operator[](std::size_t i) const;
  friend bool operator==(const TransferList&, const TransferList&) = default;

  class Iterator {
   public:
    Iterator(const TransferList& list, std::size_t i) : list_(&list), i_(i) {}
    Transfer operator*() const { return (*list_)[i_]; }
    Iterator& operator++() {
      ++i_;
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const TransferList* list_;
    std::size_t i_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

 private:
  struct Line {
    SpaceId from = kHosts;
    SpaceId to = kHosts;
    std::uint32_t at = 0;  // in coordinates_: target, then shift if there is one
    std::uint8_t fromOperand = 0;
    std::uint8_t toOperand = 0;
    std::uint8_t rank = 0;
    std::uint8_t why : 2 = 0;
    std::uint8_t read : 1 = 0;
    std::uint8_t written : 1 = 0;
    std::uint8_t isShifted : 1 = 0;
    friend bool operator==(const Line&, const Line&) = default;
  };
  std::vector<Line> lines_;
  std::vector<geometry::Index> coordinates_;
};

/// Ghost cells that a launch needs and that are out of date.
struct StaleGhosts {
  int use = 0;
  int part = 0;
  geometry::Region cells;
};

/// A planned operation. Immutable.
struct Step {
  /// Transfers before the operation takes place; for an assignment, all transfers.
  TransferList transfers;
  /// By operand.
  std::vector<StatePtr> after;
  /// By operand: its ghosts were exchanged, perhaps without any transfer.
  std::vector<char> exchanged;
  /// By use of a launch: devices that share the hosts' memory work on it there.
  std::vector<char> worksInHosts;
  /// By use of a launch: where a device has a value of its own for its part, the kernel sees that.
  std::vector<char> seesPart;
  /// By operand: cells that a device kept for its part, and whose value there is the array's from
  /// now on.
  std::vector<std::vector<ExplicitParts::Promotion>> promoted;
  /// Where a fill takes place, or an assignment ends.
  SpaceId site = kHosts;
  /// A fill or an assignment into a device's part: into the part's own copy.
  Value written = Value::OfArray;
  /// By operand: explicit parts that are none any more, for who looks for wrong ghosts.
  std::vector<std::vector<ExplicitParts::Change>> changes;
};

using StepPtr = std::shared_ptr<const Step>;

}  // namespace hpl::coherence
