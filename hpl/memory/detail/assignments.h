// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "hpl/memory/detail/recording.h"

namespace hpl::memory::detail {

/// The views that a view was made from, as operations name them.
std::vector<Box> madeFrom(const View& view);

/// An assignment between two views, and what is known of how it went before.
struct Assignment {
  Assignment(View& dst, View& src);

  bool isBetween(const View& dst, const View& src) const;
  /// By operand.
  std::span<RootState* const> roots() const { return {rootList.data(), rootCount}; }
  /// Repeats what an assignment that found the arrays like this did; false: it is not known.
  bool repeat(Lock& lock);

  // Only the addresses are left of an array that is gone. The operation knows its extents.
  ViewHold dst;
  ViewHold src;
  Box dstBox, srcBox;
  std::array<RootState*, 2> rootList;
  std::size_t rootCount;
  coherence::OperationPtr operation;
  Recordings recordings;
};

/// The last few assignments to views of one root. Guarded by the coherence lock.
class AssignmentMemory {
 public:
  std::shared_ptr<Assignment> of(View& dst, View& src);

 private:
  // More than a step by hand of an array on a few devices makes.
  static constexpr std::size_t kMostKnown = 32;

  std::vector<std::shared_ptr<Assignment>> known_;
  std::size_t next_ = 0;  // to be replaced
};

/// The memory of a view's root, made if need be.
AssignmentMemory& assignmentsTo(const View& dst);

}  // namespace hpl::memory::detail
