// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "hpl/ir/access.h"
#include "hpl/ir/kernel.h"
#include "hpl/strategies/hidden.h"

/// Kernels whose maker knows more of them than their text says: what is captured is rewritten
/// before it is compiled, and launches believe what its maker says of its accesses.
namespace hpl::runtime {
class DeviceState;
}

namespace hpl::layout {

/// Lanes of the vectors in which a device computes with elements of that size: 2 to 16.
int nativeLanes(const runtime::DeviceState& device, std::size_t elementBytes);

/// Facts about a launch for a rewriter.
struct RewriteRequest {
  const ir::Kernel& kernel;
  const ir::AccessSummary& summary;
  /// The device computes with few units and wide vectors rather than with many work-items.
  bool isCpu = true;
  unsigned units = 1;
  /// Lanes of vectors of the kernel's widest elements.
  int lanes = 4;
  std::size_t localMemory = 0;
  /// Work-items that a group may have: the device's limit, or, when what was written before had too
  /// many for the compiled kernel, that kernel's.
  std::size_t maxGroupSize = 1;
  /// Built-in functions must round as they do on scalars.
  bool exact = false;
  /// Ids that the launch has along each axis.
  std::array<std::size_t, 3> size{1, 1, 1};
};

struct RewriteResult {
  /// Null: impossible, see `reason`; the launch fails.
  std::shared_ptr<const ir::Kernel> kernel;
  std::vector<strategies::Hidden> hidden;
  /// Work-groups, and work-items of each, along each axis.
  std::array<std::size_t, 3> groups{1, 1, 1};
  std::array<std::size_t, 3> local{1, 1, 1};
  /// Ids that a work-item computes along each axis, for strategies::Hidden::Kind::Block.
  std::array<std::size_t, 3> block{1, 1, 1};
  /// Lanes of the kernel's vectors; 1: none.
  int lanes = 1;
  /// A phrase for people.
  std::string reason;
};

class KernelRewriter {
 public:
  KernelRewriter() = default;
  virtual ~KernelRewriter() = default;
  KernelRewriter(const KernelRewriter&) = delete;
  KernelRewriter& operator=(const KernelRewriter&) = delete;

  /// Replaces what the analysis found in the captured kernel by what the rewritten one does.
  virtual void adjust(ir::AccessSummary& summary) const = 0;
  /// The kernel to launch. Axis 0 runs along the last dimension of arrays.
  virtual RewriteResult rewrite(const RewriteRequest& request) const = 0;
};

}  // namespace hpl::layout
