// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "hpl/ir/detail/interpreter/machine.h"
#include "hpl/ir/surplus.h"

/// A kernel prepared for execution: variables are resolved to storage, operations to functions.
namespace hpl::ir::detail {

/// A prepared expression.
class ExprCode {
 public:
  ExprCode(const Type& type, SourceLocation where)
      : type_(type), where_(where), size_(static_cast<std::int64_t>(sizeOf(type))) {}
  virtual ~ExprCode() = default;
  ExprCode(const ExprCode&) = delete;
  ExprCode& operator=(const ExprCode&) = delete;
  /// Values of all work-items, one after the other at `size()` bytes; those of inactive ones are
  /// arbitrary. They lie in storage or on the scratch stack: valid until the next statement.
  virtual const std::byte* eval(Machine& machine, ConstMask active) const = 0;

  const Type& type() const { return type_; }
  SourceLocation where() const { return where_; }
  std::int64_t size() const { return size_; }

 private:
  Type type_;
  SourceLocation where_;
  std::int64_t size_;
};
using ExprPtr = std::unique_ptr<ExprCode>;

/// A prepared statement.
class StmtCode {
 public:
  explicit StmtCode(SourceLocation where) : where_(where) {}
  virtual ~StmtCode() = default;
  StmtCode(const StmtCode&) = delete;
  StmtCode& operator=(const StmtCode&) = delete;
  /// Executes for the active work-items; clears those that do not continue with the next statement
  /// (break, continue, return).
  virtual void exec(Machine& machine, Mask active) const = 0;
  SourceLocation where() const { return where_; }

 private:
  SourceLocation where_;
};
using StmtPtr = std::unique_ptr<StmtCode>;
using BlockCode = std::vector<StmtPtr>;

/// Executes a block until no work-item is left.
void execBlock(Machine& machine, const BlockCode& block, Mask active);

/// A part of a value: where it lies in the element that contains it and in the value itself.
/// Padding belongs to no piece.
struct Piece {
  std::uint32_t offset;
  std::uint32_t valueOffset;
  std::uint32_t size;
};
using Pieces = std::vector<Piece>;
/// The pieces of a whole value; one unless it is a struct with padding.
Pieces wholePieces(const Type& type);

/// A prepared array access.
struct AccessCode {
  const Storage* storage = nullptr;
  std::vector<ExprPtr> indices;
  /// Access::written, and the extents that these have to be below.
  std::vector<ExprPtr> written;
  std::vector<std::int64_t> viewExtents;
  /// Neighbours along the last dimension that are accessed together.
  std::int64_t lanes = 1;
  /// Access::isAligned; counted from the array's first element.
  bool isAligned = false;
  /// Surplus work-items outside along one of these axes (bits) do not touch global memory; others
  /// do within the array.
  std::uint8_t surplusAxes = kAllAxes;
  SourceLocation where;
};

/// The elements that the work-items of a batch access; `memories` where `uniform` is null.
struct Locations {
  const Memory* uniform = nullptr;
  const Memory* const* memories = nullptr;
  const std::int64_t* offsets = nullptr;
  /// The active work-items without the surplus ones that must not touch this memory.
  ConstMask touched = nullptr;
  const AccessCode* access = nullptr;

  const Memory& memory(std::int64_t item) const {
    return uniform != nullptr ? *uniform : *memories[item];
  }
  /// Position in memory, in bytes from the memory's base.
  std::int64_t position(std::int64_t item) const {
    const Memory& m = memory(item);
    return item * m.itemStride + offsets[item] * m.elementSize;
  }
  std::byte* address(std::int64_t item) const { return memory(item).base + position(item); }
};

/// Evaluates the indices and checks them; throws hpl::BoundsError.
Locations locate(Machine& machine, ConstMask active, const AccessCode& access);
/// The same without checks, for binding aliases: nothing is touched yet.
void locateUnchecked(Machine& machine, ConstMask active, const AccessCode& access, Pointer* result);
/// Copies pieces of the elements into values of `size` bytes; surplus work-items get zeros.
void load(Machine& machine, const Locations& places, const Pieces& pieces, std::byte* values,
          std::int64_t size);
/// Copies values of `size` bytes into the pieces of the elements.
void store(Machine& machine, const Locations& places, const Pieces& pieces, const std::byte* values,
           std::int64_t size);
/// Tells the race detector, if it is on, that `item` accesses `size` bytes of `memory`.
void reportAccess(Machine& machine, const Locations& places, std::int64_t item, Piece piece,
                  RaceDetector::Access kind);
/// Throws hpl::KernelError if `pieces` of the element at `written` have not all been written.
void checkWritten(const Machine& machine, const std::uint8_t* written, const Pieces& pieces,
                  const std::string& name, std::int64_t item, SourceLocation where);

}  // namespace hpl::ir::detail
