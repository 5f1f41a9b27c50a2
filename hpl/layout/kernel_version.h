// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hpl/ir/access.h"
#include "hpl/ir/axes.h"
#include "hpl/ir/kernel.h"
#include "hpl/layout/guard.h"
#include "hpl/layout/native_kernel.h"
#include "hpl/layout/rewriter.h"

namespace hpl::layout {

class RewrittenKernels;

/// A kernel parameter as launches need to know it, whatever the kernel is written in.
struct Parameter {
  /// 0: a scalar.
  int rank = 0;
  ir::Type type;
  ir::Space space = ir::Space::Private;
  bool readOnly = false;
  /// The result of the access analysis; null for scalars, local arrays and native kernels.
  const ir::ArrayAccess* access = nullptr;
  NativeMode mode = NativeMode::InOut;
  /// OpenCL C gets a pointer to the elements, which are promised to be dense.
  bool isDense = false;
  /// It is given views that are no boxes: positions in them say nothing of those in the array.
  bool isMapped = false;

  bool isScalar() const { return rank == 0; }
  bool isLocal() const { return rank > 0 && space == ir::Space::Local; }
  bool isBuffer() const { return rank > 0 && space != ir::Space::Local; }
};

/// A kernel as captured for one kind of device, or a native one.
struct KernelVersion {
  std::string name;
  std::vector<Parameter> params;
  /// Null for native kernels.
  std::shared_ptr<const ir::Kernel> kernel;
  ir::AccessSummary access;
  /// Natural for native kernels.
  ir::AxisOrder axes;
  /// The kernels that strategies made of this one; null for native kernels.
  std::shared_ptr<RewrittenKernels> rewritten;
  /// Rewrites the kernel instead of the library's strategies; null for most kernels.
  const KernelRewriter* rewriter = nullptr;
  /// Guards that the kernel's makers want to see its launches.
  std::vector<std::shared_ptr<const LaunchGuard>> guards;
  /// Null for captured kernels.
  std::shared_ptr<const NativeKernel> native;
};

}  // namespace hpl::layout
