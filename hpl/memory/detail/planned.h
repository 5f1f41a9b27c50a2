// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "hpl/dry_run/books.h"
#include "hpl/memory/detail/coherence.h"

/// The engine's own entries in the books of a dry run (planned_launch.h). Guarded by the coherence
/// lock.
namespace hpl::memory::detail {

/// An operation takes place; the roots still are as it found them. Launches are kept for
/// takeLaunchStep().
void noteStep(dry_run::Books& books, std::span<RootState* const> roots,
              const coherence::Operation& operation, const coherence::StepPtr& step);

/// The array is no more.
void forgetPlanned(dry_run::Books& books, const RootState& root);

}  // namespace hpl::memory::detail
