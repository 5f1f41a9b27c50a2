// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "hpl/geometry/region.h"

namespace hpl::coherence::detail {

/// Collects values into a hash. The result is a function of the values alone, the same in every
/// process.
class Hasher {
 public:
  Hasher& add(std::uint64_t value) noexcept {
    // The finaliser of SplitMix64.
    state_ += 0x9e3779b97f4a7c15u + value;
    state_ = (state_ ^ (state_ >> 30)) * 0xbf58476d1ce4e5b9u;
    state_ = (state_ ^ (state_ >> 27)) * 0x94d049bb133111ebu;
    state_ ^= state_ >> 31;
    return *this;
  }
  Hasher& add(const geometry::Box& box) noexcept { return add(box.hash()); }
  /// Regions that are cut into boxes alike have one hash.
  Hasher& add(const geometry::Region& region) noexcept {
    add(region.boxCount());
    for (const geometry::Box& box : region) add(box);
    return *this;
  }
  std::size_t value() const noexcept { return static_cast<std::size_t>(state_); }

 private:
  std::uint64_t state_ = 0;
};

}  // namespace hpl::coherence::detail
