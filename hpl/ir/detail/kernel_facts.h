// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/ir/access.h"

namespace hpl::ir::detail {

/// Fills in everything of the summary that does not depend on the flow of control: the facts after
/// `arrays`. Every node is looked at once, however often it is shared.
void collectFacts(const Kernel& kernel, AccessSummary& summary);

}  // namespace hpl::ir::detail
