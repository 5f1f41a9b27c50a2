// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "hpl/coherence/distribution.h"
#include "hpl/coherence/trust.h"

/// Operations of a program on arrays, as values. An operation names its arrays by position: operand
/// 0, 1, ... of the states that it is planned for. Boxes are in the coordinates of the whole array.
namespace hpl::coherence {

/// Most arrays of one operation.
inline constexpr int kMostOperands = 256;

/// How a launch uses an array: on one device, or on each device that has a part of a distribution.
struct Use {
  int operand = 0;
  bool reads = false;
  bool writes = false;
  /// The launch provably writes every cell, so the old contents are not needed. A write without it
  /// needs them, because cells that stay unwritten keep their values.
  bool overwrites = false;
  /// Each device of this annotated distribution works on its part. Null: `device` works on `cells`.
  DistributionPtr distribution = nullptr;
  SpaceId device = kHosts;
  /// For a slice that is only read they may lie beyond the ends of the array, up to one period:
  /// they are images of those of the other end (images.h).
  geometry::Box cells = {};
  /// The cells among these that the launch reads, where they are not all: the others need no
  /// values. Empty: all. Only of a use that does not write.
  geometry::Region touched = {};
  /// The cells are an explicit subarray: launches that write such views on several devices amount
  /// to a distribution.
  bool isView = false;
  /// The cells are a slice that the library made of an argument without annotation.
  bool isSlice = false;
  /// The views from which an explicit subarray was made.
  std::vector<geometry::Box> madeFrom = {};
  /// The accesses of the kernel to the cells of a part; null: they are unknown.
  std::shared_ptr<const PartFacts> facts = nullptr;

  friend bool operator==(const Use& a, const Use& b);
};
bool operator==(const Use& a, const Use& b);

/// A kernel on one or several devices. A use that neither reads nor writes is an argument that the
/// kernel does not touch. Uses of one device are one kernel's; of two devices that
/// write one cell, the one listed later counts.
struct Launch {
  std::vector<Use> uses;
  friend bool operator==(const Launch&, const Launch&) = default;
};

/// Brings every ghost cell of all operands that is out of date up to date: `syncGhosts(a, b)`.
struct Exchange {
  int operands = 1;
  friend bool operator==(const Exchange&, const Exchange&) = default;
};

/// One side of an assignment.
struct ViewOf {
  geometry::Box box;
  /// The views that it was made from. Where one of them is some device's part of a distribution
  /// with ghosts, the view means that device's copy and no other (docs/ghost-regions.md).
  std::vector<geometry::Box> madeFrom = {};
  friend bool operator==(const ViewOf&, const ViewOf&) = default;
};

/// Assigns the cells of a view of operand `source` to a view of operand 0, as if through a
/// temporary where they overlap.
struct Copy {
  ViewOf to;
  int source = 1;
  ViewOf from;
  friend bool operator==(const Copy&, const Copy&) = default;
};

/// Sets every cell of a view to one value.
struct Fill {
  ViewOf to;
  friend bool operator==(const Fill&, const Fill&) = default;
};

/// The host reads a box, or all ranks do.
struct HostRead {
  geometry::Box box;
  friend bool operator==(const HostRead&, const HostRead&) = default;
};

/// The host writes a box: all of it (`overwrites`), or some cells.
struct HostWrite {
  geometry::Box box;
  bool overwrites = false;
  friend bool operator==(const HostWrite&, const HostWrite&) = default;
};

/// Cells that the process of a device reads or writes as the ones that it owns.
struct LocalCells {
  SpaceId device = kHosts;
  geometry::Box cells;
  friend bool operator==(const LocalCells&, const LocalCells&) = default;
};

/// Each process reads, or writes some of, the cells of its own devices, in its own memory: it takes
/// those that the hosts do not have from the device, and what it writes goes there. So a value that
/// only one process has is a device's, never the hosts'. Nothing travels as long as the device or
/// the hosts have the cells.
struct LocalAccess {
  std::vector<LocalCells> parts;  ///< Disjoint.
  bool writes = false;
  friend bool operator==(const LocalAccess&, const LocalAccess&) = default;
};

/// The program cuts the array anew, without a launch.
struct NewCut {
  DistributionPtr distribution;
  friend bool operator==(const NewCut& a, const NewCut& b);
};
bool operator==(const NewCut& a, const NewCut& b);

/// The array dies. Memory of the user's gets all that has a value.
struct ArrayDeath {
  bool hasUserMemory = false;
  friend bool operator==(const ArrayDeath&, const ArrayDeath&) = default;
};

/// A device was lost with all that it had.
struct DeviceDeath {
  SpaceId device = kHosts;
  std::string why = {};  ///< A clause of a sentence; empty: "device 3 was lost".
  friend bool operator==(const DeviceDeath&, const DeviceDeath&) = default;
};

/// One of these. Immutable, with a hash that is a function of its values; made once and planned
/// many times. Throws ArgumentError for what no arrays could make right: an operand of a negative
/// number, an exchange of nothing, local cells of no device or of two, sides of different extents
/// (ShapeError).
class Operation {
 public:
  using Kind = std::variant<Launch, Exchange, Copy, Fill, HostRead, HostWrite, NewCut, ArrayDeath,
                            DeviceDeath, LocalAccess>;

  explicit Operation(Kind kind);

  const Kind& kind() const noexcept { return kind_; }
  /// How many states it is planned for.
  int operandCount() const noexcept { return operands_; }
  /// "launch", "exchange", ...
  const char* name() const noexcept;
  std::size_t hash() const noexcept { return hash_; }
  friend bool operator==(const Operation& a, const Operation& b) {
    return &a == &b || (a.hash_ == b.hash_ && a.kind_ == b.kind_);
  }

 private:
  Kind kind_;
  int operands_ = 1;
  std::size_t hash_ = 0;
};

using OperationPtr = std::shared_ptr<const Operation>;

/// An operation to be planned.
inline OperationPtr operation(Operation::Kind kind) {
  return std::make_shared<const Operation>(std::move(kind));
}

}  // namespace hpl::coherence
