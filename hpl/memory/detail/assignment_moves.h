// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "hpl/error.h"
#include "hpl/memory/detail/assignment_memory.h"
#include "hpl/memory/detail/half_done.h"
#include "hpl/memory/detail/transfer.h"

/// What assignments to arrays and to parts of them have in common.
namespace hpl::memory::detail {

/// Whether the views have cells in common.
inline bool overlap(const View& a, const View& b) {
  return &a.root() == &b.root() && a.box().intersects(b.box());
}

/// Moves what is `left` of the source into the destination's copy; notes the transfers. False when
/// the lock was given up on the way.
bool moveInto(Lock& lock, Replica& target, const View& dst, const View& src, Region& left,
              KnownTransfers& attempt);

/// The attempts of one assignment. An operation that needs several is not seen whole by any of
/// them.
class Attempts {
 public:
  Attempts(View& dst, View& src) : dst_(dst), src_(src) {}

  KnownTransfers& next() {
    known_.begin({&dst_.root().state(), &src_.root().state()});
    if (count_++ > 0) known_.giveUp();
    return known_;
  }
  void learn() { assignmentsTo(dst_).learn(dst_, src_, std::move(known_)); }

 private:
  View& dst_;
  View& src_;
  KnownTransfers known_;
  int count_ = 0;
};

/// Whether an assignment that failed has written some of the destination.
inline bool isHalfDone(const Error& error, const Region& left, const View& src) {
  return dynamic_cast<const HalfDoneError*>(&error) != nullptr || !left.contains(src.box());
}

}  // namespace hpl::memory::detail
