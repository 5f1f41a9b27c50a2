// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "hpl/hpl.h"

namespace hpl {

/// Cells that the functions of a StencilProgram hand on within a step, and that are gone after it.
/// A temporary has the shape of the program's grid. It has memory only where the library launches
/// the functions one by one; in one kernel its cells are rows in a processor's cache.
///
///     Temporary<float, 2> smooth;
///     program.apply(blur)(picture, smooth);
///     program.apply(slope)(smooth, edges);
///
/// T is an element type of arrays, N (1 to 3) the number of dimensions. Copies are the same
/// temporary. In each program that uses it, it is a temporary of that program alone.
template <class T, int N>
class Temporary {
  static_assert(N >= 1 && N <= 3, "HPL: grids of stencil programs have 1 to 3 dimensions");

 public:
  /// The label names it in messages.
  explicit Temporary(std::string label = "")
      : label_(std::make_shared<const std::string>(std::move(label))) {}

  /// Identifies the temporary; copies have the same identity.
  const std::shared_ptr<const std::string>& identity() const { return label_; }

 private:
  std::shared_ptr<const std::string> label_;
};

}  // namespace hpl
