// SPDX-License-Identifier: Apache-2.0
#include "stencil_templates/table.h"

#include <fmt/format.h>

#include "hpl/error.h"

namespace hpl::stencils {

void throwOutsideTable(std::int64_t index, int size) {
  throw KernelError(
      fmt::format("a Table of {} value{} has none of number {}; they are counted from 0", size,
                  size == 1 ? "" : "s", index));
}

}  // namespace hpl::stencils
