// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/ir/kernel.h"

namespace hpl::ir {

/// Checks every rule that node.h and OpenCL C impose on a kernel: types and ranks of expressions,
/// scopes, what may be assigned, jumps and returns, calls, atomics and local memory.
///
/// Throws hpl::KernelError for the first violation; the message names the kernel, the function, the
/// file and line where known, the rule and how to satisfy it. Passes, analyses and generators may
/// rely on a verified kernel without checking again.
void verify(const Kernel& kernel);

}  // namespace hpl::ir
