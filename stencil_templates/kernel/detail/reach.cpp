// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/kernel/detail/reach.h"

#include <algorithm>

namespace hpl::kernel_stencils {

Reach unionOf(const Reach& a, const Reach& b) {
  Reach result;
  for (int d = 0; d < 3; ++d) {
    result.before[d] = std::max(a.before[d], b.before[d]);
    result.after[d] = std::max(a.after[d], b.after[d]);
  }
  return result;
}

std::string toString(const Reach& reach, int rank) {
  std::string text = "<";
  for (int d = 0; d < rank; ++d)
    text += (d > 0 ? ", " : "") + std::to_string(reach.before[d]) + ", " +
            std::to_string(reach.after[d]);
  return text + ">";
}

}  // namespace hpl::kernel_stencils
