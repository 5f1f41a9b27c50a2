// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/spelling.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace hpl::runtime {

std::size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

std::string_view nearestWord(std::string_view word, std::span<const std::string_view> candidates) {
  const auto distance = [&](std::string_view candidate) { return editDistance(word, candidate); };
  const auto nearest = std::ranges::min_element(candidates, {}, distance);
  if (nearest == candidates.end()) return {};
  return distance(*nearest) <= std::max<std::size_t>(2, word.size() / 2) ? *nearest
                                                                         : std::string_view();
}

}  // namespace hpl::runtime
