// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <source_location>

#include "hpl/lang/capture.h"
#include "stencil_templates/kernel/detail/reach.h"
#include "stencil_templates/kernel/form.h"

/// A call of a stencil template inside a kernel, without its C++ types.
namespace hpl::kernel_stencils {

using hpl::detail::Node;
using hpl::detail::Symbol;

/// An array that the point function reads around its place.
struct Input {
  Symbol array = nullptr;
  /// The array in local memory.
  Symbol tile = nullptr;
  Reach reach;
  Boundary boundary = Boundary::None;
  /// For Boundary::Fixed, of the array's type.
  Node fixed = nullptr;
};

/// The point function with everything that it needs besides its place.
struct Point {
  /// `aliases`: one per input. `strides`: of the neighbourhood, row stride first; one less than the
  /// rank. Writes one result per output, of the output's type.
  using Call = void (*)(const void* closure, const Symbol* aliases, const Symbol* strides,
                        Node* results);
  Call call = nullptr;
  const void* closure = nullptr;
};

struct Request {
  /// For messages: "StencilKernel2DF".
  const char* name = "";
  int rank = 0;
  const Input* inputs = nullptr;
  std::size_t inputCount = 0;
  const Symbol* outputs = nullptr;
  std::size_t outputCount = 0;
  Symbol helper = nullptr;
  StencilForm form = StencilForm::Automatic;
  Point point = {};
  /// The line of the user's kernel.
  std::source_location where = {};

  /// The reach of all inputs together.
  Reach reach() const;
  /// The reach of the inputs without boundary.
  Reach reachWithoutBoundary() const;
};

/// Records the statements of the stencil into the kernel under capture. Throws KernelError for
/// arrays that are input and output, for outputs that cannot be written, and for point functions
/// that provably read beyond the declared extents or write to their input. Launches of the tile
/// form throw LaunchError for parts that the helper was not prepared for.
void record(const Request& request);

/// The two forms of a kernel.
void recordDirect(const Request& request);
void recordTile(const Request& request);

}  // namespace hpl::kernel_stencils
