// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hpl/ir/access.h"

/// Arrays that hold several levels of a field, of which scalars choose one: `u[(t + 1) % 2][idy]`
/// is computed from `u[t % 2][idy - 1]`. Where devices share the domain, it matters that no level
/// is both read and written; with the scalar's value in its place the access analysis sees that.
namespace hpl::ir {

struct LevelScalar {
  /// The dimension of an array, both by position, in which the scalar chooses levels.
  struct Use {
    int array = -1;
    std::size_t dim = 0;
    friend bool operator==(const Use&, const Use&) = default;
  };
  /// Position among the parameters of the entry, which does not change it.
  int parameter = -1;
  /// Levels depend on the remainder by this number alone; 0: on the value.
  std::uint64_t period = 0;
  /// Below this value nothing is known of the levels: differences may be negative.
  std::uint64_t least = 0;
  std::vector<Use> uses = {};
  friend bool operator==(const LevelScalar&, const LevelScalar&) = default;
};

/// A scalar with a period is followed below this value.
inline constexpr std::uint64_t kEndOfPeriodic = std::uint64_t{1} << 24;

/// The scalars that choose levels of arrays which the kernel both reads and writes, in the order of
/// the parameters.
std::vector<LevelScalar> levelScalarsOf(const Kernel& kernel, const AccessSummary& summary);

/// For analyses: the kernel for launches in which the scalars, none of which is below its `least`,
/// have these values, or, where they have periods and are below kEndOfPeriodic, these remainders.
std::shared_ptr<const Kernel> withLevels(const Kernel& kernel, std::span<const LevelScalar> scalars,
                                         std::span<const std::uint64_t> values);

}  // namespace hpl::ir
