// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "hpl/launch/detail/kernel_entry.h"
#include "hpl/launch/options.h"
#include "hpl/layout/argument.h"

namespace hpl::launch {

/// A launch with views that are no boxes (memory::View::map) as one with their boxes, of a kernel
/// that computes where in them the views' cells are. The layers below see boxes only.
class MappedLaunch {
 public:
  static bool isNeeded(Arguments arguments) noexcept {
    for (const Argument& argument : arguments)
      if (argument.mapped() != nullptr) return true;
    return false;
  }

  /// With `isChecked`, as under HPL_CHECK=bounds, kernels know the extents of the views.
  /// Throws ArgumentError where the arguments do not fit the kernel, and for native kernels and
  /// those of stencil templates; LaunchError for views of too many dimensions to be a domain.
  MappedLaunch(const EntryHandle& handle, const LaunchOptions& options, Arguments arguments,
               bool isChecked = false);

  const EntryHandle& handle() const noexcept { return handle_; }
  const LaunchOptions& options() const noexcept { return options_; }
  Arguments arguments() const noexcept { return list_; }

 private:
  EntryHandle handle_;
  LaunchOptions options_;
  std::vector<Argument>& list_;
};

}  // namespace hpl::launch
