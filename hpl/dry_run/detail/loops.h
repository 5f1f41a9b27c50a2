// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace hpl::dry_run::detail {

/// Where a sequence repeats a few of its members over and over.
struct Repetition {
  std::size_t begin = 0;
  std::size_t period = 0;  ///< 0: nowhere
  std::size_t length = 0;  ///< at least twice the period
};

/// The loop that a program spends its time in: the repetition with the shortest period that is at
/// least a quarter as long as the longest of all. A program that runs its loop twice repeats that,
/// too, but the loop is what counts. Periods are at most 64.
Repetition mainRepetition(std::span<const int> sequence);

}  // namespace hpl::dry_run::detail
