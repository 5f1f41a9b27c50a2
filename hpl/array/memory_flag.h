// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hpl {

/// Where an array lives on the device. Arrays declared in a kernel with the default (Global) are
/// private to the work-item.
enum MemoryFlag : int { Global, Local, Constant, Private };

/// Host storage of an array.
enum HostMemory : unsigned {
  /// Pinned memory, for faster transfers.
  HPL_FAST_MEM = 1,
  /// No host copy until the host asks for one.
  HPL_NOHOST_MEM = 2,
  /// Only this rank has the array: no operation on it involves the other ranks. Launches on it take
  /// arrays of this rank only, and run on this rank's devices. With one rank, an array like others.
  HPL_RANK_LOCAL = 4
};

/// The accesses that the host plans to the data behind a pointer.
enum HostAccess : unsigned { HPL_RD = 1, HPL_WR = 2, HPL_RDWR = 3 };

}  // namespace hpl
