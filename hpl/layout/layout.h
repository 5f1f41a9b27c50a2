// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "hpl/codegen/emit.h"
#include "hpl/layout/request.h"
#include "hpl/layout/shape.h"
#include "hpl/layout/strategy.h"
#include "hpl/layout/variant.h"
#include "hpl/runtime/program.h"

/// Request in, laid-out kernel out: the domains are chosen, the kernel is rewritten for the device,
/// emitted and compiled. Nothing is launched, and no array is touched.
namespace hpl::layout {

/// A kernel that is ready for its arguments.
struct LaidOut {
  /// The launch as the kernel was written for it.
  Shape shape;
  /// The chosen form of the kernel, and the domains to launch it with.
  Layout layout;
  /// The kernel as OpenCL C. Its `slots` say what each argument stands for, for OpenCL C of the
  /// program's own, too.
  codegen::EmittedKernel emitted;
  /// Null: another process has the device, and compiles the kernel.
  std::shared_ptr<const runtime::Program> program;
  cl::Kernel kernel;
};

/// Lays the kernel out as `variant` says (null: as the library chooses), with smaller groups where
/// the device cannot hold those of the first choice. For the device of another process only the
/// shape is chosen. Throws ArgumentError for arguments that do not fit the kernel, LaunchError for
/// domains that cannot run, for accesses that certainly leave their arrays and for variants that do
/// not apply, BuildError when the device's compiler rejects the kernel as it was written.
LaidOut layOut(const LaunchRequest& request, const Variant* variant = nullptr);

}  // namespace hpl::layout
