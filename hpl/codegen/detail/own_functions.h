// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "hpl/codegen/detail/writer.h"

/// Functions of OpenCL C that drivers get wrong, written out as the specification has them: each is
/// a helper function of the kernel. NVIDIA's smoothstep of doubles divides as floats do, the second
/// result of its lgamma_r is 0 or 1 instead of 1 or -1, and its mad_sat of longs does not saturate
/// (driver 580, an H200).
namespace hpl::codegen::detail {

/// The function to call instead of the built-in one: smoothstep, mad_sat; else the built-in one's
/// own name.
std::string functionFor(Session& session, const ir::BuiltinExpr& builtin);
/// The same for one with an out-pointer: lgamma_r.
std::string functionFor(Session& session, const ir::BuiltinCall& call);

}  // namespace hpl::codegen::detail
