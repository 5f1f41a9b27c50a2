// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/memory/view.h"

/// Assignments that concern one device's own copy of cells that other devices have, too (paper,
/// Fig. 4; see contents.h): that copy is read or written, and no other.
namespace hpl::memory::detail {

/// Makes the assignment. False: it concerns no part, and is like any other.
bool copyPart(View& dst, View& src);

/// Sets the cells of a device's own copy. False: the fill concerns no part.
bool fillPart(View& dst, const void* element);

/// Whether an assignment that concerns a part moves cells over each other, and not within one
/// part's own copy: the target would be written while the source is still read.
bool overlapsBesideParts(View& dst, View& src);

}  // namespace hpl::memory::detail
