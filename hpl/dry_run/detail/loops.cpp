// SPDX-License-Identifier: Apache-2.0
#include "hpl/dry_run/detail/loops.h"

#include <algorithm>

namespace hpl::dry_run::detail {

namespace {

constexpr std::size_t kLongestPeriod = 64;

Repetition longestOf(std::span<const int> sequence, std::size_t period) {
  Repetition best;
  std::size_t run = 0;
  for (std::size_t i = period; i < sequence.size(); ++i) {
    run = sequence[i] == sequence[i - period] ? run + 1 : 0;
    if (run >= period && run + period > best.length)
      best = {i + 1 - run - period, period, run + period};
  }
  return best;
}

}  // namespace

Repetition mainRepetition(std::span<const int> sequence) {
  constexpr std::size_t kEnough = 4;
  std::size_t longest = 0;
  for (std::size_t period = 1; period <= kLongestPeriod; ++period)
    longest = std::max(longest, longestOf(sequence, period).length);
  for (std::size_t period = 1; longest > 0 && period <= kLongestPeriod; ++period) {
    const Repetition found = longestOf(sequence, period);
    if (found.length * kEnough >= longest) return found;
  }
  return {};
}

}  // namespace hpl::dry_run::detail
