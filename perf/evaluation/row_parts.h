// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "hpl/hpl.h"

/// The bounds of the parts, for the styles that update ghosts by hand.
namespace evaluation {

// [style: subarrays, annotations]
/// How many of `rows` rows each device owns: the method of largest remainders, as PART1 splits.
inline std::vector<int> ownedRows(int rows, const hpl::ExecutionPlan& plan) {
  double largest = 0;
  for (const auto& share : plan.shares()) largest = std::max(largest, share.percentage);
  long double sum = 0;
  for (const auto& share : plan.shares()) sum += share.percentage / largest;
  std::vector<int> owned;
  std::vector<long double> lost;
  for (const auto& share : plan.shares()) {
    const long double exact = rows * (share.percentage / largest / sum);
    owned.push_back(static_cast<int>(exact));
    lost.push_back(exact - owned.back());
  }
  for (int left = rows - std::accumulate(owned.begin(), owned.end(), 0); left > 0; --left) {
    const auto most = std::max_element(lost.begin(), lost.end());
    ++owned[static_cast<std::size_t>(most - lost.begin())];
    *most = -1;
  }
  return owned;
}

/// The rows of each device's part: those that it owns and `ghosts` more on both sides. Throws
/// std::invalid_argument if several devices are to own less than 2 x ghosts rows: parts that are
/// not neighbours would overlap.
inline std::vector<hpl::Range> rowParts(int rows, const hpl::ExecutionPlan& plan, int ghosts) {
  const std::vector<int> owned = ownedRows(rows, plan);
  std::vector<hpl::Range> parts;
  int begin = 0;
  for (const int count : owned) {
    // [end]
    if (count < 2 * ghosts && owned.size() > 1) {
      throw std::invalid_argument("ghosts of width " + std::to_string(ghosts) +
                                  ": a device would own " + std::to_string(count) +
                                  " rows, and ghosts updated by hand need twice their width; use "
                                  "fewer devices, other weights or narrower ghosts");
    }
    // [style: subarrays, annotations]
    parts.emplace_back(std::max(begin - ghosts, 0), std::min(begin + count + ghosts, rows) - 1);
    begin += count;
  }
  return parts;
}
// [end]

}  // namespace evaluation
