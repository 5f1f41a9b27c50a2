// SPDX-License-Identifier: Apache-2.0
#include "stencil_reference.h"

#include <algorithm>

namespace stencil_tests {

Margins marginsOf(const std::vector<Tap>& taps) {
  Margins margins;
  for (const Tap& tap : taps) {
    for (std::size_t k = 0; k < 3; ++k) {
      margins.before[k] = std::max(margins.before[k], -tap.offset[k]);
      margins.after[k] = std::max(margins.after[k], tap.offset[k]);
    }
  }
  return margins;
}

bool isLeftOut(const Index3& cell, const Index3& extents, const Margins& margins,
               const Rules& rules) {
  for (std::size_t k = 0; k < 3; ++k) {
    if (rules[k][0].kind == Kind::Untouched && cell[k] < margins.before[k]) return true;
    if (rules[k][1].kind == Kind::Untouched && cell[k] + margins.after[k] >= extents[k])
      return true;
  }
  return false;
}

}  // namespace stencil_tests
