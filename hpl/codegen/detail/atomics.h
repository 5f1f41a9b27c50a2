// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "hpl/ir/node.h"

namespace hpl::codegen::detail {

struct Session;

/// A function of the program that stands for an atomic one.
struct AtomicHelper {
  ir::AtomicOp op;
  ir::Type type;
  ir::Space space;

  std::string name() const;
};

/// The function that an atomic statement calls: one of OpenCL C, of an extension, or a helper,
/// which is noted in the session.
std::string atomicFunction(Session& session, const ir::Atomic& atomic);

/// The extensions that the functions need, as pragmas.
std::string atomicExtensions(const Session& session);
void writeAtomicHelpers(std::string& out, const Session& session);

}  // namespace hpl::codegen::detail
