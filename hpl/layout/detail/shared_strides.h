// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "hpl/layout/argument.h"

namespace hpl::layout {

/// For codegen::EmitOptions::stridesOf: which array arguments always have the strides of an earlier
/// one, wherever their replicas lie. These are whole arrays of equal extents; views change their
/// strides when their replica grows.
std::vector<int> stridesShared(Arguments arguments);

}  // namespace hpl::layout
