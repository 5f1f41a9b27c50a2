// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "hpl/memory/detail/coherence.h"

namespace hpl::memory::detail {

/// Where the current value of each cell of a root is, and which ghosts may be believed: all that
/// launches on parts and exchanges of ghosts change while a program repeats its steps.
/// What they do to it depends on nothing else than this and the root's layout. Whoever did it once
/// may therefore set the state that came out then, when he finds the root as he found it then:
/// compared cell set by cell set, no matter what happened in between.
class Snapshot {
 public:
  /// Notes the present state; allocates nothing when it was used for a state like it before.
  void take(RootState& state);
  /// Whether the root is like this now.
  bool holds() const;
  /// Makes it so. To be called only while the layout is that of the snapshot.
  void restore() const;

  RootState& state() const { return *state_; }
  bool sameLayout(const Snapshot& other) const { return layout_ == other.layout_; }
  /// Whether both are the same state.
  friend bool operator==(const Snapshot& a, const Snapshot& b);

 private:
  struct Copy {
    Region current;
    Region kept;
    Region shelved;
    std::vector<Replica::Trust> trusts;
    int launchesSinceRefresh = 0;
  };

  RootState* state_ = nullptr;
  std::uint64_t layout_ = 0;
  Region current_;  // the host's
  Region kept_;
  bool partsEnded_ = false;
  bool isEnded_ = false;      // of the explicit parts
  std::vector<Copy> copies_;  // one per replica
};

}  // namespace hpl::memory::detail
