// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hpl/ir/detail/interpreter/races.h"
#include "hpl/ir/detail/interpreter/scratch.h"
#include "hpl/ir/detail/interpreter/turns.h"
#include "hpl/ir/interpreter.h"

/// The state of a running interpretation: one batch of work-items that execute in lock-step.
namespace hpl::ir::detail {

/// One byte per work-item of the batch: 1 = active. Rows of `Machine::width` bytes.
using Mask = std::uint8_t*;
using ConstMask = const std::uint8_t*;

/// An array, or a local scalar (no extents).
struct Memory {
  const Variable* variable = nullptr;
  std::byte* base = nullptr;
  std::int64_t elementSize = 0;
  std::vector<std::int64_t> extents;
  /// In elements.
  std::vector<std::int64_t> strides;
  /// Elements that a pointer into it may reach, relative to base: [lowest, end).
  std::int64_t lowest = 0;
  std::int64_t end = 0;
  /// Bytes from one work-item's copy to the next one's; 0 when shared.
  std::int64_t itemStride = 0;
  /// Size of what races are told apart by.
  std::size_t granule = 1;
  std::string label;
  /// The bytes that have been written, in the layout of `base`; null when not tracked.
  std::uint8_t* written = nullptr;

  Space space() const { return variable->space; }
  /// Memory that outlives the work-group and that surplus work-items must not touch.
  bool isGlobal() const { return space() == Space::Global || space() == Space::Constant; }
};

/// Value of an AliasArray.
struct Pointer {
  const Memory* memory = nullptr;
  std::int64_t offset = 0;
};

/// Where a variable lives; all work-items of the batch side by side. Exactly one of data, memory
/// and pointers is set. Recursion does not occur, so that one place per variable is enough.
struct Storage {
  const Variable* variable = nullptr;
  /// Private scalars: one value per work-item.
  std::byte* data = nullptr;
  /// The bytes of `data` that have been written; null when not tracked.
  std::uint8_t* written = nullptr;
  std::int64_t size = 0;
  Memory* memory = nullptr;
  /// Aliases: one per work-item.
  Pointer* pointers = nullptr;
  /// Array parameters of functions: what the running call has passed.
  const Storage* bound = nullptr;

  const Storage& resolved() const { return bound != nullptr ? *bound : *this; }
};

/// Work-items that have left the innermost loop or its current iteration.
struct LoopFrame {
  Mask broken;
  Mask continued;
};

struct Machine {
  Machine(const Kernel& theKernel, const NDRange& theRange, const InterpreterOptions& theOptions)
      : kernel(theKernel), range(theRange), options(theOptions), races(theOptions.detectRaces) {}

  const Kernel& kernel;
  const NDRange& range;
  const InterpreterOptions& options;
  /// Work-items of a batch: one group, or several groups when they cannot interact.
  std::int64_t width = 0;
  Scratch scratch;
  RaceDetector races;
  /// The turns of groups that wait for each other; null: groups run one after the other.
  Turns* turns = nullptr;
  /// Values of each Query and dimension, one per work-item.
  std::uint64_t* ids[kQueries][3] = {};
  /// Work-items that this batch really has, and those outside the global size: the axes along which
  /// they are, as bits.
  Mask present = nullptr;
  Mask surplus = nullptr;
  bool anySurplus = false;
  std::vector<LoopFrame> loops;
  /// Functions being executed, without the entry.
  std::vector<const Function*> calls;
  /// The location of the statement being executed.
  SourceLocation where;

  bool any(ConstMask mask) const;
  /// Are all work-items of the batch active?
  bool full(ConstMask mask) const;
  Mask newMask() { return reinterpret_cast<Mask>(scratch.allocate(width)); }
  Mask copyOf(ConstMask mask);
  /// `mask` without the work-items that are surplus along some of the axes.
  ConstMask withoutSurplus(ConstMask mask, std::uint8_t axes);
  std::byte* newValues(std::int64_t size) { return scratch.allocate(width * size); }
  std::uint64_t groupsIn(int dim) const {
    const auto d = static_cast<std::size_t>(dim);
    return (range.global[d] + range.local[d] - 1) / range.local[d];
  }
  /// The global size rounded up to whole groups: surplus work-items count.
  std::uint64_t paddedSize(int dim) const {
    return groupsIn(dim) * range.local[static_cast<std::size_t>(dim)];
  }
  /// Global id in one number, and the number of its group.
  ItemIdentity identityOf(std::int64_t item) const;
};

/// "work-item (64, 12), blur.cpp:17": the tail of every message. `where` may be unknown; then the
/// running statement's line is given.
std::string describePlace(const Machine& machine, std::int64_t item, SourceLocation where);
/// "(64, 12)"
std::string describeItem(const Machine& machine, std::int64_t item);
std::string describeItem(const Machine& machine, const ItemIdentity& identity);
/// "kernel 'blur'" or "kernel 'blur', function 'weight'".
std::string describeKernel(const Machine& machine);
/// "file:line", "" when unknown.
std::string describeLine(SourceLocation where);
/// "a[12][64]"
std::string describeElement(const std::string& name, const std::vector<std::int64_t>& indices);

}  // namespace hpl::ir::detail
