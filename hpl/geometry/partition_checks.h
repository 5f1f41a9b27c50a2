// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/geometry/hierarchy.h"

namespace hpl::geometry {

/// Throws ArgumentError, which names what is wrong, for a problem that makes no sense: a domain
/// without cells, fields or periodic dimensions that do not fit it, negative halos, no node, a node
/// without devices, weights that are not positive and finite.
void checkProblem(const PartitionProblem& problem);

}  // namespace hpl::geometry
