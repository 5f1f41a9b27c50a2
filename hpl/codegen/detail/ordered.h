// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "hpl/codegen/detail/writer.h"

/// Atomic loads, atomic stores and fences, which OpenCL C 1.2 does not have.
namespace hpl::codegen::detail {

inline bool isOrdered(ir::AtomicOp op) {
  return op == ir::AtomicOp::Load || op == ir::AtomicOp::Store;
}

/// Names of the helper functions that do it; each is written once per kernel, before it.
std::string orderedHelper(Session& session, const ir::Atomic& atomic);
std::string fenceHelper(Session& session, const ir::Fence& fence);

}  // namespace hpl::codegen::detail
