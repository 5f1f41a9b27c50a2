// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "hpl/memory/root.h"

namespace hpl::launch {

/// A copy, on the device that holds the cells, of a view that is no box (memory::View::map): an
/// array for the library's own use with the view's extents.
std::shared_ptr<memory::Root> copyOfMapped(memory::View& view);

}  // namespace hpl::launch
