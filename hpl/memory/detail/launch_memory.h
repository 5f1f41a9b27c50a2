// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "hpl/memory/detail/device_access.h"
#include "hpl/memory/detail/snapshot.h"

namespace hpl::memory::detail {

/// What a launch did once, which it will do again when it finds its roots like that again.
struct KnownLaunch {
  std::vector<Snapshot> before;
  std::vector<Snapshot> after;
  std::vector<char> changes;  ///< of each root, whether it does
  std::vector<Replica*> used;
  std::vector<Placement> placements;
};

/// What repeated launches of one plan did to the books: in which state they found the roots, and in
/// which they left them. A launch that finds its roots in such a state again need not be prepared
/// and noted cell set by cell set; it only has to wait for what is in flight. Programs that swap
/// their arrays and exchange ghosts between launches come by the same few states. Guarded by the
/// coherence lock; to be used with the same launches always.
class LaunchMemory {
 public:
  /// To be called before a launch is prepared, when it is, and when all its effects have been
  /// noted. Launches that do more than change where values are, or for which cells had to be moved
  /// first, are not learnt.
  void observe(std::span<const DeviceLaunch> launches);
  void observePrepared(std::span<const DeviceLaunch> launches, std::span<Replica* const> used);
  void learn();

 private:
  friend class Transaction;

  const KnownLaunch* find() const;
  void reserveWaits(std::span<DeviceLaunch> launches);

  static constexpr std::size_t kMostKnown = 8;

  std::vector<std::unique_ptr<KnownLaunch>> known_;
  std::size_t next_ = 0;  // to be replaced
  std::unique_ptr<KnownLaunch> learning_;
  bool isLearning_ = false;
  const KnownLaunch* placed_ = nullptr;  // whose placements the launches have
  std::vector<Waits> waits_;             // by launch
};

}  // namespace hpl::memory::detail
