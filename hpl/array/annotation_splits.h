// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "hpl/array/annotation.h"
#include "hpl/geometry/splits.h"

namespace hpl::launch {

/// How an annotation cuts a box into `parts` parts: the parts form a grid over the annotated
/// dimensions, whose interfaces are as short as possible. `weights`: one per part, or none; they
/// hold where one dimension is split (blocks are even).
std::vector<geometry::DimSplit> splitsOf(const Annotation& annotation, const geometry::Box& whole,
                                         int parts, std::span<const double> weights = {});

}  // namespace hpl::launch
