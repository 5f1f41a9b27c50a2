// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/memory/operations.h"
#include "hpl/ranks/world.h"

/// The engine's own exchanges with other ranks, beside its messages.
namespace hpl::memory::detail {

/// The ranks of this program; null: this process is alone, or the program is only planned.
ranks::World* otherRanks() noexcept;

/// Tells all ranks that `other`, of rank `from`, is something else than this rank's `own`.
void failDiverged(const ranks::OperationMark& own, const ranks::OperationMark& other,
                  int from) noexcept;

}  // namespace hpl::memory::detail
