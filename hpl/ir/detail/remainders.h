// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "hpl/ir/kernel.h"

namespace hpl::ir::detail {

/// The kernel with a choice in the place of each remainder, by the size of the domain, of the
/// work-item's own id plus a number: that sum where it is an id, the remainder elsewhere. The same
/// kernel where there are none.
std::shared_ptr<const Kernel> chooseRemainders(std::shared_ptr<const Kernel> kernel);

}  // namespace hpl::ir::detail
