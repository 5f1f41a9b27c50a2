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
  /// Of this rank alone: nothing that is done with the array is an operation of all ranks. Launches
  /// on it take arrays of this rank only, and run on this rank's devices. Without other ranks an
  /// array like others.
  HPL_RANK_LOCAL = 4
};

/// What the host will do with the data behind a pointer.
enum HostAccess : unsigned { HPL_RD = 1, HPL_WR = 2, HPL_RDWR = 3 };

}  // namespace hpl
