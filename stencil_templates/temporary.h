// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "hpl/hpl.h"

namespace hpl {

/// Cells that the functions of a StencilProgram hand on within a step, and that nobody sees
/// afterwards. It has the shape of the program's grid, and memory only where the library launches
/// the functions one by one; in one kernel they are rows in a processor's cache.
///
///     Temporary<float, 2> smooth;
///     program.apply(blur)(picture, smooth);
///     program.apply(slope)(smooth, edges);
///
/// T is an element type of arrays, N (1 to 3) the number of dimensions. Copies are the same
/// temporary; one that several programs use is another one in each.
template <class T, int N>
class Temporary {
  static_assert(N >= 1 && N <= 3, "HPL: grids of stencil programs have 1 to 3 dimensions");

 public:
  /// The label names it in messages.
  explicit Temporary(std::string label = "")
      : label_(std::make_shared<const std::string>(std::move(label))) {}

  /// Tells temporaries apart.
  const std::shared_ptr<const std::string>& identity() const { return label_; }

 private:
  std::shared_ptr<const std::string> label_;
};

}  // namespace hpl
