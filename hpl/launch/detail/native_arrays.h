// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_set>

#include "hpl/ir/kernel.h"

namespace hpl::launch {

/// The array parameters whose first element the kernel hands to functions in OpenCL C, by itself or
/// through functions that it calls.
std::unordered_set<const ir::Variable*> arraysOfNativeFunctions(const ir::Kernel& kernel);

}  // namespace hpl::launch
