// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "stencil_templates/detail/stencil_argument.h"

namespace hpl::stencils {

/// Views that are no boxes, and the arrays with their cells that stencils work on instead.
class BoxCopies {
 public:
  static bool isNeeded(const StencilArgument& argument) noexcept;

  /// The array as an argument in the place of the view, whose cells fill() copies; a view that is
  /// given twice is one array. `isWritten`: bringBack() copies them back.
  StencilArgument replace(const StencilArgument& argument, bool isWritten);

  /// The program's view of an argument, which may be one that replaced it.
  const memory::View& copiedView(const StencilArgument& argument) const;

  void fill();
  void bringBack();

 private:
  struct Copy {
    const memory::View* view = nullptr;
    std::shared_ptr<BoxCopy> box;
    bool isWritten = false;
  };
  std::vector<Copy> copies_;
};

/// The arguments of a stencil, with copies instead of views that are no boxes.
class BoxedArguments final : public launch::Around {
 public:
  static bool areNeeded(const StencilArgument* arguments, std::size_t count) noexcept;

  /// Copies the cells of the views. After the stencil, those of the arguments from `begin` to
  /// before `end` are to be brought back.
  BoxedArguments(const StencilArgument* arguments, std::size_t count, std::size_t begin,
                 std::size_t end);

  const std::vector<StencilArgument>& all() const noexcept { return arguments_; }

  void before() override { copies_.fill(); }
  void after() override { copies_.bringBack(); }

 private:
  std::vector<StencilArgument> arguments_;
  BoxCopies copies_;
};

/// The view that the program named.
const memory::View& programsView(const StencilArgument& argument);

/// Whether some cells belong to both views. Views with a division in their places (a matrix as a
/// vector) are taken for the box around them.
bool shareCells(const memory::View& a, const memory::View& b);

}  // namespace hpl::stencils
