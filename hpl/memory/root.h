// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "hpl/geometry/box.h"
#include "hpl/geometry/region.h"
#include "hpl/ir/type.h"
#include "hpl/memory/view.h"

/// Replicas, validity and transfers of arrays (DESIGN.md section 4), without element types: an
/// element is its size and its ir::Type.
namespace hpl::memory {

namespace detail {
struct RootState;
}

/// How the host's copy of an array is stored.
enum class HostMemory : std::uint8_t {
  /// 128-byte aligned memory of our own.
  Plain,
  /// The same, page-locked through the default GPU where there is one: transfers are faster.
  Fast,
  /// None until the host, or a device that works in the host's memory, needs it.
  None
};

/// The options with which an array is made.
struct RootOptions {
  /// Number of elements in each dimension, 1 to 8 of them; the last dimension is contiguous.
  geometry::Extents shape;
  /// Bytes of one element.
  std::size_t elementSize = 0;
  ir::Type type;
  /// Name in errors, profiles and traces; may be empty.
  std::string label;
  HostMemory hostMemory = HostMemory::Plain;
  /// The caller's storage for all elements, or null. It is used instead of memory of our own, never
  /// freed, holds the array's initial contents, and is current again when the array dies.
  void* userMemory = nullptr;
  /// Memory that the copies of the host and of devices that work in its memory lie in, aligned for
  /// those (runtime::DeviceState::hostAlignment); null: none. Unlike the caller's storage it has no
  /// contents at first, and none are owed at the end.
  std::shared_ptr<std::byte> commonBlock = nullptr;
  /// The library's own: not among the arrays that ranks count.
  bool isInternal = false;
  /// Only this rank has the array (HPL_RANK_LOCAL); of no effect where there are no other ranks.
  bool isRankLocal = false;
};

/// An array: shape, element type and, for every cell, the memory spaces that hold its current
/// value. Contents that were never written are unspecified and never transferred.
///
/// Distinct roots may be used from several threads at the same time, and so may one root as long as
/// no thread writes it; everything else needs the program's own synchronisation.
class Root : public std::enable_shared_from_this<Root> {
  struct Key {};

 public:
  /// Makes an array. Throws ShapeError for no or more than 8 dimensions, extents that are not
  /// positive, or more bytes than a machine can address; AllocationError when the host's memory is
  /// exhausted.
  static std::shared_ptr<Root> create(RootOptions options);

  /// For create() only.
  Root(Key, RootOptions options);
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;
  /// Brings user memory up to date and waits for whatever still uses the host's copy. Never throws:
  /// what goes wrong is logged.
  ~Root();

  const geometry::Extents& shape() const noexcept { return options_.shape; }
  int rank() const noexcept { return options_.shape.rank(); }
  /// Number of elements.
  std::size_t size() const noexcept { return size_; }
  std::size_t bytes() const noexcept { return size_ * options_.elementSize; }
  std::size_t elementSize() const noexcept { return options_.elementSize; }
  const ir::Type& type() const noexcept { return options_.type; }
  /// Whether the storage is the caller's.
  bool hasUserMemory() const noexcept { return options_.userMemory != nullptr; }

  /// RootOptions::commonBlock.
  std::byte* commonBlock() const noexcept { return options_.commonBlock.get(); }

  /// Whether the array is this rank's alone, and other ranks know nothing of it.
  bool isRankLocal() const noexcept { return options_.isRankLocal; }

  const std::string& label() const noexcept { return options_.label; }
  /// Not to be called while other threads use the array.
  void setLabel(std::string label);
  /// `array "height"`, or `unnamed array` when there is no label; for messages.
  std::string describe() const;

  /// The view of all cells.
  View& whole() noexcept { return *whole_; }
  /// The view of a box in the root's coordinates; `View::subView` reports bad ones.
  View& view(const geometry::Box& box);
  /// The view of a box, in the root's coordinates, within another view.
  View& view(View& parent, const geometry::Box& box);
  /// The same for View::viewFor.
  ViewHold viewForProgram(View& parent, const geometry::Box& box);
  /// The view of cells of `box`, a view that is one.
  ViewHold mappedForProgram(View& box, const ViewCells& cells);

  /// Host pointer to the first cell of `box` after making the box current for reading and, if
  /// asked, for writing; rows of the box are apart as `whole().strides` says. The guarantee lasts
  /// until a device is given one of the cells.
  void* hostData(const geometry::Box& box, bool forWriting, bool discardOld = false);

  /// The cells that have a value because they were written, or because they are the caller's.
  geometry::Region written() const;

  /// Changes, to a value that no root ever had, whenever validity, replicas or host access change.
  /// Read it under the coherence lock (detail::Transaction).
  std::uint64_t epoch() const noexcept { return epoch_; }

  /// The engine's own data.
  detail::RootState& state() noexcept { return *state_; }

 private:
  friend struct detail::RootState;

  RootOptions options_;
  std::size_t size_ = 0;
  std::uint64_t epoch_ = 0;
  std::unique_ptr<detail::RootState> state_;
  View* whole_ = nullptr;
};

}  // namespace hpl::memory
