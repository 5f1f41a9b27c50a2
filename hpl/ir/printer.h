// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "hpl/ir/kernel.h"

/// Readable text of the IR, for people and for tests: C-like, with the language's own names (idx,
/// lidx, szx, ...). It is not what is compiled; codegen writes OpenCL C.
///
/// Implicit conversions are written `(~float)x`, explicit ones `(float)x`; literals carry their
/// type in a suffix (1u, 2l, 3ul, 0.5f, 0.5h). Equal kernels print equally.
namespace hpl::ir {

struct PrintOptions {
  /// End lines with `// file:line` where a statement's place is known.
  bool lines = false;
  /// Nodes of one expression that are printed before the rest becomes `...`: shared subtrees may
  /// make an expression exponentially longer than it is in memory.
  int maxNodes = 100'000;
};

/// The functions, callees first, and the kernel.
std::string print(const Kernel& kernel, PrintOptions options = {});
std::string print(const Function& function, PrintOptions options = {});
std::string print(const Stmt& stmt, PrintOptions options = {});
/// For messages: cut after 100 nodes.
std::string print(const Expr& expr, PrintOptions options = {.lines = false, .maxNodes = 100});
/// "global float out[][]", "local int tile[18][18]", "global float* p".
std::string print(const Variable& variable);
/// "file:line", empty when unknown.
std::string toString(const SourceLocation& where);

}  // namespace hpl::ir
