// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hpl/ir/kernel.h"
#include "hpl/memory/view.h"

/// Kernels whose maker knows which launches they are right for.
namespace hpl::layout {

/// One device's share of a launch.
struct GuardedLaunch {
  const ir::Kernel& kernel;
  std::string device;
  /// By parameter of the kernel; null for scalars and arrays in local memory.
  std::vector<const memory::View*> views;
};

class LaunchGuard {
 public:
  LaunchGuard() = default;
  virtual ~LaunchGuard() = default;
  LaunchGuard(const LaunchGuard&) = delete;
  LaunchGuard& operator=(const LaunchGuard&) = delete;

  /// Throws where the kernel would compute something else than it is meant to. Called before the
  /// first launch with these views; nothing has been written yet.
  virtual void check(const GuardedLaunch& launch) const = 0;

  /// Number of the parameter of `kernel` that tells each device which ends of its part are ends of
  /// the array: nothing else that the kernel reads of it differs from part to part. -1: none.
  virtual int tableOfEnds(const ir::Kernel& /*kernel*/) const { return -1; }
  /// Whether `kernel` writes the elements at the ends of the array for certain that arrives as this
  /// parameter, where the analysis only sees that it may.
  virtual bool writesEnds(const ir::Kernel& /*kernel*/, int /*parameter*/) const { return false; }
};

}  // namespace hpl::layout
