// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "hpl/memory/detail/coherence.h"

namespace hpl::memory::detail {

/// The explicit parts that arrays will have when the launches of a transaction are done.
class FutureParts {
 public:
  explicit FutureParts(std::span<const DeviceLaunch> launches);

  /// Null: none.
  const Distribution* of(const RootState& state) const;
  /// Ghosts that a device keeps and that will be its own.
  Region promoted(RootState& state) const;
  /// Brings what devices keep and will own into their buffers. False: the lock was given up, look
  /// again.
  bool tryUnshelve(Lock& lock) const;
  /// The launches are done.
  void adopt();

 private:
  struct Entry {
    RootState* state;
    std::optional<ExplicitParts> changed;  // empty: the parts stay as they are
    std::vector<ExplicitParts::Promotion> promotions;
    std::vector<ExplicitParts::Part> written;
  };
  const Entry* find(const RootState& state) const;
  Entry& entryOf(RootState& state);

  std::vector<Entry> entries_;
};

}  // namespace hpl::memory::detail
