// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "hpl/geometry/hierarchy.h"

namespace hpl::geometry {

/// The nodes halved, repeatedly, and the domain in proportion to their weights, each time across
/// the dimension where the least is exchanged; then the devices of each node alike. Nothing when
/// some device would get too few cells.
std::optional<Hierarchy> halvedPartition(const PartitionProblem& problem);

}  // namespace hpl::geometry
