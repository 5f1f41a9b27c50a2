// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace hpl::topology {

/// Logical processors of a machine, counted so that those of a core, of a cache and of a NUMA
/// domain follow each other.
struct CoreRange {
  unsigned first = 0;
  unsigned count = 0;
};

/// Binds the threads of this process to `own` of the machine's `all` logical processors: those that
/// it has and those that they start. False, and nothing is bound: the process may not run on all of
/// them, as some launcher or thread has bound it before, or the library was built without hwloc.
bool bindToCores(std::span<const CoreRange> own, unsigned all);

/// The threads may run on all processors again. After a bindToCores() that returned true.
void unbindFromCores();

}  // namespace hpl::topology
