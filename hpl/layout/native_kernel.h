// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "hpl/ir/type.h"

/// Kernels written in OpenCL C, as they are laid out: not at all.
namespace hpl::layout {

/// How a native kernel uses an array parameter.
enum class NativeMode : unsigned char { In, Out, InOut, Scalar };

/// Facts about a native kernel's parameter.
struct NativeParam {
  NativeMode mode = NativeMode::Scalar;
  ir::Type type;
  int rank = 0;
  ir::Space space = ir::Space::Private;
};

struct NativeKernel {
  std::string name;
  std::string source;
  std::string options;
  std::vector<NativeParam> params;
};

}  // namespace hpl::layout
