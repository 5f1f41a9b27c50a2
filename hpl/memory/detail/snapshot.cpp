// SPDX-License-Identifier: Apache-2.0
#include "hpl/memory/detail/snapshot.h"

#include <algorithm>

namespace hpl::memory::detail {

namespace {

// The same boxes in the same order: what follows from them is then the same, too.
bool isSame(const Region& a, const Region& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

bool isSame(const std::vector<Replica::Trust>& a, const std::vector<Replica::Trust>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.part == y.part && isSame(x.cells, y.cells);
  });
}

// Of a Replica and of a Copy, which have the members in different places.
template <class A, class Cells, class B>
bool isSameCopy(const A& a, const Cells& cells, const B& b) {
  return a.launchesSinceRefresh == b.launchesSinceRefresh && isSame(cells.kept, b.kept) &&
         isSame(a.trusts, b.trusts) && isSame(cells.current, b.current) &&
         isSame(cells.shelved, b.shelved);
}

}  // namespace

void Snapshot::take(RootState& state) {
  state_ = &state;
  layout_ = state.layout;
  isEnded_ = state.explicitParts.isEnded();
  current_ = state.host.current;
  kept_ = state.host.kept;
  partsEnded_ = state.partsEnded;
  copies_.resize(state.replicas.size());
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    const Replica& replica = *state.replicas[i];
    copies_[i].current = replica.own.current;
    copies_[i].kept = replica.own.kept;
    copies_[i].shelved = replica.own.shelved;
    copies_[i].trusts = replica.trusts;
    copies_[i].launchesSinceRefresh = replica.launchesSinceRefresh;
  }
}

bool Snapshot::holds() const {
  const RootState& state = *state_;
  if (state.layout != layout_ || state.partsEnded != partsEnded_) return false;
  if (state.explicitParts.isEnded() != isEnded_) return false;
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    const Replica& replica = *state.replicas[i];
    if (!isSameCopy(replica, replica.own, copies_[i])) return false;
  }
  return isSame(state.host.current, current_) && isSame(state.host.kept, kept_);
}

void Snapshot::restore() const {
  RootState& state = *state_;
  state.explicitParts.setEnded(isEnded_);
  state.host.current = current_;
  state.host.kept = kept_;
  state.partsEnded = partsEnded_;
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    Replica& replica = *state.replicas[i];
    replica.own.current = copies_[i].current;
    replica.own.kept = copies_[i].kept;
    replica.own.shelved = copies_[i].shelved;
    replica.trusts = copies_[i].trusts;
    replica.launchesSinceRefresh = copies_[i].launchesSinceRefresh;
  }
}

bool operator==(const Snapshot& a, const Snapshot& b) {
  if (a.layout_ != b.layout_ || a.partsEnded_ != b.partsEnded_) return false;
  if (a.isEnded_ != b.isEnded_) return false;
  if (a.copies_.size() != b.copies_.size()) return false;
  for (std::size_t i = 0; i < a.copies_.size(); ++i) {
    const Snapshot::Copy& x = a.copies_[i];
    if (!isSameCopy(x, x, b.copies_[i])) return false;
  }
  return isSame(a.current_, b.current_) && isSame(a.kept_, b.kept_);
}

}  // namespace hpl::memory::detail
