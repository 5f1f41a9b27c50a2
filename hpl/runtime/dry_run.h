// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "hpl/runtime/settings.h"

namespace hpl::dry_run {
class Books;
}

namespace hpl::runtime {

inline constinit std::atomic<dry_run::Books*> dryRunBooks{nullptr};

/// The books of this process's dry run (HPL_DRY_RUN), made with the list of devices and never
/// destroyed; null: the program runs on devices. Guarded by the engine's lock.
inline dry_run::Books* booksOfDryRun() noexcept {
  return dryRunBooks.load(std::memory_order_acquire);
}

/// Whether the program is only planned.
inline bool isDryRun() { return !settings().dryRun.empty(); }

}  // namespace hpl::runtime
