// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hpl::codegen::detail {

/// The names that a piece of OpenCL C gives to things of its own.
struct NativeNames {
  /// Functions that it defines, kernels among them.
  std::vector<std::string> functions;
  /// Macros that it leaves defined.
  std::vector<std::string> macros;
};

/// Found by the shape of the code: comments, strings and bodies are skipped.
NativeNames namesIn(std::string_view source);

}  // namespace hpl::codegen::detail
