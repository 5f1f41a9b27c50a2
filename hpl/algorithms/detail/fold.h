// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "hpl/algorithms/detail/fold_kernels.h"
#include "hpl/geometry/box.h"
#include "hpl/launch/eval.h"

/// How a reduction is launched and what it leaves behind, without element types.
namespace hpl::algorithms {

/// A FoldRewriter, which is never destroyed.
const layout::KernelRewriter& newFoldRewriter(Form form);

/// A kernel of a reduction, for one form and walk.
struct FoldEntry {
  launch::EntryHandle kernel;
  /// From newFoldRewriter.
  const layout::KernelRewriter* rewriter = nullptr;
};

/// A reduction that is about to be launched.
struct FoldRequest {
  /// As the program wrote it: "sum".
  const char* name;
  ir::Type state;
  std::size_t stateBytes = 0;
  bool hasPlaces = false;
  /// Makes, or finds, the kernel; `maker` is passed through.
  FoldEntry (*entry)(const void* maker, Form form, Walk walk);
  const void* maker;
  const launch::Argument* arguments;
  std::size_t count;
  /// A bit for each argument whose elements the function changes.
  std::uint64_t updated = 0;
  /// ... that is an array of one element, for all elements of the others.
  std::uint64_t cells = 0;

  bool isUpdated(std::size_t i) const { return (updated >> i & 1U) != 0; }
  bool isCell(std::size_t i) const { return (cells >> i & 1U) != 0; }
  /// Whether the elements of the argument are walked through.
  bool isWalked(std::size_t i) const {
    return arguments[i].kind == launch::Argument::Kind::Array && !isCell(i);
  }
};

/// The part of a reduction that one device combines.
struct FoldPiece {
  runtime::DeviceState* device = nullptr;
  /// Cells of the first array argument, relative to its first cell.
  geometry::Box box;
  std::size_t lanes = 1;
  std::size_t blocks = 1;
  std::shared_ptr<memory::Root> values;
  std::shared_ptr<memory::Root> places;
  /// For CombineKernel on several ranks: its state, and what its partials amount to. Made when they
  /// are needed.
  std::shared_ptr<memory::Root> carried;
  std::shared_ptr<memory::Root> result;

  /// Number of its partials.
  std::size_t cells() const { return lanes * blocks; }
};

/// The partial results of a reduction under way. Kept for the next one that needs the same when it
/// is given back: repetitions make no new arrays.
struct Partials {
  /// As the program wrote the reduction: "sum".
  const char* name = "";
  ir::Type state;
  std::size_t stateBytes = 0;
  bool hasPlaces = false;
  std::vector<FoldPiece> pieces;
  /// Only this rank takes part, as with the arrays that are reduced.
  bool isRankLocal = false;
  /// Extents of the arrays that were reduced.
  geometry::Extents extents;
  /// For CombineKernel: what the devices before have; the result, where it has to pass through a
  /// device. Made when they are needed.
  std::shared_ptr<memory::Root> carried;
  std::shared_ptr<memory::Root> cell;
};
struct GiveBack {
  void operator()(Partials* partials) const noexcept;
};
using PartialsHandle = std::unique_ptr<Partials, GiveBack>;

/// Launches a reduction on the devices where the cells of the first array argument are. Returns at
/// once. Throws ShapeError when the arrays have different extents, ArgumentError when one that is
/// changed shares cells with another, KernelError in a kernel, and what launches throw.
PartialsHandle startFold(const FoldRequest& request);

/// Makes something of the partials of a piece; `places` is null where there are none. Where other
/// ranks take part it runs on a driver's thread, which it must not hold up. Refers to a function.
class PieceDigest {
 public:
  template <class F>
  explicit PieceDigest(const F& f)
      : function_(&f),
        call_([](const void* function, const FoldPiece& piece, const void* values,
                 const void* places, std::byte* out) {
          (*static_cast<const F*>(function))(piece, values, places, out);
        }) {}

  void operator()(const FoldPiece& piece, const void* values, const void* places,
                  std::byte* out) const {
    call_(function_, piece, values, places, out);
  }

 private:
  const void* function_;
  void (*call_)(const void* function, const FoldPiece& piece, const void* values,
                const void* places, std::byte* out);
};
/// Digests each piece to `bytes` bytes, in the order of the pieces and the same on all ranks;
/// waits. Each rank looks at its own pieces, and one allgather brings the rest. Replaces `out`.
void digestPieces(const Partials& partials, std::size_t bytes, const PieceDigest& digest,
                  std::vector<std::byte>& out);

/// Launches combine kernels that leave the result in `cell`, a view of one cell. `result` is the
/// type of the cell. Throws ShapeError when the view has more cells.
void combineInto(Partials& partials, const launch::EntryHandle& kernel, const char* name,
                 memory::View& cell, const ir::Type& result);
/// The same into a cell of the library's own; returns its value; waits. Each of several ranks
/// combines its own pieces; one allgather brings the results, and all ranks combine them.
const void* combineOnDevice(Partials& partials, const launch::EntryHandle& kernel, const char* name,
                            const ir::Type& result, std::size_t resultBytes);

/// The place in the whole arrays of a place in a piece, both in row-major order.
long placeInWhole(const Partials& partials, const FoldPiece& piece, long place);

}  // namespace hpl::algorithms
