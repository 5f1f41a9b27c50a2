// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "hpl/coherence/step.h"
#include "hpl/dry_run/books.h"

namespace hpl::launch {

struct Launchable;

/// The entries of a plan in the books of a dry run. Made by its first launch; guarded by the
/// coherence lock.
struct DryLaunch {
  dry_run::Operation operation;  ///< without messages
  std::vector<std::uint64_t> arrays;
  /// The last few steps and their numbers in the books; a null step moves nothing.
  std::vector<std::pair<coherence::StepPtr, int>> known;
  std::size_t oldest = 0;
};

/// A launch of the plan has been planned, on one device or several. To be called under the lock
/// under which that was done.
void noteLaunch(dry_run::Books& books, Launchable& plan);

}  // namespace hpl::launch
