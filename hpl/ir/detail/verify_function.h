// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_set>

#include "hpl/ir/kernel.h"

namespace hpl::ir::detail {

/// Checks one function of a kernel; `defined` are those that come before it in the kernel's list.
/// Throws hpl::KernelError.
void verifyFunction(const Kernel& kernel, const Function& function,
                    const std::unordered_set<const Function*>& defined);

}  // namespace hpl::ir::detail
